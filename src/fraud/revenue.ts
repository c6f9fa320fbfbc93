import {
  EVERYTHING,
  FACT_TABLES,
  type FactTable,
  mapFactTables,
} from '../commission/db/fact-tables.ts'
import { type AccountBeginnings, factQueries } from '../commission/db/facts.ts'
import { type Customer, valueOn } from '../commission/engine/facts.ts'
import { netRevenue, type RevenuePart } from '../commission/engine/net-revenue.ts'
import { customersOf, yieldAfterFacts } from '../commission/run/customers.ts'
import type { StoredAccount } from '../commission/run/stored-account.ts'
import { add, subtract, ZERO } from '../platform/money/decimal.ts'
import type { PeriodEarning, View } from './kind.ts'
import type { WantedDays } from './views.ts'

// The net revenue (§15) of the customers of affiliates in periods that are over. Only sums stay in memory, however many
// records there are.

/** A period whose revenue is summed, and the view that has it. */
interface SummedPeriod {
  readonly view: View
  readonly period: PeriodEarning
}

/** What revenue is read from. */
interface RevenueSource {
  readonly source: StoredAccount
  readonly beginnings: Pick<AccountBeginnings, 'days'>
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

/** Sets the revenue of the periods that are compared, and returns how many records were read. */
export async function readRevenue(
  { source, beginnings }: RevenueSource,
  views: ReadonlyMap<string, View>,
  { reach, first }: Pick<WantedDays, 'reach' | 'first'>,
): Promise<number> {
  const { row, definitions } = source
  const parts = netRevenue(row.vertical, definitions, reach.revenue)
  const wanted = [...views.values()].flatMap((view) =>
    comparedFrom(view.periods, first, reach.periods ?? 0).map((period) => ({ view, period })),
  )
  // Affiliates that need the same periods are read together.
  const resources = new Set(parts.map(({ resource }) => resource))
  const yieldAfter = yieldAfterFacts()
  let facts = 0
  const byAffiliate = [...Map.groupBy(wanted, ({ view }) => view.affiliate_id)]
  const groups = Map.groupBy(byAffiliate, ([, own]) => own.map(({ period }) => period.id).join())
  for (const group of groups.values()) {
    const periods = group[0]?.[1] ?? []
    const isRead = (day: number) =>
      periods.some(({ period }) => day >= period.first && day <= period.last)
    const days = mapFactTables(FACT_TABLES, ({ table, resource }: FactTable) => ({
      single: resources.has(resource) ? beginnings.days[table].filter(isRead) : [],
      summed: [],
    }))
    const queries = factQueries(EVERYTHING, days, source.settings.statusMembers)
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
