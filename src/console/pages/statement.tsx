import type { Child } from 'hono/jsx'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Amount, Time } from '../parts/data.tsx'
import { ChangeForm, Field, HOLDS } from '../parts/forms.tsx'
import { Facts, Status, To } from '../parts/money.tsx'
import {
  Adjustments,
  Balance,
  Holds,
  Lines,
  Manual,
  type ShownStatement,
  type WholeStatement,
} from '../parts/statement.tsx'

const Approve = ({ visit, one }: ShownStatement) => (
  <ChangeForm visit={visit} change="approve" submit="Approve this draft" needs="approver">
    <h2>Approve</h2>
    <p>
      An approved statement never changes. You approve exactly what is shown here:{' '}
      <code>{one.hash}</code>
    </p>
    <input type="hidden" name="hash" value={one.hash} />
    {one.holds.length > 0 && <Field visit={visit} change="approve" {...HOLDS} />}
  </ChangeForm>
)

const Pay = ({ visit, one }: ShownStatement) => (
  <ChangeForm visit={visit} change="pay" submit="Store the payment" needs="approver">
    <h2>
      Pay <Amount value={one.payable} currency={one.currency} />
    </h2>
    <Field visit={visit} change="pay" name="reference" label="Reference of the payment" required />
    <Field visit={visit} change="pay" name="paid_on" label="Paid on" type="date" required />
  </ChangeForm>
)

const Enter = ({ visit, one }: ShownStatement) => (
  <details>
    <summary>Add a manual entry</summary>
    <ChangeForm visit={visit} change="enter" submit="Add the entry">
      <p>
        It stands in the earliest period of {one.plan} that is not closed for {one.affiliate_id}.
      </p>
      <input type="hidden" name="affiliate_id" value={one.affiliate_id} />
      <input type="hidden" name="plan" value={one.plan} />
      <Field
        visit={visit}
        change="enter"
        name="amount"
        label={`Amount in ${one.currency}`}
        required
      />
      <Field visit={visit} change="enter" name="reason" label="Reason" required />
      <Field
        visit={visit}
        change="enter"
        name="reference"
        label="Reference"
        hint="The same one is stored once."
        required
      />
    </ChangeForm>
  </details>
)

const isDue = ({ status, payable }: WholeStatement) =>
  status === 'approved' && /[1-9]/.test(payable)

function Head({ visit, one }: ShownStatement) {
  const { affiliate_id, plan, period, paid } = one
  const paths: readonly [string, Child][] = [
    ['Affiliate', <To visit={visit} at={['affiliates', affiliate_id]} children={affiliate_id} />],
    ['Plan', <To visit={visit} at={['plans', plan]} children={plan} />],
    ['Period', <To visit={visit} at={['statements']} query={{ period }} children={period} />],
    ['Status', <Status of={one.status} />],
    ['Payable', <Amount value={one.payable} currency={one.currency} />],
    ['Payable on', one.payable_on],
    ['Computed', <Time at={one.computed_at} />],
    ['Approved', <Time at={one.approved_at} />],
    ['Paid', paid ? `${paid.paid_on}, ${paid.reference}` : 'not yet'],
  ]
  return <Facts rows={paths} />
}

/** Returns the path of the statement in the administration API. */
const ownPath = ({ account, params }: Visit, ...parts: string[]) =>
  apiPath(account, 'statements', params.statement ?? '', ...parts)

/** A statement: what it pays, why, and what is done with it. */
export const statementPage: Page = {
  path: '/accounts/:account/statements/:statement',
  section: 'Statements',
  query: ['part', 'format'],
  changes: {
    approve: {
      done: 'Your approval is stored.',
      request: (values, visit) => ({
        method: 'POST',
        path: ownPath(visit, 'approve'),
        body: { hash: values('hash'), leave_out_holds: values('leave_out_holds') === 'yes' },
      }),
    },
    pay: {
      done: 'The payment is stored.',
      request: (values, visit) => ({
        method: 'POST',
        path: ownPath(visit, 'pay'),
        body: { reference: values('reference'), paid_on: values('paid_on') },
      }),
    },
    enter: {
      done: 'The entry is stored. The next run adds it to its draft.',
      request: (values, { account }) => ({
        method: 'POST',
        path: apiPath(account, 'manual-entries'),
        body: Object.fromEntries(
          ['affiliate_id', 'plan', 'amount', 'reason', 'reference'].map((n) => [n, values(n)]),
        ),
      }),
    },
  },
  file({ query: { format, part }, ...visit }) {
    const type = format === 'csv' ? 'text/csv' : 'text/html'
    return format ? { path: ownPath(visit as Visit), query: { part }, type } : null
  },
  async render(visit) {
    const { part } = visit.query
    const one = await visit.api.get<WholeStatement>(ownPath(visit), { part })
    const { affiliate_id, period, parts } = one
    const shown = { visit, one }
    const to = (query: Visit['query']) => withQuery(visit.path, { part, ...query })
    const body = (
      <>
        <Head {...shown} />
        <p class="quick">
          <To
            visit={visit}
            at={['unearned']}
            query={{ period, affiliate_id }}
            children="What earned nothing"
          />
          <a href={to({ format: 'html' })}>Print</a>
          <a href={to({ format: 'csv' })}>CSV</a>
        </p>
        <Balance {...shown} />
        <Holds {...shown} />
        {one.status === 'draft' && <Approve {...shown} />}
        {isDue(one) && <Pay {...shown} />}
        <h2 id="lines">Lines</h2>
        <Lines {...shown} />
        {parts > 1 && (
          <p class="quick">
            Part {one.part} of {parts}
            {one.part > 1 && <a href={to({ part: String(one.part - 1) })}>Previous part</a>}
            {one.part < parts && <a href={to({ part: String(one.part + 1) })}>Next part</a>}
          </p>
        )}
        <h2 id="adjustments">Adjustments</h2>
        <Adjustments {...shown} />
        <h2 id="manual">Manual entries</h2>
        <Manual {...shown} />
        <Enter {...shown} />
      </>
    )
    return { title: `${affiliate_id}, ${period}`, body }
  },
}
