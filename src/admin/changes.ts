import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { moneyText } from '../commission/books/money.ts'
import { dayNumber } from '../commission/engine/calendar.ts'
import { add, type Decimal, decimal, ZERO } from '../commission/engine/decimal.ts'
import { wordsFor } from '../commission/statements/select-facts.ts'
import { resolveDatabase } from '../db/database.ts'
import { readMapping } from '../db/directory/status-maps.ts'
import { type DayStart, type LastDays, readChanges } from '../db/records/changes.ts'
import { DAY_MS } from '../durations.ts'
import { readQuery } from '../http/query.ts'
import { bookZoneOf, dayInZone, instantOfLocalTime } from '../zone.ts'
import { findRouteAccount } from './accounts.ts'

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
const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort()

const affiliatesOf = (rows: readonly { readonly affiliate_id: string }[]) =>
  distinct(rows.map(({ affiliate_id }) => affiliate_id))

/** The route of what has changed in an account since the start of yesterday. */
export const changes = new Hono<AppEnv>().get('/changes', async (c) => {
  readQuery(c.req.url)
  const [account, statusMap] = await Promise.all([
    findRouteAccount(c),
    readMapping(c.env.DB, c.req.param('account') ?? '', 'status'),
  ])
  const db = resolveDatabase(c.env, account.binding)
  const days = lastDays(bookZoneOf(account), Date.now())
  const found = await readChanges(db, account.id, wordsFor(statusMap, ['approved']), days)
  const { approved, payments, cases } = found
  return c.json({
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
  })
})
