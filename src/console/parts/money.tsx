import type { Child } from 'hono/jsx'
import type { StatementHead } from '../../commission/drafts/draft.ts'
import { accountPath, type Visit, withQuery } from '../page.ts'
import { Amount, Badge, Table } from './data.tsx'

// The parts of pages about money.

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

const TONES = { draft: 'warn', approved: 'quiet', paid: 'good' } as const

/** Renders the status of a statement. */
export const Status = ({ of }: { of: Statement['status'] }) => <Badge tone={TONES[of]}>{of}</Badge>

/** The parameters of addresses of statements. */
type Filter = Visit['query']

/** Returns the address of a page of the account of a visit. */
export const pathTo = ({ account }: Visit, parts: readonly string[], query: Filter = {}) =>
  withQuery(accountPath(account, ...parts), query)

/** Renders a link to a page of the account of a visit. */
export const To = (props: {
  visit: Visit
  at: readonly string[]
  query?: Filter
  children?: Child
}) => <a href={pathTo(props.visit, props.at, props.query)}>{props.children}</a>

/** Renders what is known of one thing, as pairs of a name and a value. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: Child])[] }) => (
  <dl class="facts">
    {rows.map(([name, value]) => (
      <div>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

/** Renders statements, each with a link to it. */
export const Statements = (props: {
  visit: Visit
  caption: string
  rows: readonly Statement[]
  empty: Child
}) => (
  <Table
    caption={props.caption}
    rows={props.rows}
    empty={props.empty}
    columns={[
      {
        title: 'Affiliate',
        of: ({ id, affiliate_id }) => (
          <To visit={props.visit} at={['statements', id]}>
            {affiliate_id}
          </To>
        ),
      },
      { title: 'Period', of: ({ period }) => period },
      { title: 'Plan', of: ({ plan }) => plan },
      { title: 'Status', of: ({ status }) => <Status of={status} /> },
      {
        title: 'Holds',
        isNumeric: true,
        of: ({ holds }) => holds.reduce((sum, { count }) => sum + count, 0) || '–',
      },
      { title: 'Opening', isNumeric: true, of: ({ opening }) => <Amount value={opening} /> },
      { title: 'Total', isNumeric: true, of: ({ total }) => <Amount value={total} /> },
      {
        title: 'Payable',
        isNumeric: true,
        of: ({ payable, currency }) => <Amount value={payable} currency={currency} />,
      },
      { title: 'Closing', isNumeric: true, of: ({ closing }) => <Amount value={closing} /> },
    ]}
  />
)

/** Renders sums of statements, each with a link to the statements that it sums. */
export const Totals = ({ visit, of }: { visit: Visit; of: StatementTotals }) => (
  <Table
    caption={of.is_limited ? 'Totals of the first 100,000 statements' : 'Totals'}
    rows={of.data}
    columns={[
      {
        title: 'Plan',
        of: ({ plan }) => <To visit={visit} at={['plans', plan]} children={plan} />,
      },
      { title: 'Status', of: ({ status }) => <Status of={status} /> },
      {
        title: 'Statements',
        isNumeric: true,
        of: ({ plan, status, statements }) => {
          const { affiliate_id = visit.params.affiliate, period } = visit.query
          const query = { period, affiliate_id, plan, status }
          return <To visit={visit} at={['statements']} query={query} children={statements} />
        },
      },
      { title: 'With holds', isNumeric: true, of: ({ with_holds }) => with_holds },
      { title: 'Total', isNumeric: true, of: ({ total }) => <Amount value={total} /> },
      {
        title: 'Payable',
        isNumeric: true,
        of: ({ payable, currency }) => <Amount value={payable} currency={currency} />,
      },
      { title: 'Closing', isNumeric: true, of: ({ closing }) => <Amount value={closing} /> },
    ]}
  />
)

/** Renders the amounts of records by field, with their currency. */
export const Sums = (props: { of: Readonly<Record<string, string>>; currency: string | null }) => (
  <>
    {Object.entries(props.of).map(([field, value]) => (
      <span class="figure">
        {field.replaceAll('_', ' ')} <Amount value={value} />
      </span>
    ))}
    {props.currency}
  </>
)
