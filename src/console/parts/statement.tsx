import type { Child } from 'hono/jsx'
import type { Adjustment, StatementLine } from '../../commission/drafts/draft.ts'
import type { Visit } from '../page.ts'
import { Amount, Table, Time } from './data.tsx'
import { type Statement, To } from './money.tsx'

// The tables of a statement.

/** A statement with one part of its lines and adjustments. */
export interface WholeStatement extends Statement {
  readonly lines: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
  readonly part: number
  readonly parts: number
}

/** A statement on a page. */
export interface ShownStatement {
  readonly visit: Visit
  readonly one: WholeStatement
}

const SUMS = [
  ['Opening', 'opening', 'The closing of the period before, with transfers'],
  ['Lines', 'lines_sum', 'What the rules of the plan pay'],
  ['Adjustments', 'adjustments_sum', 'Corrections of closed periods'],
  ['Manual', 'manual_sum', 'Entries of the team'],
  ['Total', 'total', 'Lines, adjustments and manual entries'],
  ['Dropped', 'dropped', 'A negative balance that the plan drops'],
  ['Payable', 'payable', 'Opening and total, from the minimum payout on'],
  ['Closing', 'closing', 'Goes on to the next period'],
] as const

/** Where the parts of a sum are listed. */
const ANCHORS: Readonly<Record<string, string>> = {
  lines_sum: '#lines',
  adjustments_sum: '#adjustments',
  manual_sum: '#manual',
}

/** Renders how the payable amount comes about. */
export function Balance({ visit, one }: ShownStatement) {
  const { affiliate_id, plan, currency } = one
  const all = <To visit={visit} at={['statements']} query={{ affiliate_id, plan }} children="All" />
  const rows = SUMS.filter(([, name]) => name !== 'dropped' || /[1-9]/.test(one.dropped))
  return (
    <Table
      caption={`How ${one.payable} ${currency} comes about`}
      rows={rows}
      columns={[
        { title: 'Sum', of: ([title]) => title },
        {
          title: 'Amount',
          isNumeric: true,
          of: ([, name]) => {
            const amount = <Amount value={one[name]} currency={currency} />
            return ANCHORS[name] ? <a href={ANCHORS[name]}>{amount}</a> : amount
          },
        },
        {
          title: 'What it is',
          of: ([, name, text]) => (
            <>
              {text}. {/opening|closing/.test(name) && all}
            </>
          ),
        },
      ]}
    />
  )
}

/** Renders the amount of a line as the link to its explanation. */
const Why = ({ visit, id, children }: { visit: Visit; id: string; children?: Child }) => (
  <To visit={visit} at={['lines', id]} children={children} />
)

/** Renders the lines, each with a link to its explanation. */
export const Lines = ({ visit, one: { lines, lines_total, plan, currency } }: ShownStatement) => (
  <Table
    caption={`Lines: ${lines.length} of ${lines_total}. An amount leads to its explanation.`}
    rows={lines}
    columns={[
      { title: 'Rule', of: ({ rule }) => rule },
      { title: 'Kind', of: ({ kind }) => kind },
      {
        title: 'Version',
        isNumeric: true,
        of: ({ version }) => <To visit={visit} at={['plans', plan]} children={version} />,
      },
      { title: 'Scope', of: ({ scope }) => scope },
      { title: 'Base', isNumeric: true, of: ({ base }) => base && <Amount value={base} /> },
      { title: 'Units', isNumeric: true, of: ({ units }) => units && <Amount value={units} /> },
      { title: 'Rate', isNumeric: true, of: ({ rate, step }) => rate ?? (step ? 'slices' : '') },
      { title: 'Capped', isNumeric: true, of: ({ capped }) => <Amount value={capped} /> },
      { title: 'Carried on', isNumeric: true, of: (line) => <Amount value={line.carried_out} /> },
      {
        title: 'Amount',
        isNumeric: true,
        of: ({ id, amount }) => (
          <Why visit={visit} id={id} children={<Amount value={amount} currency={currency} />} />
        ),
      },
    ]}
    empty={<p class="note">No rule pays anything here.</p>}
  />
)

/** Renders the adjustments, each with a link to its explanation. */
export const Adjustments = ({ visit, one: { adjustments, currency } }: ShownStatement) => (
  <Table
    caption="Adjustments. An amount leads to what changed."
    rows={adjustments}
    columns={[
      { title: 'Rule', of: ({ rule }) => rule ?? 'what a statement dropped' },
      {
        title: 'Corrects',
        of: ({ of }) =>
          of.line ? <Why visit={visit} id={of.line} children={of.period} /> : of.period,
      },
      { title: 'Causes', isNumeric: true, of: ({ causes_total }) => causes_total },
      {
        title: 'Amount',
        isNumeric: true,
        of: ({ id, amount }) => (
          <Why visit={visit} id={id} children={<Amount value={amount} currency={currency} />} />
        ),
      },
    ]}
    empty={<p class="note">No closed period is corrected here.</p>}
  />
)

/** Renders the manual entries. */
export const Manual = ({ one: { manual, currency } }: ShownStatement) => (
  <Table
    caption="Manual entries"
    rows={manual}
    columns={[
      { title: 'Reason', of: ({ reason }) => reason },
      { title: 'Reference', of: ({ reference }) => reference },
      { title: 'At', of: ({ at }) => <Time at={at} /> },
      {
        title: 'Amount',
        isNumeric: true,
        of: ({ amount }) => <Amount value={amount} currency={currency} />,
      },
    ]}
    empty={<p class="note">The team has entered nothing here.</p>}
  />
)

/** Renders what waits for a rate or a currency. */
export const Holds = ({ visit, one: { holds, affiliate_id, period } }: ShownStatement) => (
  <Table
    caption="Holds: records that wait for a rate or a currency"
    rows={holds}
    columns={[
      { title: 'Rule', of: ({ rule }) => rule },
      { title: 'Currency', of: ({ currency }) => currency ?? '–' },
      {
        title: 'Records',
        isNumeric: true,
        of: ({ reason, count }) => {
          const query = { period, affiliate_id, reason, list: 'records' }
          return <To visit={visit} at={['unearned']} query={query} children={count} />
        },
      },
      { title: 'Sum', isNumeric: true, of: ({ sum }) => <Amount value={sum} /> },
      { title: 'Reason', of: ({ reason }) => reason },
    ]}
    empty={<></>}
  />
)
