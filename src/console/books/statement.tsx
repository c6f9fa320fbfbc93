import { listQuestions } from '../../affiliates/operations/questions.ts'
import { approveStatement } from '../../books/operations/approvals.ts'
import { addManualEntry } from '../../books/operations/manual-entries.ts'
import { getStatement } from '../../commission/operations/statements.ts'
import { money } from '../../commission/words/english.ts'
import type { ReturnedPayment } from '../../ledger/db/booked.ts'
import { type Page, useVisit, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { pick } from '../../pages/form.ts'
import { dayWords, isolated, periodWords } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { HOLDS } from '../../pages/parts/field-words.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateName, affiliateText, PlanName } from '../../pages/parts/names.tsx'
import { hasBegun, isOpen } from '../../pages/parts/periods.ts'
import { readLines } from '../../pages/parts/rule-lines.ts'
import { ApiError } from '../../platform/errors.ts'
import { isSome } from '../../platform/money/decimal.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { readAmount } from '../../platform/money/typed.ts'
import { QuestionsBeside } from '../affiliates/questions.tsx'
import { CasesOfAffiliate, readAffiliateCases } from '../fraud/case-parts.tsx'
import { readTerms } from '../records/reasons.tsx'
import { LinesByRule } from './statement-lines.tsx'
import {
  Adjustments,
  Balance,
  Holds,
  Manual,
  type ShownStatement,
  StatementHead,
  type WholeStatement,
} from './statement-parts.tsx'

const ONCE = 'Must be unique: a reference is booked once.'

/** Renders the one thing to do next: to approve the draft, or where what is approved is paid. */
const NextStep = ({ statement }: ShownStatement, visit = useVisit()) => {
  const { status, payable, period } = statement
  return (
    <>
      {status === 'draft' && !isOpen(period, visit.today) && (
        <ChangeForm
          change="approve"
          fields={statement.holds.length > 0 ? [HOLDS] : []}
          submit={`Approve ${money(statement.payable, statement.currency)}`}
          needs="approver"
        >
          <input type="hidden" name="hash" value={statement.hash} />
          <p class="note">An approved statement never changes.</p>
        </ChangeForm>
      )}
      {status === 'draft' && isOpen(period, visit.today) && (
        <p class="note">
          {periodWords(period)} has not {hasBegun(period, visit.today) ? 'ended' : 'begun'}. The
          draft changes until then, and is approved after it.
        </p>
      )}
      {status === 'approved' && isSome(payable) && (
        <p class="note">
          It stands in <AccountLink at={['payouts']} children="To pay" /> from the day on that it is
          payable, unless a <AccountLink at={['batches']} children="batch" /> pays it.
        </p>
      )}
      {status === 'approved' && !isSome(payable) && (
        <p class="note">There is nothing to pay. The balance is carried on.</p>
      )}
    </>
  )
}

/** Says which payment came back, when and why. */
const returnText = ({ payment, returned_on, reason }: ReturnedPayment) =>
  `The payment ${isolated(payment)} came back on ${dayWords(returned_on)}: ${isolated(reason)}`

/** What is said of a reason. */
const READ = 'The affiliate reads it on the statement.'

/** Names the statement of the page. */
const ownStatement = ({ account, params: { statement_id = '' } }: Visit) => ({
  account,
  statement_id,
})

const changes: NonNullable<Page['changes']> = {
  approve: calling(
    approveStatement,
    (answer) =>
      `Your approval was recorded. ${(answer as { message?: string }).message ?? ''}`.trim(),
    (values) => ({ leave_out_holds: values('leave_out_holds') === 'yes' }),
  ),
  enter: {
    done: 'The entry was stored. The next run adds it.',
    perform(values, { api, account }) {
      const read = readAmount(values('amount'), minorDigits(values('currency')))
      if ('problem' in read) {
        const errors = [{ pointer: '/amount', message: read.problem }]
        throw new ApiError('validation_failed', { detail: 'Nothing was stored.', errors })
      }
      return api.call(addManualEntry, {
        account,
        ...pick(values, 'affiliate_id', 'plan', 'reason', 'reference'),
        amount: read.value,
      })
    },
  },
}

const readPart = (visit: Visit, part: number) =>
  visit.api.call(getStatement, { ...ownStatement(visit), part })

/** Reads and renders the lines of a statement by rule, and its corrections, which come after them. */
async function renderLines(visit: Visit, statement: WholeStatement) {
  const { groups, adjustments } = await readLines(statement, (part) => readPart(visit, part))
  const { plan, currency } = statement
  const termsOf = await readTerms(visit, [{ plan }])
  return (
    <>
      <LinesByRule
        frame={{ currency, termsOf: (version) => termsOf({ plan, version }) }}
        groups={groups}
      />
      <Adjustments statement={statement} adjustments={adjustments} />
    </>
  )
}

/** Reads and renders what stands below the head: what is to be done, the sums and lines, and the forms. */
async function renderRest(visit: Visit, statement: WholeStatement) {
  const { affiliate_id, period, status, returned } = statement
  const [cases, lines, questions] = await Promise.all([
    status === 'paid' ? null : readAffiliateCases(visit, affiliate_id),
    renderLines(visit, statement),
    visit.api.call(listQuestions, {
      account: visit.account,
      statement: visit.params.statement_id,
    }),
  ])
  return (
    <>
      {returned && <p class="notice">{returnText(returned)}.</p>}
      {cases && <CasesOfAffiliate found={cases} />}
      <QuestionsBeside questions={questions.data} />
      <NextStep statement={statement} />
      <p class="quick">
        <a href={withQuery(visit.path, { format: 'csv' })}>CSV</a>
        <AccountLink at={['unearned']} query={{ period, affiliate_id }}>
          What earned nothing
        </AccountLink>
      </p>
      <Holds statement={statement} />
      <Balance statement={statement} />
      <h2 id="lines">What it pays for</h2>
      {lines}
      <Manual statement={statement} />
      <FoldedForm
        title="Add a manual entry"
        change="enter"
        submit="Add the entry"
        fields={[
          { name: 'amount', label: `Amount in ${statement.currency}`, required: true },
          { name: 'reason', required: true, hint: READ },
          { name: 'reference', required: true, hint: ONCE },
        ]}
      >
        <p>
          It is added to the first open period of <PlanName id={statement.plan} /> for{' '}
          <AffiliateName id={statement.affiliate_id} />.
        </p>
        <input type="hidden" name="affiliate_id" value={statement.affiliate_id} />
        <input type="hidden" name="plan" value={statement.plan} />
        <input type="hidden" name="currency" value={statement.currency} />
      </FoldedForm>
    </>
  )
}

/** A statement: what it pays and why, and the form that approves it. */
export const statementPage: Page = {
  path: '/accounts/:account/statements/:statement_id',
  shows: 'affiliate',
  section: 'Statements',
  query: ['format'],
  changes,
  file(visit) {
    return visit.query.format === 'csv'
      ? visit.api.file(getStatement, ownStatement(visit), 'text/csv')
      : null
  },
  async render(visit) {
    const statement = await readPart(visit, 1)
    const { affiliate_id, period } = statement
    const body = (
      <>
        <StatementHead statement={statement} />
        <Deferred part={() => renderRest(visit, statement)} />
      </>
    )
    const title = `${await affiliateText(visit, affiliate_id)}, ${periodWords(period)}`
    return { title, body }
  },
}
