import type { Child } from 'hono/jsx'
import type { Adjustment, StatementLine } from '../../commission/statements/draft.ts'
import type { Visit } from '../page.ts'
import { Amount, Data, isolated, periodWords, Table, titleOf } from './data.tsx'
import { AccountLink, column, fields } from './fields.tsx'
import type { Statement } from './statement-lists.tsx'

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
  readonly statement: WholeStatement
}

const SUMS = [
  ['opening', 'Closing balance of the last period, plus amounts from other plans'],
  ['lines_sum', 'What the rules of the plan pay', 'lines'],
  ['adjustments_sum', 'Corrections of closed periods', 'adjustments'],
  ['manual_sum', 'Entries of the team', 'manual'],
  ['total', 'Lines, adjustments and manual entries'],
  ['dropped', 'A negative balance that the plan writes off'],
  ['payable', 'Opening + total, if at least the minimum payout; a plan that was left may pay less'],
  ['closing', 'Carried to the next period'],
] as const

/** A row of the balance; `part` is the part of the page that lists what the amount sums. */
type Sum = readonly [name: string, amount: string, text: string, part?: string | undefined]

/** Returns the sums of a statement, with the amounts that came from other plans or went to one. */
const sumsOf = (statement: WholeStatement): Sum[] => {
  const { received, transferred: moved } = statement
  return [
    ...received.map(
      ({ amount, from, period }): Sum => [
        'received',
        amount,
        `From ${isolated(from)}, ${periodWords(period)}`,
      ],
    ),
    ...SUMS.map(([name, text, part]): Sum => [name, statement[name], text, part]),
    ...(moved
      ? [
          [
            'transferred',
            moved.amount,
            `To ${isolated(moved.to)}, ${periodWords(moved.period)}`,
          ] as const,
        ]
      : []),
  ]
}

/** Renders how the payable amount is computed. */
export const Balance = ({ visit, statement }: ShownStatement) => (
  <Table
    caption={`How ${statement.payable} ${statement.currency} is calculated`}
    rows={sumsOf(statement)}
    columns={[
      column('Sum', ([name]: Sum) => titleOf(name.replace('_sum', ''))),
      column(
        'Amount',
        ([name, value, , part]: Sum) => {
          const amount = <Amount value={value} currency={statement.currency} />
          if (part) return <a href={`#${part}`}>{amount}</a>
          if (!/^(?:opening|closing)$/.test(name)) return amount
          const { affiliate_id, plan } = statement
          const query = { affiliate_id, plan }
          return <AccountLink visit={visit} at={['statements']} query={query} children={amount} />
        },
        true,
      ),
      column('What it is', ([, , text]: Sum) => text),
    ]}
  />
)

const none = (text: string): Child => <p class="note">{text}</p>

/** Returns a column of amounts, each with a link to its explanation. */
const explained = (visit: Visit, currency: string) =>
  column(
    'Amount',
    ({ id, amount }: { readonly id: string; readonly amount: string }) => (
      <AccountLink
        visit={visit}
        at={['lines', id]}
        children={<Amount value={amount} currency={currency} />}
      />
    ),
    true,
  )

/** Renders the lines, each with a link to its explanation. */
export const Lines = ({ visit, statement: { lines, lines_total, currency } }: ShownStatement) => (
  <Table
    caption={`Lines: ${lines.length} of ${lines_total}. Select an amount to see why.`}
    rows={lines}
    columns={[
      ...fields<StatementLine>(visit, 'rule', 'kind', 'version', 'scope', 'base', 'units', 'rate'),
      ...fields<StatementLine>(visit, 'capped', 'carried_in', 'recouped', 'carried_out'),
      explained(visit, currency),
    ]}
    empty={none('No lines.')}
  />
)

/** Renders the adjustments, each with a link to its explanation. */
export const Adjustments = ({ visit, statement: { adjustments, currency } }: ShownStatement) => (
  <Table
    caption="Adjustments. Select an amount to see why."
    rows={adjustments}
    columns={[
      column('Rule', ({ rule }: Adjustment) =>
        rule === null ? 'cover of a write-off' : <Data text={rule} />,
      ),
      column('Corrects', ({ of: { line, period } }: Adjustment) =>
        line ? (
          <AccountLink visit={visit} at={['lines', line]} children={periodWords(period)} />
        ) : (
          periodWords(period)
        ),
      ),
      column('Causes', ({ causes_total }: Adjustment) => causes_total, true),
      explained(visit, currency),
    ]}
    empty={none('No adjustments.')}
  />
)

/** Renders the manual entries. */
export const Manual = ({ visit, statement: { manual } }: ShownStatement) => (
  <Table
    caption="Manual entries"
    rows={manual}
    columns={fields<WholeStatement['manual'][number]>(visit, 'reason', 'reference', 'at', 'amount')}
    empty={none('No manual entries.')}
  />
)

/** Renders what waits for a rate or a currency. */
export const Holds = ({ visit, statement: { holds, affiliate_id, period } }: ShownStatement) => {
  type Hold = WholeStatement['holds'][number]
  return (
    <Table
      caption="Holds: records that wait for a rate or a currency"
      rows={holds}
      columns={[
        ...fields<Hold>(visit, 'rule', 'reason', 'currency', 'sum'),
        column(
          'Records',
          ({ reason, count }: Hold) => {
            const query = { period, affiliate_id, reason, list: 'records' }
            return <AccountLink visit={visit} at={['unearned']} query={query} children={count} />
          },
          true,
        ),
      ]}
      empty={<p hidden />}
    />
  )
}
