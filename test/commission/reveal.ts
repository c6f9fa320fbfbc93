import { dayNumber } from '../../src/platform/money/calendar.ts'
import type { World } from './world.ts'
import type { Source } from './worlds.ts'

/** What the service knows of a world by the end of a day. */
export type KnownBy = (day: number) => World

/** Returns the days on which each part of a world becomes known: some late, some changed afterwards. */
export function reveal(world: World, from: Source, last: number): KnownBy {
  const late = (day: number) => (from.oneIn(3) ? Math.min(last, day + from.between(1, 70)) : day)
  const changed = (day: number) =>
    from.oneIn(5) ? Math.min(last, day + from.between(1, 90)) : -Infinity
  const dayOf = (instant: number) => Math.floor(instant / 86_400_000)
  const transactions = world.transactions.map((one) => {
    const known = late(dayOf(one.at))
    const before = { ...one, status: 'ok', amount_currency: from.pick([one.amount_currency, 77]) }
    return { one, before, known, final: changed(known) }
  })
  const activity = world.activity.map((one) => {
    const known = late(dayNumber(one.date))
    return { one, before: { ...one, lots_traded: 4 }, known, final: changed(known) }
  })
  const events = world.events.map((one) => {
    const known = late(dayNumber(one.day))
    return { one, before: { ...one, Value: 33 }, known, final: changed(known) }
  })
  const customers = world.customers.map((one) => {
    const other = [{ from: null, affiliate_id: from.pick(world.affiliates).affiliate_id }]
    return {
      one,
      before: { ...one, affiliates: other },
      final: from.oneIn(4) ? late(last - 40) : -Infinity,
    }
  })
  const statuses = from.oneIn(4) ? from.between(last - 60, last) : -Infinity
  const at = <T>(parts: { one: T; before: T; known: number; final: number }[], day: number): T[] =>
    parts
      .filter(({ known }) => known <= day)
      .map(({ one, before, final }) => (final <= day ? one : before))
  return (day) => ({
    ...world,
    transactions: at(transactions, day),
    activity: at(activity, day),
    events: at(events, day),
    customers: customers.map(({ one, before, final }) => (final <= day ? one : before)),
    status_map: statuses <= day ? world.status_map : { ok: 'approved' },
    rates: world.rates.filter((rate) => dayNumber(rate.day) <= day),
  })
}
