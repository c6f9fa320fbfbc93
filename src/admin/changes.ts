import * as v from 'valibot'
import { moneyText } from '../commission/books/money.ts'
import { dayNumber } from '../commission/engine/calendar.ts'
import { add, type Decimal, decimal, ZERO } from '../commission/engine/decimal.ts'
import { wordsFor } from '../commission/statements/select-facts.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import { type DayStart, type LastDays, readChanges } from '../db/records/changes.ts'
import { DAY_MS } from '../durations.ts'
import { accountOperation } from '../http/operation.ts'
import { count, day, time } from '../validation/answer-fields.ts'
import { described } from '../validation/described.ts'
import { member } from '../validation/fields.ts'
import { bookZoneOf, dayInZone, instantOfLocalTime } from '../zone.ts'

/** Returns the starts of the last three days of a time zone. `now` is in milliseconds. */
function lastDays(zone: string, now: number): LastDays {
  const current = dayNumber(dayInZone(zone, now))
  const startOf = (day: number): DayStart => ({
    day,
    at: instantOfLocalTime(zone, day * DAY_MS).instant,
  })
  return {
    dayBefore: startOf(current - 2),
    yesterday: startOf(current - 1),
    today: startOf(current),
  }
}

/** Adds up amounts by currency. */
function sumsOf(rows: readonly { readonly currency: string; readonly amount: string }[]) {
  const sums = new Map<string, Decimal>()
  for (const { currency, amount } of rows) {
    sums.set(currency, add(sums.get(currency) ?? ZERO, decimal(amount)))
  }
  return [...sums]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, sum]) => ({ currency, amount: moneyText(sum, currency) }))
}

/** Returns different texts in their order. */
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort()

const affiliatesOf = (rows: readonly { readonly affiliate_id: string }[]) =>
  distinct(rows.map(({ affiliate_id }) => affiliate_id))

/** Describes the numbers of the last three days. */
const compared = (what: string, most = '') =>
  described(() =>
    member(
      v.object({
        day_before: member(count, `On the whole day before yesterday${most}.`),
        yesterday: member(count, `On the whole of yesterday${most}.`),
        today: member(count, `Today until now${most}.`),
      }),
      what,
    ),
  )

const amounts = described(() =>
  v.array(
    v.object({
      currency: member(v.string(), 'The currency.'),
      amount: member(v.string(), 'The sum, with the minor digits of the currency.'),
    }),
  ),
)

const number = described(() => member(count, 'Their number.'))

export const getChanges = accountOperation({
  id: 'getChanges',
  topic: 'monitoring',
  method: 'GET',
  path: '/changes',
  role: 'viewer',
  words: described(() => ({
    description:
      'Returns what has changed in an account since the start of yesterday, in the time zone of its records. Signups and records are compared with the day before. Who changed settings and plans is in the audit log. Of statements, cases, questions and entries of the audit log, the latest 1,000 are read, and of payments the latest 10,000 by their day.',
    answer: v.object({
      since: member(time, 'When yesterday began, in the time zone of the records.'),
      yesterday: member(day, 'The day of yesterday.'),
      signups: compared('Customers by the day of their signup.', ', at most 10,000'),
      first_deposits: v.nullable(
        compared(
          'First approved deposits of customers since their signup. Null if the account is no forex broker, or has more than 10,000 transactions in three days, or too many days before them to search.',
        ),
      ),
      records: compared(
        'Records that arrived, by the hour of their delivery. An hour counts for the day on which it begins.',
      ),
      refused_records: compared('How many of these were refused.'),
      approved_statements: member(
        v.object({
          count: number,
          amounts: member(amounts, 'Their totals by currency.'),
          periods: member(v.array(v.string()), 'Their periods.'),
        }),
        'Statements that were approved.',
      ),
      payments: member(
        v.object({ count: number, amounts: member(amounts, 'Their sums by currency.') }),
        'Payments that were recorded.',
      ),
      returned_payments: member(count, 'Payments that came back.'),
      cases_opened: member(
        v.object({
          count: number,
          holding: member(count, 'How many of them hold payouts now.'),
          affiliates: member(v.array(v.string()), 'Their affiliates.'),
        }),
        'Cases that the fraud review opened.',
      ),
      holds_ended: member(
        count,
        'Holds of payouts that ended without a decision, and that nobody has acknowledged.',
      ),
    }),
    command: { name: 'changes' },
  })),
  async run({ env, account, db }) {
    const statusMap = await readMapping(env.DB, account.id, 'status')
    const days = lastDays(bookZoneOf(account), Date.now())
    const found = await readChanges(db, account.id, wordsFor(statusMap, ['approved']), days)
    const { approved, payments, cases } = found
    return {
      since: new Date(days.yesterday.at).toISOString(),
      yesterday: dayInZone('UTC', days.yesterday.day * DAY_MS),
      signups: found.signups,
      // Prop firms and brands have no deposits of this kind.
      first_deposits: account.vertical === 'forex' ? found.firstDeposits : null,
      records: found.records,
      refused_records: found.refused,
      approved_statements: {
        count: approved.length,
        amounts: sumsOf(approved),
        periods: distinct(approved.map(({ of }) => of)),
      },
      payments: { count: payments.length, amounts: sumsOf(payments) },
      returned_payments: found.returned,
      cases_opened: {
        count: cases.length,
        holding: cases.filter(({ holds }) => holds === 1).length,
        affiliates: affiliatesOf(cases),
      },
      holds_ended: found.endedHolds,
    }
  },
})
