import { type FactDays, type FactReading, factReadings } from '../../db/commission/fact-readings.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { customersOf } from '../drafts/customers-of.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import type { Period } from '../engine/calendar.ts'
import type { Customer } from '../engine/facts.ts'
import { judgeCustomer } from '../engine/judge.ts'
import type { JudgedCustomer } from '../engine/judged.ts'
import { readCustomer } from '../facts/read-customers.ts'
import { factTurns } from '../facts/turns.ts'

/** Days from the first to the last. */
type Days = Pick<Period, 'first' | 'last'>

const daysWhere = (days: FactDays, isRead: (day: number) => boolean): FactDays => {
  const split = ({ single }: FactDays[keyof FactDays]) => ({
    single: single.filter(isRead),
    summed: [],
  })
  return {
    transactions: split(days.transactions),
    activity: split(days.activity),
    events: split(days.events),
  }
}

/** Returns the readings of all records of some days; of others those that `once` rules look at. */
export function recordReadings(
  { source, range }: Computation,
  { first, last }: Days,
): FactReading[] {
  const isInside = (day: number): boolean => day >= first && day <= last
  return [
    ...factReadings(EVERYTHING, daysWhere(range.days, isInside)),
    ...onceReadings({ source, range }, (day) => !isInside(day)),
  ]
}

/** Returns the readings of the records that `once` rules look at. */
export function onceReadings(
  { source: { selection }, range }: Pick<Computation, 'source' | 'range'>,
  isRead: (day: number) => boolean = () => true,
): FactReading[] {
  const days = daysWhere(range.days, isRead)
  if (selection === EVERYTHING) return factReadings(EVERYTHING, days)
  const { transactions, activity, events, statuses } = selection
  const single = {
    transactions: { ...transactions, summed: [] },
    activity: { ...activity, summed: [] },
    events: { ...events, summed: [] },
    statuses,
  }
  return factReadings(single, days)
}

/** Whose facts are read: one customer, the customers of an affiliate, or all. */
export interface Whose {
  readonly customer_id?: string | undefined
  readonly affiliate_id?: string | undefined
}

/**
 * Yields customers with their facts, judged, a few at a time.
 *
 * @throws TooManyFacts
 */
export async function* judgedCustomers(
  computation: Computation,
  { customer_id, affiliate_id }: Whose,
  readings: readonly FactReading[],
): AsyncGenerator<JudgedCustomer> {
  const { source, context } = computation
  const batches =
    customer_id === undefined
      ? customersOf(computation, affiliate_id === undefined ? null : [affiliate_id], readings)
      : oneCustomer(source, customer_id, readings)
  let facts = 0
  const turnAfter = factTurns()
  for await (const customers of batches) {
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > MAX_FRESH_FACTS) throw new TooManyFacts()
      const turn = turnAfter(customer.facts.length)
      if (turn) await turn
      yield judgeCustomer(context, customer)
    }
  }
}

async function* oneCustomer(
  source: Computation['source'],
  customer_id: string,
  readings: readonly FactReading[],
): AsyncGenerator<Iterable<Customer>> {
  const customer = await readCustomer(source, readings, customer_id)
  yield customer ? [customer] : []
}
