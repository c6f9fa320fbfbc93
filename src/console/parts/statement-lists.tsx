import type { Child } from 'hono/jsx'
import type { ReturnedPayment } from '../../commission/books/present.ts'
import type { StatementHead } from '../../commission/statements/draft.ts'
import type {
  LeadingStatement,
  presentDueSums,
  presentPeriods,
} from '../../commission/statements/present.ts'
import type { Visit } from '../page.ts'
import { count, Data, EmptyState, periodWords, Table } from './data.tsx'
import { AccountLink, column, fields } from './fields.tsx'

// The parts of pages that list statements.

/** A statement as lists of the administration API show it. */
export interface Statement extends StatementHead {
  readonly status: 'draft' | 'approved' | 'paid'
  readonly approved_at: string | null
  readonly paid: { readonly reference: string; readonly paid_on: string } | null
  readonly returned: ReturnedPayment | null
  readonly hash: string
  readonly computed_at: string
}

/** Sums of statements as `GET …/statements/totals` shows them. */
export interface StatementTotals {
  readonly data: readonly {
    readonly plan: string
    readonly status: Statement['status']
    readonly currency: string
    readonly statements: number
    readonly with_holds: number
    readonly total: string
    readonly payable: string
    /** Null unless all statements are of one period. */
    readonly closing: string | null
  }[]
  readonly is_limited: boolean
}

/** Renders statements, each with a link to it. */
export const Statements = (props: {
  visit: Visit
  caption: string
  rows: readonly Statement[]
  empty: Child
}) => (
  <Table
    {...props}
    columns={[
      column('Statement', ({ id, affiliate_id, period }: Statement) => (
        <AccountLink visit={props.visit} at={['statements', id]}>
          <Data text={affiliate_id} />, {periodWords(period)}
        </AccountLink>
      )),
      ...fields<Statement>(props.visit, 'plan', 'status'),
      column(
        'Holds',
        ({ holds }: Statement) => holds.reduce((sum, { count }) => sum + count, 0) || '–',
        true,
      ),
      ...fields<Statement>(props.visit, 'opening', 'total', 'payable', 'closing', 'currency'),
    ]}
  />
)

/** The statements of the latest periods, added up, as `GET …/periods` shows them. */
export interface PeriodSums {
  readonly data: ReturnType<typeof presentPeriods>
  readonly is_limited: boolean
  readonly due: ReturnType<typeof presentDueSums>
  readonly leading: readonly LeadingStatement[]
  readonly last_run_at: string | null
}

interface SumsProps<Row> {
  readonly visit: Visit
  readonly caption: string
  readonly rows: readonly Row[]
  /** The fields by which the statements are grouped. */
  readonly groupedBy: readonly (keyof Row & string)[]
  /** The other fields of each group. */
  readonly shown: readonly (keyof Row & string)[]
  /** The filters of the statements that are added up. */
  readonly period?: string | undefined
  readonly affiliate_id?: string | undefined
  readonly empty: Child
}

/** The maximum number of sums of periods that a page lists. */
const LISTED_SUMS = 12

/** What each row of sums has. */
interface Summed {
  readonly plan?: string
  readonly period?: string
  readonly status: string
  readonly statements: number
}

/** Renders sums of statements, each with a link to the statements that it sums. */
const SumTable = <Row extends Summed>(props: SumsProps<Row>) => (
  <Table
    {...props}
    columns={[
      ...fields<Row>(props.visit, ...props.groupedBy),
      column(
        'Statements',
        ({ plan, period = props.period, status, statements }: Row) => (
          <AccountLink
            visit={props.visit}
            at={['statements']}
            query={{ period, affiliate_id: props.affiliate_id, plan, status }}
          >
            {count(statements)}
          </AccountLink>
        ),
        true,
      ),
      ...fields<Row>(props.visit, ...props.shown),
    ]}
  />
)

/** Renders the sums of statements that a page lists. */
export const Totals = ({ visit, totals }: { visit: Visit; totals: StatementTotals }) => {
  const { affiliate_id = visit.params.affiliate, period } = visit.query
  return (
    <SumTable
      visit={visit}
      rows={totals.data}
      period={period}
      affiliate_id={affiliate_id}
      empty={<p hidden />}
      caption={totals.is_limited ? 'Totals of the first 100,000 statements' : 'Totals'}
      groupedBy={['plan', 'status']}
      shown={[
        'with_holds',
        'total',
        'payable',
        ...(period ? ['closing' as const] : []),
        'currency',
      ]}
    />
  )
}

/** Renders the sums of the statements of the latest periods. */
export const Periods = ({ visit, sums }: { visit: Visit; sums: PeriodSums }) => (
  <SumTable
    visit={visit}
    rows={sums.data.slice(0, LISTED_SUMS)}
    caption={`The latest periods${sums.is_limited ? ', up to 10,000 statements' : ''}`}
    groupedBy={['period', 'status']}
    shown={['total', 'currency', 'computed_at']}
    empty={
      <EmptyState title="There are no statements yet.">
        <p>
          A run computes them every morning, once affiliates have a{' '}
          <AccountLink visit={visit} at={['plans']} children="plan" />.
        </p>
      </EmptyState>
    }
  />
)
