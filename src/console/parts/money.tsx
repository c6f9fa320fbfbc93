import type { Child } from 'hono/jsx'
import type { StatementHead } from '../../commission/drafts/draft.ts'
import type { presentPeriods } from '../../commission/drafts/present.ts'
import type { Visit } from '../page.ts'
import { count, EmptyState, Table } from './data.tsx'
import { column, fields, To } from './fields.tsx'

// The parts of pages that list statements.

/** A statement as lists of the administration API show it. */
export interface Statement extends StatementHead {
  readonly status: 'draft' | 'approved' | 'paid'
  readonly approved_at: string | null
  readonly paid: { readonly reference: string; readonly paid_on: string } | null
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
    readonly closing: string
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
        <To visit={props.visit} at={['statements', id]}>
          <bdi>{affiliate_id}</bdi>, {period}
        </To>
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
  readonly last_run_at: string | null
}

interface SumsProps<Row> {
  readonly visit: Visit
  readonly caption: string
  readonly rows: readonly Row[]
  /** By what the statements are grouped, and what is known of each group. */
  readonly by: readonly (keyof Row & string)[]
  readonly of: readonly (keyof Row & string)[]
  /** The filters of the statements that are added up. */
  readonly period?: string | undefined
  readonly affiliate_id?: string | undefined
  readonly empty: Child
}

/** The sums of periods that a page lists. */
const LISTED_SUMS = 12

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
      ...fields<Row>(props.visit, ...props.by),
      column(
        'Statements',
        ({ plan, period = props.period, status, statements }: Row) => (
          <To
            visit={props.visit}
            at={['statements']}
            query={{ period, affiliate_id: props.affiliate_id, plan, status }}
          >
            {count(statements)}
          </To>
        ),
        true,
      ),
      ...fields<Row>(props.visit, ...props.of),
    ]}
  />
)

/** Renders the sums of statements that a page lists. */
export const Totals = ({ visit, of }: { visit: Visit; of: StatementTotals }) => {
  const { affiliate_id = visit.params.affiliate, period } = visit.query
  return (
    <SumTable
      {...{ visit, rows: of.data, period, affiliate_id, empty: <p hidden /> }}
      caption={of.is_limited ? 'Totals of the first 100,000 statements' : 'Totals'}
      by={['plan', 'status']}
      of={['with_holds', 'total', 'payable', 'closing', 'currency']}
    />
  )
}

/** Renders what the statements of the latest periods come to. */
export const Periods = ({ visit, of }: { visit: Visit; of: PeriodSums }) => (
  <SumTable
    {...{ visit, rows: of.data.slice(0, LISTED_SUMS) }}
    caption={`The latest periods${of.is_limited ? ', up to 10,000 statements' : ''}`}
    by={['period', 'status']}
    of={['total', 'currency', 'computed_at']}
    empty={
      <EmptyState title="There are no statements yet.">
        <p>
          A run computes them every morning, once affiliates have a{' '}
          <To visit={visit} at={['plans']} children="plan" />.
        </p>
      </EmptyState>
    }
  />
)
