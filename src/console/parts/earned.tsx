import { unitNoun } from '../../commission/engine/earning-words.ts'
import { countedRecords } from '../../commission/engine/reason-words.ts'
import type { UnearnedGroup } from '../../commission/engine/unearned.ts'
import type { customerLines } from '../../commission/why/earnings.ts'
import type { TermsOf } from '../../commission/why/found-record.ts'
import { nullIfNotFound } from '../api-errors.ts'
import { accountPath, type Visit } from '../page.ts'
import { Amount, count, Data, EmptyState, periodWords, Table } from './data.tsx'
import { column } from './fields.tsx'
import { AffiliateLink } from './names.tsx'
import { planName, readTerms, wordsOf } from './reasons.tsx'
import { Amounts } from './record-fields.tsx'
import type { WholeStatement } from './statement.tsx'

// The part of the page of a customer that shows what the customer earned.

type Line = Awaited<ReturnType<typeof customerLines>>[number]

/** The maximum number of statements whose lines the page reads. */
const MAX_STATEMENTS = 8

/** What a customer earned in a period. */
interface Earned {
  readonly lines: readonly Line[]
  /** The amounts of lines that are stored, by their ids. */
  readonly amounts: ReadonlyMap<string, string>
}

/** Computes and renders what a customer earned in a period, and what earned nothing. */
export async function earnedIn(
  visit: Visit,
  { path, customer_id, period }: { path: string; customer_id: string; period: string },
) {
  const { api } = visit
  const [lines, unearned] = await Promise.all([
    api.get<{ data: Line[] }>(`${path}/customers/${encodeURIComponent(customer_id)}/lines`, {
      period,
    }),
    api.get<{ data: UnearnedGroup[] }>(`${path}/unearned`, { period, customer_id }),
  ])
  const [amounts, termsOf] = await Promise.all([
    readAmounts(api, path, lines.data),
    readTerms(visit, [...unearned.data, ...lines.data]),
  ])
  return (
    <>
      <Lines visit={visit} earned={{ lines: lines.data, amounts }} termsOf={termsOf} />
      {unearned.data.length > 0 && (
        <Unearned visit={visit} rows={unearned.data} customer_id={customer_id} termsOf={termsOf} />
      )}
    </>
  )
}

/** Reads the amounts of lines from their statements. Those that no run has stored yet are left out. */
async function readAmounts(api: Visit['api'], path: string, lines: readonly Line[]) {
  const ids = [...new Set(lines.map(({ statement_id }) => statement_id))].slice(0, MAX_STATEMENTS)
  const statements = await Promise.all(
    ids.map((id) => api.get<WholeStatement>(`${path}/statements/${id}`).catch(nullIfNotFound)),
  )
  const stored = statements.flatMap((statement) => statement?.lines ?? [])
  return new Map(stored.map(({ id, amount }) => [id, amount]))
}

const Lines = (props: { visit: Visit; earned: Earned; termsOf: TermsOf }) => {
  const { visit, earned, termsOf } = props
  const { account } = visit
  return (
    <Table
      caption="Lines of statements that count records of the customer"
      rows={earned.lines}
      columns={[
        {
          title: 'Affiliate',
          cell: ({ affiliate_id: id }) => <AffiliateLink visit={visit} id={id} />,
        },
        {
          title: 'Statement',
          cell: (line) => (
            <a href={accountPath(account, 'statements', line.statement_id)}>
              <Data text={planName(termsOf(line), line.plan)} />, {periodWords(line.period)}
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
          cell: (line) => {
            const { base, units, currency } = line
            if (base !== null) return <Amount value={base} currency={currency} />
            if (units === null) return '–'
            const rule = termsOf(line)?.rules.find(({ id }) => id === line.rule)
            return <Amount value={units} currency={unitNoun(rule)} />
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
              <a href={accountPath(account, 'lines', line_id)}>
                <Amount value={amount} currency={currency} />
              </a>
            )
          },
        },
      ]}
      empty={<EmptyState title="No line of this period counts a record of the customer." />}
    />
  )
}

const Unearned = (props: {
  visit: Visit
  rows: readonly UnearnedGroup[]
  customer_id: string
  termsOf: TermsOf
}) => (
  <Table
    caption="Records that earned nothing"
    rows={props.rows}
    columns={[
      column('Why', (group: UnearnedGroup) => (
        <Data
          text={
            wordsOf(props.visit, { ...group, customer_id: props.customer_id }, props.termsOf)
              .sentence
          }
        />
      )),
      column('Records', (group: UnearnedGroup) => countedRecords(group.count, group)),
      column(
        'Sum',
        ({ sums, currency }: UnearnedGroup) => <Amounts amounts={sums} currency={currency} />,
        true,
      ),
    ]}
  />
)
