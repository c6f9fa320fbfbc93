import {
  type ActivityAmount,
  EVERYTHING,
  FACT_TABLES,
  type FactTable,
  mapFactTables,
} from '../commission/db/fact-tables.ts'
import { factQueries } from '../commission/db/facts.ts'
import { type Customer, valueOn } from '../commission/engine/facts.ts'
import { netRevenue, type RevenuePart } from '../commission/engine/net-revenue.ts'
import { customersOf, yieldAfterFacts } from '../commission/run/customers.ts'
import { add, decimal, plainText, subtract, ZERO } from '../platform/money/decimal.ts'
import { MAX_RATE_AGE } from '../platform/money/exchange.ts'
import { keepRevenue, readKept } from './db/revenue.ts'
import type { PeriodEarning, View } from './kind.ts'
import type { ViewSource, WantedDays } from './views.ts'

// The net revenue (§15) of the customers of affiliates in periods that are over: the number that is kept, else from the
// records. Only sums stay in memory, however many records there are.

/** A period whose revenue is summed, and the view that has it. */
interface SummedPeriod {
  readonly view: View
  readonly period: PeriodEarning
}

/** Adds the records of a customer to the revenue of the periods of affiliates. Amounts without a rate are left out. */
export function addRevenue(
  parts: readonly RevenuePart[],
  { affiliates, facts }: Customer,
  periodsOf: ReadonlyMap<string | null, readonly SummedPeriod[]>,
): void {
  for (const fact of facts) {
    if (fact.state !== 'approved') continue
    const own = parts.filter((one) => one.resource === fact.resource && one.kind === fact.kind)
    for (const { view, period } of periodsOf.get(valueOn(affiliates, fact.day)) ?? []) {
      if (fact.day < period.first || fact.day > period.last) continue
      for (const { field, sign } of own) {
        const amount = view.convert(fact, field) ?? ZERO
        period.revenue = (sign < 0 ? subtract : add)(period.revenue ?? ZERO, amount)
      }
    }
  }
}

/** Returns the periods that are compared on the days from one on. */
function comparedFrom(periods: readonly PeriodEarning[], first: number, count: number) {
  const ending = periods.findIndex(({ last }) => last >= first)
  return ending < 0 ? [] : periods.slice(Math.max(0, ending - count + 1))
}

/** Returns what the revenue of a period follows from besides what marks tell: rates, settings, and what is summed. */
function formOf(
  { rates, form }: ViewSource,
  { first, last }: PeriodEarning,
  parts: unknown,
): string {
  // A rate that is published later is known from a later time, or is that of a later day.
  const known = rates.rows
    .filter(({ day }) => day >= first - MAX_RATE_AGE && day <= last)
    .map(({ known_from }) => known_from)
  return JSON.stringify([Math.max(0, ...known), Math.min(rates.lastDay ?? 0, last), form, parts])
}

/** Sets the revenue of the periods that are compared, and returns how many records were read. */
export async function readRevenue(
  from: ViewSource,
  views: readonly View[],
  { reach, first }: Pick<WantedDays, 'reach' | 'first'>,
): Promise<number> {
  const { db, row, definitions } = from.source
  const account = row.id
  const parts = netRevenue(row.vertical, definitions, reach.revenue)
  const wanted = views.flatMap((view) =>
    comparedFrom(view.periods, first, reach.periods ?? 0).map((period) => ({ view, period })),
  )
  const periods = new Map(wanted.map(({ period }) => [period.id, period]))
  const forms = new Map([...periods].map(([id, period]) => [id, formOf(from, period, parts)]))
  const kept = await readKept(
    db,
    { account, resource: parts[0]?.resource ?? '' },
    views.map(({ affiliate_id }) => affiliate_id),
    [...periods.values()].map(({ id, first, last }) => [id, forms.get(id) ?? '', first, last]),
  )
  const keyOf = ({ view, period }: SummedPeriod) => [view.affiliate_id, period.id, view.currency]
  const missing = wanted.filter((one) => {
    const revenue = kept.get(JSON.stringify(keyOf(one)))
    if (revenue !== undefined) one.period.revenue = decimal(revenue)
    return revenue === undefined
  })
  const facts = await sumRecords(from, parts, missing)
  if (from.position !== null) {
    const rows = missing.map((one) => {
      const { id, revenue } = one.period
      return [...keyOf(one), forms.get(id), plainText(revenue ?? ZERO)]
    })
    await keepRevenue(db, { account, position: from.position }, rows)
  }
  return facts
}

/** Sums the records of periods, those of affiliates together that need the same ones; returns how many were read. */
async function sumRecords(
  { source, beginnings }: ViewSource,
  parts: readonly RevenuePart[],
  missing: readonly SummedPeriod[],
): Promise<number> {
  const resources = new Set(parts.map(({ resource }) => resource))
  // Rows of trading activity are many, so that no more is read of them than is summed.
  const fields = parts.map(({ field }) => field as ActivityAmount)
  const selection = resources.has('trading-activity')
    ? { ...source.selection, activity: { ...source.selection.activity, single: true, fields } }
    : EVERYTHING
  const yieldAfter = yieldAfterFacts()
  let facts = 0
  const byAffiliate = [...Map.groupBy(missing, ({ view }) => view.affiliate_id)]
  const groups = Map.groupBy(byAffiliate, ([, own]) => own.map(({ period }) => period.id).join())
  for (const group of groups.values()) {
    const periods = group[0]?.[1] ?? []
    const isRead = (day: number) =>
      periods.some(({ period }) => day >= period.first && day <= period.last)
    const days = mapFactTables(FACT_TABLES, ({ table, resource }: FactTable) => ({
      single: resources.has(resource) ? beginnings.days[table].filter(isRead) : [],
      summed: [],
    }))
    const queries = factQueries(selection, days, source.settings.statusMembers)
    if (queries.length === 0) continue
    const periodsOf = new Map(group)
    for await (const batch of customersOf(source, [...periodsOf.keys()], queries)) {
      for (const customer of batch) {
        facts += customer.facts.length
        const pause = yieldAfter(customer.facts.length)
        if (pause) await pause
        addRevenue(parts, customer, periodsOf)
      }
    }
  }
  return facts
}
