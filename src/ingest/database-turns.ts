import type { DeliveryInput } from '../db/records/delivery-input.ts'
import { ApiError } from '../errors.ts'
import { type Lease, WeightedQueue } from '../http/weighted-queue.ts'

/**
 * The time of the database that a delivery may take: so many milliseconds, and more for each record and
 * each KiB of the body. Ordinary deliveries take less than a third of it.
 */
const FREE_MS = 20
const FREE_MS_PER_RECORD = 0.08
const FREE_MS_PER_KIB = 0.1

/** How much time beyond that an account may use in a minute before its deliveries take turns. */
const CREDIT_MS = 250

/** How long they take turns, in milliseconds. */
const SLOW_MS = 60_000

/** How many times as long as the time beyond that the pause after a turn is. */
const PAUSE = 4

/** How long a delivery waits for its turn, and for a pause, in milliseconds. */
const WAIT_MS = 20_000
const MAX_PAUSE_MS = 10_000

/** The longest time of a query of D1, after which a turn ends in any case. */
const QUERY_MS = 30_000

/** The accounts of which an isolate remembers what they used. */
const MAX_ACCOUNTS = 1000

/** What an account has used beyond its free time. Times are in milliseconds. */
interface Usage {
  excessMs: number
  pausedUntil: number
  forgottenAt: number
}

const UNUSED: Usage = { excessMs: 0, pausedUntil: 0, forgottenAt: 0 }

/** What accounts have used in this isolate. */
export const usages = new Map<string, Usage>()

/**
 * The records that the deliveries of an account store at the same time in an isolate. A database works
 * on one delivery at a time, so others wait for at most these. Deliveries of few records do not count.
 */
const ACCOUNT_RECORDS = 3000
const FEW_RECORDS = 100

const turns = new WeightedQueue(MAX_ACCOUNTS * ACCOUNT_RECORDS, ACCOUNT_RECORDS)

/** Returns the time that a delivery took beyond its free time, in milliseconds. */
export const excessOf = (databaseMs: number, records: number, characters: number): number =>
  Math.max(
    0,
    databaseMs - FREE_MS - FREE_MS_PER_RECORD * records - FREE_MS_PER_KIB * (characters / 1024),
  )

/**
 * Stores a delivery whose body has so many characters. `store` takes a session that measures the time of
 * the database. Few bytes can give it much work: the search for a customer reads the large customers
 * beside it. The deliveries of an account that uses much more time than its bytes justify are stored one
 * at a time, with pauses.
 *
 * @throws ApiError `unavailable` if the account's turn does not come in time, and the errors of `store`.
 */
export async function storeInTurn<T>(
  { account, received }: Pick<DeliveryInput, 'account' | 'received'>,
  characters: number,
  session: D1DatabaseSession,
  store: (session: D1DatabaseSession) => Promise<T>,
): Promise<T> {
  const lease = await takeTurn(account, received)
  let databaseMs = 0
  try {
    if (isSlow(account)) await pause(account)
    return await store({
      prepare: (query) => session.prepare(query),
      async batch<R>(statements: D1PreparedStatement[]) {
        const results = await session.batch<R>(statements)
        for (const { meta } of results) databaseMs += meta.duration
        return results
      },
      getBookmark: () => session.getBookmark(),
    })
  } finally {
    pay(account, excessOf(databaseMs, received, characters), Date.now())
    if (lease) turns.release(lease)
  }
}

const usageOf = (account: string): Usage => usages.get(account) ?? UNUSED

function isSlow(account: string): boolean {
  const { excessMs, forgottenAt } = usageOf(account)
  return excessMs > CREDIT_MS && forgottenAt > Date.now()
}

/** Waits for the turn of a delivery; null if it need not wait. A slow account has one turn at a time. */
async function takeTurn(account: string, records: number): Promise<Lease | null> {
  for (;;) {
    const alone = isSlow(account)
    if (records <= FEW_RECORDS && !alone) return null
    const weight = alone ? ACCOUNT_RECORDS : records
    const lease = await turns.take({ weight, account, isLarge: false, waitMs: WAIT_MS })
    if (alone || !isSlow(account)) {
      lease.until = Date.now() + MAX_PAUSE_MS + QUERY_MS
      return lease
    }
    // The account has become slow meanwhile.
    turns.release(lease)
  }
}

/** Waits until the account has paid for its earlier deliveries. */
async function pause(account: string): Promise<void> {
  const ms = usageOf(account).pausedUntil - Date.now()
  if (ms > MAX_PAUSE_MS) throw tookTooLong(ms)
  if (ms > 0) await scheduler.wait(ms)
}

/** Adds what a delivery used to the usage of its account, and lengthens the pause beyond the credit. */
function pay(account: string, excessMs: number, now: number): void {
  if (excessMs === 0) return
  const before = usageOf(account)
  const usedMs = excessMs + (before.forgottenAt > now ? before.excessMs : 0)
  const pauseMs = PAUSE * Math.max(0, Math.min(excessMs, usedMs - CREDIT_MS))
  if (usages.size >= MAX_ACCOUNTS) usages.clear()
  usages.set(account, {
    excessMs: usedMs,
    pausedUntil: Math.max(now, before.pausedUntil) + pauseMs,
    forgottenAt: now + SLOW_MS,
  })
}

function tookTooLong(waitMs: number): ApiError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ApiError('unavailable', {
    detail: `Earlier deliveries of this account took the database much longer than their bytes justify, so its deliveries pause. Nothing was stored. Repeat the same request after ${seconds} seconds, and store small additional fields with customers.`,
    headers: { 'Retry-After': String(seconds) },
  })
}
