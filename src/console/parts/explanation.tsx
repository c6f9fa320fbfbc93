import { type Explanation, explanationText } from '../../commission/engine/explain.ts'
import { escapeStrings } from '../../commission/why/escape-strings.ts'
import { type AdjustmentExplanation, adjustmentText } from '../../commission/why/explain.ts'
import type { Visit } from '../page.ts'
import { Data, isolated, Sentence, Table } from './data.tsx'
import { column, Facts, fields, Members } from './fields.tsx'
import { plainWords } from './plain-words.ts'

// The explanation of a line or an adjustment.

/** What `GET …/lines/{line_id}/explain` returns. */
export type Explained = Explanation | AdjustmentExplanation

/** Returns an explanation in sentences, without its title. */
function sentencesOf(explained: Explained): string[] {
  const escaped = escapeStrings(explained)
  const text = 'of' in escaped ? adjustmentText(escaped) : explanationText(escaped)
  return text.split('\n').slice(1).filter(Boolean)
}

/** Renders the figures of each step. */
const Steps = ({ explanation }: { explanation: Explanation }) => (
  <details>
    <summary>The figures of each step</summary>
    <Table
      caption="Steps, in the order in which they are applied"
      rows={explanation.steps}
      columns={[
        column('Step', ({ step }: Explanation['steps'][number]) => step.replaceAll('_', ' ')),
        column('Figures', (step: Explanation['steps'][number]) => (
          <Members object={step} except={/^step$/} />
        )),
      ]}
    />
  </details>
)

type Cause = AdjustmentExplanation['causes'][number] & { readonly delivery_id?: string | null }

/** Renders what changed after an approval, each with the delivery that changed it. */
const Causes = ({ visit, causes }: { visit: Visit; causes: readonly Cause[] }) => (
  <Table
    caption="What changed"
    rows={causes}
    columns={[
      column('Change', ({ kind }: Cause) => kind.replaceAll('_', ' ')),
      column('What', (cause: Cause) => (
        <Members object={cause} except={/^(?:kind|delivery_id)$/} />
      )),
      ...fields<Cause>(visit, 'delivery_id'),
    ]}
    empty={<p hidden />}
  />
)

/** What a page shows of the statement that has a line or an adjustment. */
interface Statement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
}

/** Renders what an explanation is about: a line, or an adjustment. */
export const Head = (props: {
  visit: Visit
  statement: Statement
  line: Pick<Explanation['line'], 'rule' | 'version' | 'scope'> | null
}) => (
  <Facts
    visit={props.visit}
    row={props.statement}
    names={['affiliate_id', 'plan', 'period', 'currency']}
    more={
      props.line
        ? [
            ['Rule', `${isolated(props.line.rule)}, version ${props.line.version}`],
            ['Scope', <Data text={props.line.scope} />],
          ]
        : []
    }
  />
)

/** Renders an explanation: its sentences, and the figures of each step or what changed. */
export const ExplanationView = (props: { visit: Visit; explained: Explained }) => (
  <>
    <ol class="sentences">
      {sentencesOf(props.explained).map((sentence) => (
        <li>
          <Sentence text={plainWords(sentence)} />
        </li>
      ))}
    </ol>
    {'of' in props.explained ? (
      <Causes visit={props.visit} causes={props.explained.causes} />
    ) : (
      <Steps explanation={props.explained} />
    )}
  </>
)
