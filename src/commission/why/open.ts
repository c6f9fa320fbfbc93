import {
  customersPerReading,
  type FactDays,
  type FactReading,
  factReadings,
} from '../../db/commission/fact-readings.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import type { Databases } from '../../db/commission/histories.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import { ApiError, unavailable } from '../../errors.ts'
import type { Computation } from '../drafts/computation.ts'
import { customersOf, openComputation, TooManyFacts } from '../drafts/compute.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import type { Period } from '../engine/calendar.ts'
import type { Customer } from '../engine/facts.ts'
import { judgeCustomer } from '../engine/judge.ts'
import type { JudgedCustomer } from '../engine/judged.ts'
import { readCustomers } from '../facts/read-customers.ts'
import { openSource } from '../facts/source.ts'

/** Prepares the computation of a period of an account. */
export async function openWhy(
  env: Env,
  account: string,
  session: Databases['db'],
  period: Period,
): Promise<Computation> {
  const row = await findAccount(env.DB, account)
  if (!row) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  return openComputation(await openSource(env, row, session), period)
}

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
  for await (const customers of batches) {
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > MAX_FRESH_FACTS) throw new TooManyFacts()
      yield judgeCustomer(context, customer)
    }
  }
}

async function* oneCustomer(
  source: Computation['source'],
  customer_id: string,
  readings: readonly FactReading[],
): AsyncGenerator<Customer[]> {
  if (customersPerReading(readings) >= 1)
    yield await readCustomers(source, readings, [customer_id], false)
}

/** The computations that an isolate makes at once: of one account, and of all. */
const AT_ONCE = { account: 2, all: 8 }

/** How long a computation waits for its turn, and how often it looks. */
const TURN = { waitMs: 10_000, lookMs: 25 }

/** A computation of a caller that is gone may never end, so it counts for a minute at most. */
const FORGOTTEN_MS = 60_000

interface Running {
  readonly account: string
  readonly since: number
}

/** The computations that run in this isolate. */
const running = new Set<Running>()

function hasTurn(account: string, now: number): boolean {
  for (const one of running) if (now - one.since > FORGOTTEN_MS) running.delete(one)
  const own = [...running].filter((one) => one.account === account).length
  return own < AT_ONCE.account && running.size < AT_ONCE.all
}

/** Waits until the account may compute. Promises of other requests cannot be awaited, so it polls. */
async function takeTurn(account: string): Promise<Running> {
  const start = Date.now()
  while (!hasTurn(account, Date.now())) {
    if (Date.now() - start > TURN.waitMs) throw unavailable(new Error('too many computations'))
    await scheduler.wait(TURN.lookMs)
  }
  const own = { account, since: Date.now() }
  running.add(own)
  return own
}

/**
 * Runs a computation of an account, and returns its result.
 *
 * @throws ApiError `validation_failed` if it depends on too many facts, `unavailable` if its turn did
 * not come within 10 seconds.
 */
export async function withinLimit<T>(account: string, compute: () => Promise<T>): Promise<T> {
  const turn = await takeTurn(account)
  try {
    return await compute()
  } catch (error) {
    if (!(error instanceof TooManyFacts)) throw error
    const limit = MAX_FRESH_FACTS.toLocaleString('en')
    throw new ApiError('validation_failed', {
      detail: `The answer depends on more than ${limit} records, the most that one request reads. Narrow it with \`customer_id\` or \`affiliate_id\` where the endpoint has these parameters.`,
    })
  } finally {
    running.delete(turn)
  }
}
