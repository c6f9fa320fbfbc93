import * as v from 'valibot'
import { readBalances } from '../../affiliates/db/affiliate-figures.ts'
import { listPayments } from '../../books/db/pay.ts'
import { balances, currency, presentBalances } from '../../books/operations/ledger.ts'
import { presentPayment } from '../../books/operations/payouts.ts'
import { readPendingStatements } from '../../commission/db/statements.ts'
import { compareText } from '../../platform/compare-text.ts'
import { type Call, list } from '../../platform/http/operation.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { NO_REASON } from '../book.ts'
import { readStatementMoney, type StatementMoney } from '../db/money.ts'
import { METHODS, MONEY_STATES } from '../model.ts'

const moneyMembers = described(() => ({
  state: member(
    v.picklist(MONEY_STATES),
    '`approved`: it is payable from a day on. `preparing`: it is in a batch that is not sent yet. `sent`: the bank has it. `paid`. `came_back`: so it did, or the bank rejected it. `no_details`: it waits for bank details. `under_review`: the account reviews it.',
  ),
  amount: member(money, 'What the statement pays; until it is paid, what of it is not paid yet.'),
  on: nullable(
    day,
    'From when it is payable, on which day the bank pays it, or when it was paid or came back. Null if nobody knows.',
  ),
  reason: nullable(
    v.string(),
    'Why it came back. Null if it did not, or if the bank does not say.',
  ),
  method: nullable(v.picklist(METHODS), 'How it is paid. Null unless it is under way.'),
}))

/** What is booked for the affiliate and not paid. */
export const ownBalances = described(() =>
  member(balances, 'What is booked and not paid, and what of it is due, by currency.'),
)

/** Where the money of a statement is. */
export const statementMoney = described(() =>
  nullable(
    v.object(moneyMembers),
    'Where its money is. Null: it is not approved, or nothing is to be paid.',
  ),
)

const ofStatement = described(() => ({
  statement: member(v.string(), 'The id of the statement.'),
  plan: v.string(),
  period: v.string(),
  currency,
}))

const waiting = described(() =>
  v.array(v.object({ ...ofStatement, payable_on: day, amount: money })),
)

/** What the affiliate is owed, and why it is not paid yet. */
export const owedMembers = described(() => ({
  money: member(
    v.array(v.object({ ...ofStatement, ...moneyMembers })),
    'Where the money of each approved statement is that is not paid: what comes next stands first.',
  ),
  unapproved: member(waiting, 'Drafts of ended periods. Empty if the account hides drafts.'),
  below_minimum: member(waiting, 'Balances that wait for the minimum payout.'),
}))

/** Reads where the money of the affiliate is: of the statements with some ids, or of all that are not paid. */
export function readMoney(
  { session, affiliate }: Pick<Call<'affiliate'>, 'session' | 'affiliate'>,
  ids: readonly string[] | null,
) {
  const { id, account, view } = affiliate
  const of = {
    account: account.id,
    affiliate: id,
    shows_review: view.held === 'none' ? 0 : 1,
  } as const
  return readStatementMoney(session, of, ids)
}

const placeOf = ({ state, on }: StatementMoney) => `${MONEY_STATES.indexOf(state)} ${on ?? '~'}`

/** Reads what is booked and not paid, where it is, and what is not approved yet. */
export async function readOwed(call: Call<'affiliate'>) {
  const { id, account, view } = call.affiliate
  const filter = { affiliate_id: id, ...(!view.drafts && { isApproved: true as const }) }
  const [sums, money, pending] = await Promise.all([
    readBalances(call.session, account.id, id),
    readMoney(call, null),
    readPendingStatements(call.session, account.id, filter, todayOf(account)),
  ])
  const ordered = money.toSorted((a, b) => compareText(placeOf(a), placeOf(b)))
  return { balances: presentBalances(sums), owed: { money: ordered, ...pending } }
}

const PAYMENT_COLUMNS = [
  'reference',
  'currency',
  'amount',
  'paid_on',
  'statements',
  'at',
  'returned_on',
  'reason',
]

const payment = component('AffiliatePayment', () => ({
  reference: member(v.string(), 'The reference of the payment.'),
  affiliate_id: v.string(),
  currency,
  amount: money,
  paid_on: day,
  statements: member(count, 'The number of the statements that it paid.'),
  at: member(time, 'When it was booked.'),
  returned_on: nullable(day, 'When it came back. Null: it arrived.'),
  reason: nullable(v.string(), 'Why it came back.'),
}))

export const listAffiliatePayouts = list({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'listAffiliatePayouts',
  path: '/payouts',
  files: asCsv('payouts', PAYMENT_COLUMNS),
  words: described(() => ({
    description: 'Lists what was paid to the affiliate, and where all is that is not paid.',
    answer: payment,
    more: owedMembers,
    files: csvWords(PAYMENT_COLUMNS),
  })),
  async list(call, _filter, page) {
    const { session, grant, affiliate } = call
    const filter = { affiliate_id: affiliate.id, from: null, to: null }
    const [found, { owed }] = await Promise.all([
      listPayments(session, grant.account, filter, page),
      readOwed(call),
    ])
    // An affiliate reads pages in their language: that nobody says why, they say themselves.
    const data = found.data.map(presentPayment).map((one) => ({
      ...one,
      reason: one.reason === NO_REASON ? null : one.reason,
    }))
    return { ...found, data, more: owed }
  },
})
