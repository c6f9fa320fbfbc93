import * as v from 'valibot'
import { listPayments } from '../books/db/pay.ts'
import { readHolds, sumByCurrency } from '../books/holds.ts'
import { balances, currency, entry, order, presentBalances } from '../books/operations/ledger.ts'
import { presentPayment } from '../books/operations/payouts.ts'
import { asCsv, csvWords } from '../commission/csv-list.ts'
import { listLedger, readBalances } from '../commission/db/ledger.ts'
import { type PendingStatement, readPendingStatements } from '../commission/db/statements.ts'
import { decimal, subtract, ZERO } from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import { moneyText } from '../commission/statements/money.ts'
import { type AffiliateCall, affiliateList } from '../platform/http/operation.ts'
import { count, day, money, time } from '../platform/validation/answer-fields.ts'
import { described, named } from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import { todayOf } from '../platform/zone.ts'

/** What is booked for the affiliate and not paid. */
export const ownBalances = described(() =>
  member(balances, 'What is booked and not paid, and what of it is due, by currency.'),
)

const amounts = described(() => v.array(v.object({ currency, amount: money })))

/** What the affiliate is owed, and what of it is under review. */
export const dueMembers = described(() => ({
  due: member(amounts, 'What is approved and has to be paid, by currency.'),
  due_by_day: member(
    v.array(
      v.object({
        payable_on: v.nullable(member(day, 'The day from which it is paid. Null: it is due now.')),
        currency,
        amount: money,
      }),
    ),
    'When: what is due now, and what on each later day.',
  ),
  under_review: member(
    amounts,
    'What of it waits for a review, by currency. Empty if nothing does, or if the account does not show it.',
  ),
}))

const LEDGER_COLUMNS = [
  ...['id', 'kind', 'plan', 'period', 'statement', 'currency', 'amount', 'reference', 'at'],
]

export const listAffiliateLedger = affiliateList({
  topic: 'affiliate-api',
  id: 'listAffiliateLedger',
  path: '/ledger',
  params: { order },
  files: asCsv('ledger', LEDGER_COLUMNS),
  words: described(() => ({
    description: 'Lists what was booked for the affiliate and paid to them.',
    answer: entry,
    more: { balances: ownBalances },
    files: csvWords(LEDGER_COLUMNS),
  })),
  async list({ session, grant, affiliate }, { order: by }, page) {
    const { account } = grant
    const [found, sums] = await Promise.all([
      listLedger(session, account, affiliate.id, by === 'latest', page),
      readBalances(session, account, affiliate.id),
    ])
    return { ...found, more: { balances: presentBalances(sums) } }
  },
})

/** Reads what is approved and waits for its day, and what waits below the minimum, by statement. */
export function readPending({ session, affiliate }: AffiliateCall) {
  const { id, account, view } = affiliate
  const filter = { affiliate_id: id, ...(!view.drafts && { isApproved: true as const }) }
  return readPendingStatements(session, account.id, filter, todayOf(account))
}

/** Reads which statements of an affiliate are approved, not paid, and held. */
export async function readHeld({ session, grant, affiliate: { id } }: AffiliateCall) {
  const holds = await readHolds(session, grant.account, [id])
  return holds.get(id)?.held ?? []
}

/** What is read of the money of an affiliate that is approved and not paid. */
interface Unpaid {
  readonly sums: Awaited<ReturnType<typeof readBalances>>
  readonly held: Awaited<ReturnType<typeof readHeld>>
  /** Statements whose day has not come. */
  readonly later: readonly PendingStatement[]
}

/**
 * Returns what is due, and what is under review if that is shown. As in the payouts of the firm, what is held is
 * not due. Of what is due, `due_by_day` tells what is due now (`payable_on` is null), and on which later day.
 */
export function presentDue({ affiliate: { view } }: AffiliateCall, { sums, held, later }: Unpaid) {
  const isHeld = new Set(held.map(({ id }) => id))
  const review = sumByCurrency(held)
  const due = subtractIn(
    presentBalances(sums).map(({ currency, due: amount }) => ({ currency, amount })),
    review,
  )
  const days = Map.groupBy(
    later.filter(({ statement }) => !isHeld.has(statement)),
    ({ payable_on }) => payable_on,
  )
  const byDay = [...days].sort(([a], [b]) => compareText(a, b))
  const laterIn = sumByCurrency([...days.values()].flat().map(payableOf))
  const due_by_day = [
    ...subtractIn(due, laterIn).map((one) => ({ payable_on: null, ...one })),
    ...byDay.flatMap(([payable_on, own]) =>
      sumByCurrency(own.map(payableOf)).map((one) => ({ payable_on, ...one })),
    ),
  ]
  return { due, due_by_day, under_review: view.held === 'none' ? [] : review }
}

const payableOf = ({ currency, amount }: PendingStatement) => ({ currency, payable: amount })

interface CurrencyAmount {
  readonly currency: string
  readonly amount: string
}

/** Subtracts amounts of the same currency. Returns what is left, without zeros. */
const subtractIn = (from: readonly CurrencyAmount[], taken: readonly CurrencyAmount[]) =>
  from
    .map(({ currency, amount }) => {
      const found = taken.find((one) => one.currency === currency)
      const left = subtract(decimal(amount), found ? decimal(found.amount) : ZERO)
      return { currency, amount: moneyText(left, currency) }
    })
    .filter(({ amount }) => /[1-9]/.test(amount))

const PAYMENT_COLUMNS = [
  ...['reference', 'currency', 'amount', 'paid_on', 'statements', 'at', 'return_reference'],
  ...['returned_on', 'reason'],
]

const payment = described(() =>
  named(
    'AffiliatePayment',
    v.object({
      reference: member(v.string(), 'The reference of the payment.'),
      affiliate_id: v.string(),
      currency,
      amount: money,
      paid_on: day,
      statements: member(count, 'The number of the statements that it paid.'),
      at: member(time, 'When it was booked.'),
      return_reference: v.nullable(
        member(v.string(), 'The reference of its return. Null: it arrived.'),
      ),
      returned_on: v.nullable(member(day, 'When it came back.')),
      reason: v.nullable(member(v.string(), 'Why it came back.')),
    }),
  ),
)

export const listAffiliatePayouts = affiliateList({
  topic: 'affiliate-api',
  id: 'listAffiliatePayouts',
  path: '/payouts',
  files: asCsv('payouts', PAYMENT_COLUMNS),
  words: described(() => ({
    description: 'Lists what was paid to the affiliate, with what is due.',
    answer: payment,
    more: dueMembers,
    files: csvWords(PAYMENT_COLUMNS),
  })),
  async list(call, _filter, page) {
    const { session, grant, affiliate } = call
    const filter = { affiliate_id: affiliate.id, from: null, to: null }
    const [found, sums, held, { hold_period: later }] = await Promise.all([
      listPayments(session, grant.account, filter, page),
      readBalances(session, grant.account, affiliate.id),
      readHeld(call),
      readPending(call),
    ])
    const more = presentDue(call, { sums, held, later })
    return { ...found, data: found.data.map(presentPayment), more }
  },
})
