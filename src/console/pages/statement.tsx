import type { ReturnedPayment } from '../../commission/books/present.ts'
import { pick } from '../form.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Data, isolated, periodWords } from '../parts/data.tsx'
import { AccountLink, Facts } from '../parts/fields.tsx'
import { ChangeForm, FoldedForm, HOLDS } from '../parts/forms.tsx'
import {
  Adjustments,
  Balance,
  Holds,
  Lines,
  Manual,
  type ShownStatement,
  type WholeStatement,
} from '../parts/statement.tsx'

const Approve = ({ visit, statement }: ShownStatement) => (
  <ChangeForm
    visit={visit}
    change="approve"
    fields={statement.holds.length > 0 ? [HOLDS] : []}
    submit="Approve this draft"
    needs="approver"
  >
    <h2>Approve</h2>
    <p>
      An approved statement never changes. You approve the draft with this hash:{' '}
      <code>{statement.hash}</code>
    </p>
    <input type="hidden" name="hash" value={statement.hash} />
  </ChangeForm>
)

const ONCE = 'Must be unique: a reference is booked once.'

const Pay = ({ visit, statement }: ShownStatement) => (
  <ChangeForm
    visit={visit}
    change="pay"
    submit="Record payment"
    needs="approver"
    fields={[
      { name: 'reference', required: true, hint: ONCE },
      { name: 'paid_on', type: 'date', required: true },
    ]}
  >
    <h2>
      Record payment of {statement.payable} {statement.currency}
    </h2>
  </ChangeForm>
)

const Return = ({ visit, statement: { paid } }: ShownStatement) => (
  <FoldedForm
    visit={visit}
    title="Record that the bank returned the payment"
    change="return"
    submit="Record the return"
    needs="approver"
    fields={[
      {
        name: 'reference',
        required: true,
        value: paid?.reference,
        hint: 'That of the return if the bank gave it one, else that of the payment.',
      },
      { name: 'returned_on', type: 'date', required: true },
      { name: 'reason', required: true, hint: 'The statement shows it.' },
    ]}
  >
    <p>
      Every statement that this payment paid is due again at once. What was earned stays as it is.
    </p>
  </FoldedForm>
)

const Enter = ({ visit, statement: { affiliate_id, plan, currency } }: ShownStatement) => (
  <FoldedForm
    visit={visit}
    title="Add a manual entry"
    change="enter"
    submit="Add the entry"
    fields={[
      { name: 'amount', label: `Amount in ${currency}`, required: true },
      { name: 'reason', required: true },
      { name: 'reference', required: true, hint: ONCE },
    ]}
  >
    <p>
      It is added to the first open period of <Data text={plan} /> for <Data text={affiliate_id} />.
    </p>
    <input type="hidden" name="affiliate_id" value={affiliate_id} />
    <input type="hidden" name="plan" value={plan} />
  </FoldedForm>
)

/** Says which payment came back, when and why. */
const returnText = ({ payment, returned_on, reason }: ReturnedPayment) =>
  `${isolated(payment)} on ${returned_on}: ${isolated(reason)}`

/** Returns the path of the statement in the administration API. */
const ownPath = ({ account, params }: Visit, ...parts: string[]) =>
  apiPath(account, 'statements', params.statement ?? '', ...parts)

const changes: NonNullable<Page['changes']> = {
  approve: {
    done: 'Your approval was recorded.',
    request: (values, visit) => ({
      method: 'POST',
      path: ownPath(visit, 'approve'),
      body: { hash: values('hash'), leave_out_holds: values('leave_out_holds') === 'yes' },
    }),
  },
  pay: {
    done: 'The payment was recorded.',
    request: (values, visit) => ({
      method: 'POST',
      path: ownPath(visit, 'pay'),
      body: pick(values, 'reference', 'paid_on'),
    }),
  },
  return: {
    done: 'The return was recorded. The statement is due again.',
    request: (values, visit) => ({
      method: 'POST',
      path: ownPath(visit, 'return'),
      body: pick(values, 'reference', 'returned_on', 'reason'),
    }),
  },
  enter: {
    done: 'The entry was stored. The next run adds it.',
    request: (values, { account }) => ({
      method: 'POST',
      path: apiPath(account, 'manual-entries'),
      body: pick(values, 'affiliate_id', 'plan', 'amount', 'reason', 'reference'),
    }),
  },
}

/** A statement: what it pays and why, and the forms that approve and pay it, and record that the payment came back. */
export const statementPage: Page = {
  path: '/accounts/:account/statements/:statement',
  section: 'Statements',
  query: ['part', 'format'],
  changes,
  file(visit) {
    const { format, part } = visit.query
    const type = format === 'csv' ? 'text/csv' : 'text/html'
    return format ? { path: ownPath(visit), query: { part }, type } : null
  },
  async render(visit) {
    const { part } = visit.query
    const statement = await visit.api.get<WholeStatement>(ownPath(visit), { part })
    const { affiliate_id, period, parts, status, payable, paid, returned } = statement
    const shown = { visit, statement }
    const to = (query: Visit['query']) => withQuery(visit.path, { part, ...query })
    const listed = (
      <AccountLink
        visit={visit}
        at={['statements']}
        query={{ period }}
        children={periodWords(period)}
      />
    )
    const body = (
      <>
        <Facts
          visit={visit}
          row={statement}
          names={['status', 'affiliate_id', 'plan', 'payable_on', 'computed_at', 'approved_at']}
          more={[
            ['All statements of', listed],
            ...(paid ? [['Paid', `${paid.paid_on}, ${isolated(paid.reference)}`] as const] : []),
            ...(returned ? [['Payment returned', returnText(returned)] as const] : []),
          ]}
        />
        <p class="quick">
          <AccountLink visit={visit} at={['unearned']} query={{ period, affiliate_id }}>
            What earned nothing
          </AccountLink>
          <a href={to({ format: 'html' })}>Print</a>
          <a href={to({ format: 'csv' })}>CSV</a>
        </p>
        <Balance {...shown} />
        <Holds {...shown} />
        <h2 id="lines">Lines</h2>
        <Lines {...shown} />
        {parts > 1 && (
          <p class="quick">
            Part {statement.part} of {parts}
            {statement.part > 1 && (
              <a href={to({ part: `${statement.part - 1}` })}>Previous part</a>
            )}
            {statement.part < parts && (
              <a href={to({ part: `${statement.part + 1}` })}>Next part</a>
            )}
          </p>
        )}
        <h2 id="adjustments">Adjustments</h2>
        <Adjustments {...shown} />
        <h2 id="manual">Manual entries</h2>
        <Manual {...shown} />
        <Enter {...shown} />
        {status === 'draft' && <Approve {...shown} />}
        {status === 'approved' && /[1-9]/.test(payable) && <Pay {...shown} />}
        {status === 'paid' && <Return {...shown} />}
      </>
    )
    return { title: `${isolated(affiliate_id)}, ${periodWords(period)}`, body }
  },
}
