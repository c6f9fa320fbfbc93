import type { DeliveryInput } from '../db/records/store-delivery.ts'
import { ApiError } from '../errors.ts'
import { type Lease, WeightedQueue } from '../http/weighted-queue.ts'

/**
 * The database time that a delivery may use without consequences, in milliseconds: a fixed time, and a
 * time for each record and for each 1024 characters of the body. Ordinary deliveries use less than a
 * third of it.
 */
const FREE_MS = 20
const FREE_MS_PER_RECORD = 0.08
const FREE_MS_PER_KIB = 0.1

/** The excess time above which an account is throttled, in milliseconds. */
const MAX_EXCESS_MS = 250

/** How long an account remains throttled after its last excess, in milliseconds. */
const THROTTLED_MS = 60_000

/** A pause lasts this many times the excess. */
const PAUSE_FACTOR = 4

/** How long a delivery waits in the queue before it is refused, in milliseconds. */
const QUEUE_WAIT_MS = 20_000

/** The longest pause before a delivery, in milliseconds. A delivery with a longer pause is refused. */
const MAX_PAUSE_MS = 10_000

/** The longest time that D1 gives a query, in milliseconds. */
const MAX_QUERY_MS = 30_000

/** The number of accounts whose usage an isolate remembers. Beyond that it forgets all of them. */
const MAX_ACCOUNTS = 1000

/** How much excess time an account has used. Times are in milliseconds. */
interface Usage {
  /** The database time beyond the free time of each delivery. */
  excessMs: number
  /** When the account's next delivery may start. */
  pausedUntil: number
  /** When the excess no longer counts. */
  expiresAt: number
}

const UNUSED: Usage = { excessMs: 0, pausedUntil: 0, expiresAt: 0 }

/** The usage of accounts in this isolate. */
export const usages = new Map<string, Usage>()

/**
 * The number of records that an isolate stores at the same time for an account. D1 runs one query of a
 * database after the other, so a delivery of another account waits for at most this many records.
 */
const MAX_CONCURRENT_RECORDS = 2000

/** Deliveries of at most this many records do not wait, unless the account is throttled. */
const UNQUEUED_RECORDS = 100

// Only the share of each account is limited. Deliveries of different accounts wait in the database.
const queue = new WeightedQueue(Number.MAX_SAFE_INTEGER, MAX_CONCURRENT_RECORDS)

/** Returns the database time of a delivery beyond its free time, in milliseconds. */
export const excessOf = (databaseMs: number, records: number, characters: number): number =>
  Math.max(
    0,
    databaseMs - FREE_MS - FREE_MS_PER_RECORD * records - FREE_MS_PER_KIB * (characters / 1024),
  )

/**
 * Waits in the queue of the account, stores a delivery and records its database time. `characters` is the
 * length of the body. `store` receives a session that measures the database time.
 *
 * A small body can cause much work: to find a customer, the database also reads the large customers that
 * are stored next to it. An account that uses much more time than the size of its bodies justifies is
 * throttled: its deliveries are stored one at a time, with pauses.
 *
 * @throws ApiError `unavailable` if the delivery waits or pauses too long, and the errors of `store`.
 */
export async function storeInQueue<T>(
  { account, received }: Pick<DeliveryInput, 'account' | 'received'>,
  characters: number,
  session: D1DatabaseSession,
  store: (session: D1DatabaseSession) => Promise<T>,
): Promise<T> {
  const lease = await waitForLease(account, received)
  let databaseMs = 0
  try {
    if (isThrottled(account)) await pause(account)
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
    recordUsage(account, excessOf(databaseMs, received, characters), Date.now())
    if (lease) queue.release(lease)
  }
}

const usageOf = (account: string): Usage => usages.get(account) ?? UNUSED

/** Returns whether the deliveries of an account are stored one at a time, with pauses. */
function isThrottled(account: string): boolean {
  const { excessMs, expiresAt } = usageOf(account)
  return excessMs > MAX_EXCESS_MS && expiresAt > Date.now()
}

/**
 * Waits in the queue and returns the lease; null if the delivery need not wait. A throttled account has
 * one lease at a time.
 */
async function waitForLease(account: string, records: number): Promise<Lease | null> {
  for (;;) {
    const isExclusive = isThrottled(account)
    if (records <= UNQUEUED_RECORDS && !isExclusive) return null
    const weight = isExclusive ? MAX_CONCURRENT_RECORDS : records
    const lease = await queue.take({ weight, account, isWaitLimited: false, waitMs: QUEUE_WAIT_MS })
    if (isExclusive || !isThrottled(account)) {
      lease.until = Date.now() + MAX_PAUSE_MS + MAX_QUERY_MS
      return lease
    }
    // The account has been throttled meanwhile, so this delivery needs an exclusive lease.
    queue.release(lease)
  }
}

/** Waits until the pause after the account's earlier deliveries is over. */
async function pause(account: string): Promise<void> {
  const ms = usageOf(account).pausedUntil - Date.now()
  if (ms > MAX_PAUSE_MS) throw pauseTooLong(ms)
  if (ms > 0) await scheduler.wait(ms)
}

/** Adds the excess of a delivery to the usage of its account, and prolongs the pause if it is throttled. */
function recordUsage(account: string, excessMs: number, now: number): void {
  if (excessMs === 0) return
  const before = usageOf(account)
  const usedMs = excessMs + (before.expiresAt > now ? before.excessMs : 0)
  const pauseMs = PAUSE_FACTOR * Math.max(0, Math.min(excessMs, usedMs - MAX_EXCESS_MS))
  if (usages.size >= MAX_ACCOUNTS) usages.clear()
  usages.set(account, {
    excessMs: usedMs,
    pausedUntil: Math.max(now, before.pausedUntil) + pauseMs,
    expiresAt: now + THROTTLED_MS,
  })
}

function pauseTooLong(pauseMs: number): ApiError {
  const seconds = Math.ceil(pauseMs / 1000)
  return new ApiError('unavailable', {
    detail: `Earlier deliveries of this account used too much database time for their size. Nothing was stored. Repeat the same request after ${seconds} seconds. Smaller additional fields of customers make deliveries faster.`,
    headers: { 'Retry-After': String(seconds) },
  })
}
