import type { Child } from 'hono/jsx'
import { explanationText } from '../../commission/engine/explain-text.ts'
import type { Explanation } from '../../commission/engine/explanation.ts'
import { type AdjustmentExplanation, adjustmentText } from '../../commission/why/adjustment-text.ts'
import { escapeStrings } from '../../commission/why/escape-strings.ts'
import type { Visit } from '../page.ts'
import { Table } from './data.tsx'
import { Facts, To } from './money.tsx'

// The explanation of a line or an adjustment.

/** What `GET …/lines/{line_id}/explain` returns. */
export type Explained = Explanation | AdjustmentExplanation

/** Renders the members of an object that are not null, less some. */
export const Members = ({ of, less }: { of: object; less: RegExp }) => (
  <>
    {Object.entries(of).map(
      ([name, value]): Child =>
        less.test(name) || value === null ? null : (
          <span class="figure">
            {name.replaceAll('_', ' ')}{' '}
            <code>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</code>
          </span>
        ),
    )}
  </>
)

/** Returns an explanation in sentences, without its title. */
export function sentencesOf(explained: Explained): string[] {
  const escaped = escapeStrings(explained)
  const text = 'of' in escaped ? adjustmentText(escaped) : explanationText(escaped)
  return text.split('\n').slice(1).filter(Boolean)
}

/** Renders the figures of each step. */
export const Steps = ({ of }: { of: Explanation }) => (
  <details>
    <summary>The figures of each step</summary>
    <Table
      caption="Steps, in the order in which they are applied"
      rows={of.steps}
      columns={[
        { title: 'Step', of: ({ step }) => step.replaceAll('_', ' ') },
        { title: 'Figures', of: (step) => <Members of={step} less={/^step$/} /> },
      ]}
    />
  </details>
)

type Cause = AdjustmentExplanation['causes'][number]

/** Renders what changed after an approval, each with the delivery that changed it. */
export const Causes = ({ visit, causes }: { visit: Visit; causes: readonly Cause[] }) => (
  <Table
    caption="What changed"
    rows={causes}
    columns={[
      { title: 'Change', of: ({ kind }) => kind.replaceAll('_', ' ') },
      {
        title: 'What',
        of: (cause) => <Members of={cause} less={/^(kind|delivery_id)$/} />,
      },
      {
        title: 'Delivery',
        of: (cause) =>
          'delivery_id' in cause &&
          cause.delivery_id && (
            <To visit={visit} at={['deliveries', cause.delivery_id]} children={cause.delivery_id} />
          ),
      },
    ]}
    empty={<></>}
  />
)

/** Renders what an explanation is about. */
export const Head = ({ visit, of }: { visit: Visit; of: Explained }) => {
  const { affiliate_id, plan, period } = of
  const line = 'of' in of ? null : of.line
  return (
    <Facts
      rows={[
        [
          'Affiliate',
          <To visit={visit} at={['affiliates', affiliate_id]} children={affiliate_id} />,
        ],
        [
          'Period',
          <To
            visit={visit}
            at={['statements']}
            query={{ affiliate_id, plan, period }}
            children={period}
          />,
        ],
        ['Plan', <To visit={visit} at={['plans', plan]} children={plan} />],
        ['Rule', line ? `${line.rule}, version ${line.version}` : 'Adjustment'],
        ['Scope', line?.scope ?? '–'],
      ]}
    />
  )
}
