import * as v from 'valibot'
import { listPayments } from '../books/db/pay.ts'
import { balances, currency, presentBalances } from '../books/operations/ledger.ts'
import { presentPayment } from '../books/operations/payouts.ts'
import { readPendingStatements } from '../commission/db/statements.ts'
import { readHolds } from '../fraud/holds.ts'
import { sumByCurrency } from '../ledger/due.ts'
import { type Call, list } from '../platform/http/operation.ts'
import { asCsv, csvWords } from '../platform/money/csv-list.ts'
import { decimal, subtract, ZERO } from '../platform/money/decimal.ts'
import { moneyText } from '../platform/money/money.ts'
import { count, day, money, time } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'
import { todayOf } from '../platform/zone.ts'
import { readBalances } from './db/affiliate-figures.ts'

/** What is booked for the affiliate and not paid. */
export const ownBalances = described(() =>
  member(balances, 'What is booked and not paid, and what of it is due, by currency.'),
)

const amounts = described(() => v.array(v.object({ currency, amount: money })))

const waiting = described(() =>
  v.array(
    v.object({
      statement: member(v.string(), 'The id of the statement.'),
      plan: v.string(),
      period: v.string(),
      currency,
      payable_on: day,
      amount: money,
    }),
  ),
)

/** What the affiliate is owed, and why it is not paid yet. */
export const owedMembers = described(() => ({
  due: member(amounts, 'What is approved and has to be paid now, by currency.'),
  hold_period: member(waiting, 'Approved statements whose day has not come.'),
  unapproved: member(waiting, 'Drafts of ended periods. Empty if the account hides drafts.'),
  below_minimum: member(waiting, 'Balances that wait for the minimum payout.'),
  under_review: member(
    amounts,
    'What of it waits for a review, by currency. Empty if nothing does, or if the account does not show it.',
  ),
}))

/**
 * Reads what is booked and not paid, and why: as in the payouts of the firm, what is held is not due, and neither is a
 * statement before its day. That something is under review is told only if the account shows it.
 */
export async function readOwed({ session, affiliate }: Call<'affiliate'>) {
  const { id, account, view } = affiliate
  const filter = { affiliate_id: id, ...(!view.drafts && { isApproved: true as const }) }
  const [sums, holds, pending] = await Promise.all([
    readBalances(session, account.id, id),
    readHolds(session, account.id, [id]),
    readPendingStatements(session, account.id, filter, todayOf(account)),
  ])
  const held = holds.get(id)?.held ?? []
  const isHeld = new Set(held.map((one) => one.id))
  const hold_period = pending.hold_period.filter(({ statement }) => !isHeld.has(statement))
  const later = hold_period.map(({ currency, amount }) => ({ currency, payable: amount }))
  const notDue = new Map(
    sumByCurrency([...held, ...later]).map((one) => [one.currency, decimal(one.amount)]),
  )
  const balances = presentBalances(sums)
  const due = balances
    .map(({ currency, due: all }) => {
      const left = subtract(decimal(all), notDue.get(currency) ?? ZERO)
      return { currency, amount: moneyText(left, currency) }
    })
    .filter(({ amount }) => /[1-9]/.test(amount))
  const under_review = view.held === 'none' ? [] : sumByCurrency(held)
  return { balances, owed: { ...pending, due, hold_period, under_review } }
}

const PAYMENT_COLUMNS = [
  'reference',
  'currency',
  'amount',
  'paid_on',
  'statements',
  'at',
  'return_reference',
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
  return_reference: nullable(v.string(), 'The reference of its return. Null: it arrived.'),
  returned_on: nullable(day, 'When it came back.'),
  reason: nullable(v.string(), 'Why it came back.'),
}))

export const listAffiliatePayouts = list({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'listAffiliatePayouts',
  path: '/payouts',
  files: asCsv('payouts', PAYMENT_COLUMNS),
  words: described(() => ({
    description: 'Lists what was paid to the affiliate, with what is due.',
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
    return { ...found, data: found.data.map(presentPayment), more: owed }
  },
})
