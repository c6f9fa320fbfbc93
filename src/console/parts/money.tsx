import type { Child } from 'hono/jsx'
import type { StatementHead } from '../../commission/drafts/draft.ts'
import type { Visit } from '../page.ts'
import { Table } from './data.tsx'
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
          {affiliate_id}, {period}
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

/** Renders sums of statements, each with a link to the statements that it sums. */
export const Totals = ({ visit, of }: { visit: Visit; of: StatementTotals }) => {
  const { affiliate_id = visit.params.affiliate, period } = visit.query
  type Row = StatementTotals['data'][number]
  return (
    <Table
      caption={of.is_limited ? 'Totals of the first 100,000 statements' : 'Totals'}
      rows={of.data}
      columns={[
        ...fields<Row>(visit, 'plan', 'status'),
        column(
          'Statements',
          ({ plan, status, statements }: Row) => (
            <To visit={visit} at={['statements']} query={{ period, affiliate_id, plan, status }}>
              {statements}
            </To>
          ),
          true,
        ),
        ...fields<Row>(visit, 'with_holds', 'total', 'payable', 'closing', 'currency'),
      ]}
      empty={<p hidden />}
    />
  )
}
