import { type RateChange, readNewRates } from '../../db/commission/books/changed-settings.ts'
import { type CurrencyDay, readCurrencyDays } from '../../db/commission/books/records-of-days.ts'
import { mapFactTables } from '../../db/commission/fact-tables.ts'
import { dayText } from '../engine/calendar.ts'
import { MAX_RATE_AGE } from '../engine/rates.ts'
import type { Cause } from './cause.ts'
import { customersOfAffiliates, groupsByAffiliate, groupsOf, storedId } from './cause-customers.ts'
import { type CauseGroup, foundOf, namesRecord } from './cause-groups.ts'
import { addCause, type CauseList } from './cause-list.ts'
import type { Computation } from './computation.ts'

/** A group, and the rates that may have an effect on it. */
interface RatedGroup {
  readonly group: CauseGroup
  readonly planCurrency: string
  readonly rates: readonly RateChange[]
}

/**
 * Adds to each group the rates that have an effect on a record of its lines: rates that were not known
 * when the period was approved, and rates that were corrected before it was approved (§16.2).
 */
export async function addRateCauses(
  computation: Computation,
  groups: readonly CauseGroup[],
): Promise<void> {
  const { source } = computation
  // A rate may apply to later days, and shows that the rates before it are complete.
  const all = await readNewRates(source.directory, {
    first: Math.min(...groups.map(({ period }) => period.first)) - MAX_RATE_AGE,
    last: Math.max(...groups.map(({ period }) => period.last)) + MAX_RATE_AGE,
    since: Math.min(...groups.map((one) => one.since)),
  })
  const rated = groups.flatMap((group) => {
    const planCurrency = source.inForce.plans.get(group.plan)?.first.currency ?? ''
    const rates = all.filter((rate) => mayApply(group, planCurrency, rate))
    return rates.length > 0 ? [{ group, planCurrency, rates }] : []
  })
  if (rated.length === 0) return
  const add = rateAdder(computation)
  for (const one of rated) {
    // An override over lines converts their sums on the last day.
    const { rules, waiting, period } = one.group
    const isOverLines = rules.below !== null || rules.needs === null
    if (isOverLines) add(one, one.group.settings, waiting, period.last)
  }
  await addByRecords(computation, rated, add)
  for (const { group, rates } of rated) {
    for (const rate of rates) {
      const isFirst = rate.known_from === rate.first_known
      const isAwaited = isFirst && group.waiting.includes(rate.currency)
      if (isAwaited) addCause(group.otherSettings, causeOf(rate, group))
    }
  }
}

/** Whether a rate may have an effect on a group, whatever records the group has. */
function mayApply(
  { since, closedAt, waiting, period }: CauseGroup,
  planCurrency: string,
  { currency, day, known_from, first_known }: RateChange,
): boolean {
  if (known_from < since || day < period.first - MAX_RATE_AGE || day > period.last + MAX_RATE_AGE) {
    return false
  }
  if (first_known < since) return known_from <= closedAt
  return waiting.includes(currency) || (waiting.length > 0 && currency === planCurrency)
}

const causeOf = ({ currency, day, first_known }: RateChange, { since }: CauseGroup): Cause => ({
  kind: 'rate',
  currency,
  day: dayText(day),
  change: first_known < since ? 'corrected' : 'published',
})

type Add = (one: RatedGroup, list: CauseList, currencies: readonly string[], day: number) => void

/** Returns a function that adds to a list, once each, the rates that convert amounts of a day. */
function rateAdder({ context }: Computation): Add {
  const added = new Map<CauseList, Set<string>>()
  return ({ group, planCurrency, rates }, list, currencies, day) => {
    const known = added.get(list) ?? new Set<string>()
    added.set(list, known)
    for (const currency of new Set([...currencies, planCurrency])) {
      const own = rates.filter((one) => one.currency === currency)
      if (own.length === 0) continue
      const applied = context.rateDay(currency, day)
      if (applied === null) continue
      // A day waits for the rates of a later one, even if an earlier rate applies to it then.
      const found =
        own.find((one) => one.day === applied) ??
        own.find((one) => one.day >= day && one.first_known >= group.since)
      const key = JSON.stringify([found?.currency, found?.day])
      if (!found || known.has(key)) continue
      known.add(key)
      addCause(list, causeOf(found, group))
    }
  }
}

/** Adds the rates that records of the groups' periods use. */
async function addByRecords(
  computation: Computation,
  rated: readonly RatedGroup[],
  add: Add,
): Promise<void> {
  const { source, range } = computation
  const groups = rated.map(({ group }) => group)
  const ratedOf = new Map(rated.map((one) => [one.group, one]))
  const byAffiliate = groupsByAffiliate(groups)
  const first = Math.min(...groups.map(({ period }) => period.first))
  const last = Math.max(...groups.map(({ period }) => period.last))
  const days = mapFactTables(range.days, ({ single, summed }) =>
    [...new Set([...single, ...summed])].filter((day) => day >= first && day <= last),
  )
  const currencies = currenciesOf(rated)
  const to = dayText(range.lastDay)
  for await (const found of customersOfAffiliates(computation, [...byAffiliate.keys()], days)) {
    const byId = new Map(found.map((one) => [storedId(one), one]))
    const ids = [...byId.keys()].sort()
    const rows = await readCurrencyDays(source.db, source.account.id, days, ids, currencies)
    for (const row of rows) {
      const customer = byId.get(row.customer_id)
      for (const group of customer ? groupsOf(byAffiliate, customer, to) : []) {
        const one = ratedOf.get(group)
        if (!customer || !one || !isOfGroup(group, row)) continue
        const list = foundOf(group, customer.customer_id).likely
        add(one, list, currenciesOfRow(group, row), row.day)
      }
    }
  }
}

const isOfGroup = (group: CauseGroup, { table, kind, day }: CurrencyDay): boolean =>
  day >= group.period.first && day <= group.period.last && namesRecord(group, table, kind)

/** The currencies of records to read; null: all, because a rate was corrected before an approval. */
function currenciesOf(rated: readonly RatedGroup[]): string[] | null {
  const isCorrected = rated.some(({ group, rates }) =>
    rates.some(({ first_known }) => first_known < group.since),
  )
  return isCorrected ? null : [...new Set(rated.flatMap(({ group }) => group.waiting))]
}

/** The currencies of a row; an event without one has the currency of its definition. */
function currenciesOfRow({ waiting }: CauseGroup, { currency, usd }: CurrencyDay): string[] {
  const own = currency === null ? waiting : [currency]
  return usd === 1 ? [...own, 'USD'] : [...own]
}
