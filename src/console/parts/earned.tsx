import { nullIfNotFound } from '../api-errors.ts'
import { accountPath, type Visit, withQuery } from '../page.ts'
import { AffiliateLink } from './customers.tsx'
import { Amount, count, Data, EmptyState, periodWords, Table } from './data.tsx'
import { DeferredPart } from './deferred.tsx'
import { Filters } from './forms.tsx'

// The part of the page of a customer that shows what the customer earned.

/** A line that counts records of a customer. */
interface Line {
  readonly statement_id: string
  readonly line_id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly rule: string
  readonly scope: string
  readonly period: string
  readonly currency: string
  readonly records: number
  readonly base: string | null
  readonly units: string | null
}

/** The lines of a statement, as far as the page reads them. */
interface StatementLines {
  readonly lines: readonly { readonly id: string; readonly amount: string }[]
}

/** The maximum number of statements whose lines the page reads. */
const MAX_STATEMENTS = 8

/** Records that earned nothing for the same reason. */
interface UnearnedGroup {
  readonly reason: string
  readonly resource: string
  readonly rule: string | null
  readonly count: number
}

/** What a customer earned in a period. */
interface Earned {
  readonly lines: readonly Line[]
  /** The amounts of lines that are stored, by their ids. */
  readonly amounts: ReadonlyMap<string, string>
}

/** Computes and renders what a customer earned in a period, and what earned nothing. */
export async function earnedIn(
  { api, account }: Visit,
  { path, customer_id, period }: { path: string; customer_id: string; period: string },
) {
  const [lines, unearned] = await Promise.all([
    api.get<{ data: Line[] }>(`${path}/customers/${encodeURIComponent(customer_id)}/lines`, {
      period,
    }),
    api.get<{ data: UnearnedGroup[] }>(`${path}/unearned`, { period, customer_id }),
  ])
  const amounts = await readAmounts(api, path, lines.data)
  return (
    <>
      <Lines account={account} earned={{ lines: lines.data, amounts }} />
      {unearned.data.length > 0 && <Unearned rows={unearned.data} />}
    </>
  )
}

/** Reads the amounts of lines from their statements. Those that no run has stored yet are left out. */
async function readAmounts(api: Visit['api'], path: string, lines: readonly Line[]) {
  const ids = [...new Set(lines.map(({ statement_id }) => statement_id))].slice(0, MAX_STATEMENTS)
  const statements = await Promise.all(
    ids.map((id) => api.get<StatementLines>(`${path}/statements/${id}`).catch(nullIfNotFound)),
  )
  const stored = statements.flatMap((statement) => statement?.lines ?? [])
  return new Map(stored.map(({ id, amount }) => [id, amount]))
}

const Lines = ({ account, earned }: { account: string; earned: Earned }) => (
  <Table
    caption="Lines of statements that count records of the customer"
    rows={earned.lines}
    columns={[
      {
        title: 'Affiliate',
        cell: ({ affiliate_id: id }) => <AffiliateLink account={account} id={id} />,
      },
      {
        title: 'Statement',
        cell: ({ statement_id, plan, period }) => (
          <a href={accountPath(account, 'statements', statement_id)}>
            <Data text={plan} />, {periodWords(period)}
          </a>
        ),
      },
      {
        title: 'Rule',
        cell: ({ rule, scope }) => (
          <>
            <Data text={rule} />{' '}
            {scope.startsWith('customer:') && <small>this customer only</small>}
          </>
        ),
      },
      { title: 'Records', isNumeric: true, cell: ({ records }) => count(records) },
      {
        title: 'This customer’s part',
        isNumeric: true,
        cell: ({ base, units, currency }) => {
          if (base !== null) return <Amount value={base} currency={currency} />
          return units === null ? '–' : <Amount value={units} currency="units" />
        },
      },
      {
        title: 'Amount of the line',
        isNumeric: true,
        cell: ({ line_id, currency }) => {
          const amount = earned.amounts.get(line_id)
          return amount === undefined ? (
            'see the statement'
          ) : (
            <Amount value={amount} currency={currency} />
          )
        },
      },
    ]}
    empty={<EmptyState title="No line of this period counts a record of the customer." />}
  />
)

const Unearned = ({ rows }: { rows: readonly UnearnedGroup[] }) => (
  <Table
    caption="Records that earned nothing"
    rows={rows}
    columns={[
      { title: 'Reason', cell: ({ reason }) => reason.replaceAll('_', ' ') },
      { title: 'Resource', cell: ({ resource }) => resource },
      { title: 'Rule', cell: ({ rule }) => (rule === null ? '–' : <Data text={rule} />) },
      { title: 'Records', isNumeric: true, cell: (group) => count(group.count) },
    ]}
  />
)

const month = (time: number) => new Date(time).toISOString().slice(0, 7)

/** Returns the months that a member usually asks for: this one, the last one and that of the signup. */
function usualMonths(now: number, signup: string): string[] {
  const last = new Date(now)
  last.setUTCDate(0)
  return [...new Set([month(now), month(last.getTime()), signup.slice(0, 7)])]
}

/** Renders what a customer earned in a period that the member chooses. */
export const EarnedPart = ({ visit, signup }: { visit: Visit; signup: string }) => (
  <section id="earned">
    <h2>Commission from this customer</h2>
    <nav class="quick" aria-label="Months">
      {usualMonths(visit.now, signup).map((period) => (
        <a
          href={`${withQuery(visit.path, { period })}#earned`}
          aria-current={visit.query.period === period ? 'page' : undefined}
        >
          {periodWords(period)}
        </a>
      ))}
    </nav>
    <Filters visit={visit} fields={[{ name: 'period', label: 'Month or week, like 2026-W41' }]} />
    {visit.query.period && <DeferredPart />}
  </section>
)
