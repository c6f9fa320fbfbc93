import * as v from 'valibot'
import { sumMoved } from '../../ledger/db/entries.ts'
import { list } from '../../platform/http/operation.ts'
import { readDays } from '../../platform/http/query.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import { negate } from '../../platform/money/decimal.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import { count, day, money, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { listPayments, type Payment } from '../db/pay.ts'

/** The columns of payments. */
const PAID_COLUMNS = [
  'affiliate_id',
  'currency',
  'amount',
  'statements',
  'paid_on',
  'reference',
  'batch',
  'returned_on',
  'reason',
]

const payment = component('Payment', () => ({
  affiliate_id: member(v.string(), 'The affiliate.'),
  currency: member(v.string(), 'An ISO 4217 code.'),
  amount: member(money, 'The amount.'),
  statements: member(count, 'The number of statements that it pays.'),
  reference: member(v.string(), 'The reference of the payment.'),
  paid_on: member(day, 'When they were paid.'),
  batch: nullable(v.string(), 'The batch that paid it. Null if a person booked the payment.'),
  actor: member(v.string(), 'The member of the integrations team.'),
  at: member(time, 'When the payment was booked.'),
  returned_on: nullable(day, 'When the payment came back, or null.'),
  reason: nullable(v.string(), 'Why it came back, or null.'),
}))

/** The parameters that narrow the list. */
const filters = {
  affiliate_id: optional(v.string(), said('Only those of this affiliate.', 'IB-07')),
  from: optional(f.day, said('Only what was paid on or after this day.', '2026-11-01')),
  to: optional(f.day, said('Only what was paid on or before this day.', '2026-11-30')),
  reference: optional(
    v.string(),
    said('The payment with this reference. Letter case does not count.', 'T7K2M9XQ4D'),
  ),
}

export const listPayouts = list({
  topic: 'payouts',
  id: 'listPayouts',
  shows: 'affiliate',
  path: '/payouts',
  params: filters,
  words: described(() => ({
    description:
      'Lists the payments, the latest day first. `Accept: text/csv` returns a row for each, with a `Link` to the next page.',
    answer: payment,
    more: {
      sums: member(
        v.array(
          v.object({
            currency: member(v.string(), 'An ISO 4217 code.'),
            paid: member(money, 'What was paid on these days.'),
            returned: member(money, 'What came back on these days.'),
          }),
        ),
        'By currency. Empty on a page after a cursor, and with `reference`.',
      ),
    },
    files: csvWords(PAID_COLUMNS),
    command: { name: 'payouts list', columns: PAID_COLUMNS },
  })),
  async list({ session: db, grant: { account } }, filter, page) {
    const { affiliate_id = null, reference, ...days } = filter
    const { from = null, to = null } = readDays(days)
    const own = { affiliate_id, from, to }
    const named = reference?.trim().toUpperCase() ?? null
    const [found, moved] = await Promise.all([
      listPayments(db, account, { ...own, reference: named }, page),
      page.after || named ? [] : sumMoved(db, account, own),
    ])
    return { ...found, data: found.data.map(presentPayment), more: { sums: sumsOf(moved) } }
  },
  files: asCsv('payouts', PAID_COLUMNS),
})

/** Returns what was paid and what came back, by currency. */
function sumsOf(moved: Awaited<ReturnType<typeof sumMoved>>) {
  const unitsOf = (currency: string, what: string) =>
    moved.find((one) => one.currency === currency && one.kind === what)?.units ?? '0'
  return [...new Set(moved.map(({ currency }) => currency))].map((currency) => ({
    currency,
    paid: moneyText(negate(fromUnits(unitsOf(currency, 'paid'), currency)), currency),
    returned: moneyText(fromUnits(unitsOf(currency, 'returned'), currency), currency),
  }))
}

/** Returns a payment as lists show it. */
export const presentPayment = ({ account: _, statements, ...payment }: Payment) => ({
  ...payment,
  statements: (JSON.parse(statements) as string[]).length,
})
