import type { DeliveryInput } from '../db/records/delivery-input.ts'
import { ApiError } from '../errors.ts'
import { type Lease, WeightedQueue } from '../http/weighted-queue.ts'

/**
 * The database time that a delivery may use free of charge, in milliseconds: a fixed time, and a time for
 * each record and for each 1024 characters of the body. Ordinary deliveries use less than a third of it.
 */
const FREE_MS = 20
const FREE_MS_PER_RECORD = 0.08
const FREE_MS_PER_KIB = 0.1

/** The excess time in a minute from which on the deliveries of an account take turns. */
const CREDIT_MS = 250

/** How long deliveries take turns after the last excess, in milliseconds. */
const SLOW_MS = 60_000

/** A pause lasts this many times the excess. */
const PAUSE_FACTOR = 4

/** How long a delivery waits for its turn, in milliseconds. */
const WAIT_MS = 20_000

/** The longest pause before a delivery, in milliseconds; a delivery that would wait longer is refused. */
const MAX_PAUSE_MS = 10_000

/** The longest time of a query of D1, in milliseconds: a turn ends after it in any case. */
const QUERY_MS = 30_000

/** The accounts whose usage an isolate remembers. Beyond that it forgets all of them. */
const MAX_ACCOUNTS = 1000

/** The excess of an account: the time beyond its free time. Times are in milliseconds. */
interface Usage {
  excessMs: number
  pausedUntil: number
  forgottenAt: number
}

const UNUSED: Usage = { excessMs: 0, pausedUntil: 0, forgottenAt: 0 }

/** The usage of accounts in this isolate. */
export const usages = new Map<string, Usage>()

/**
 * The records that the deliveries of an account store at the same time in an isolate. A database works
 * on one delivery at a time, so others wait for at most these. Deliveries of few records do not count.
 */
const ACCOUNT_RECORDS = 3000
const FEW_RECORDS = 100

// Only the share of each account is bounded: the accounts together wait in the database.
const turns = new WeightedQueue(Number.MAX_SAFE_INTEGER, ACCOUNT_RECORDS)

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
    recordUsage(account, excessOf(databaseMs, received, characters), Date.now())
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

/** Adds the excess of a delivery to the usage of its account. Beyond the credit it lengthens the pause. */
function recordUsage(account: string, excessMs: number, now: number): void {
  if (excessMs === 0) return
  const before = usageOf(account)
  const usedMs = excessMs + (before.forgottenAt > now ? before.excessMs : 0)
  const pauseMs = PAUSE_FACTOR * Math.max(0, Math.min(excessMs, usedMs - CREDIT_MS))
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
    detail: `Earlier deliveries of this account used too much database time for their size. Nothing was stored. Repeat the same request after ${seconds} seconds. Smaller additional fields of customers make deliveries faster.`,
    headers: { 'Retry-After': String(seconds) },
  })
}
