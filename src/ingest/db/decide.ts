import type { Facts, Found } from './find-sql.ts'
import type { Delivery, Item, Outcome, Policy, Write } from './item.ts'
import { HELD_LIMITS } from './storage.ts'

/**
 * The number of records received, of each outcome, and of those that are right and not stored because others of the
 * request are wrong: the first is the sum of the others.
 */
export type Counts = Readonly<Record<'received' | Outcome | 'not_stored', number>>

/** What becomes of a request; what becomes of its records stands in its items. The answer and the log have its status and counts. */
export interface Decision {
  readonly status: 200 | 201 | 207 | 422
  readonly summary: Counts
  /** Whether the Idempotency-Key was used for other records: nothing is stored. */
  readonly isReused: boolean
  /** Whether records that refer to something unknown are wrong: by the policy, or because the account can hold no more. */
  readonly refusesUnknown: boolean
  /** Whether such records were refused because the account has as many held records as it may have. */
  readonly isHoldFull: boolean
  readonly errorsTotal: number
  /** The records to write. */
  readonly writes: readonly Write[]
  /** The days of the records that are written, and those from which they move. */
  readonly days: readonly number[]
  /** The records that begin to wait. */
  readonly newHeld: number
  /** By how much the account's records that are not held, and those that are, grow. */
  readonly listed: number
  readonly heldChange: number
}

/**
 * Decides what becomes of a request, and fills its items. It depends on nothing but its arguments, and the batch that
 * stores it fails unless all that was read still holds.
 */
export function decide(delivery: Delivery, facts: Facts): Decision {
  for (const found of facts.found) itemAt(delivery, found.idx).found = found
  const decided = decideFor(delivery, facts, false)
  const room = HELD_LIMITS.account - facts.request.held
  return decided.newHeld > 0 && decided.newHeld > room ? decideFor(delivery, facts, true) : decided
}

/** Returns the item of a position, which has one. */
const itemAt = ({ items }: Delivery, index: number): Item => items[index] as Item

const NOTHING = { created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected: 0 }

function decideFor(delivery: Delivery, facts: Facts, isHoldFull: boolean): Decision {
  const { items, received, policy, idempotency } = delivery
  const { digest } = facts.request
  const isReused = digest !== null && !idempotency?.digests.includes(digest)
  const refusesUnknown = isHoldFull || policy === 'reject'
  const sums = { ...NOTHING, rejected: received - items.length }
  let errorsTotal = delivery.issues.length
  for (const item of items) {
    decideItem(item, delivery, facts, isHoldFull)
    sums[item.outcome] += 1
    errorsTotal += item.issuesTotal + Number(refusesUnknown && item.isRefusable)
  }
  const rejected = isReused ? received : sums.rejected
  const counts = { received, ...sums, rejected, not_stored: 0 }
  const status = statusOf(counts, delivery)
  const isStored = status !== 422
  for (const item of items) item.write = isStored ? writeOf(item) : null
  const writes = items.flatMap(({ write }) => write ?? [])
  return {
    status,
    summary: isStored
      ? counts
      : { received, ...NOTHING, rejected, not_stored: received - rejected },
    isReused,
    refusesUnknown,
    isHoldFull,
    errorsTotal: isReused ? 1 : errorsTotal,
    writes,
    ...changesOf(writes),
  }
}

/** Returns the days that records concern, and by how much lists grow. */
function changesOf(writes: readonly Write[]) {
  const days = writes.flatMap(({ found: { day, storedDay } }) => [day, storedDay])
  const newHeld = writes.filter(({ isHeld, found: { wasHeld } }) => isHeld && !wasHeld).length
  const heldChange = newHeld - writes.filter((one) => !one.isHeld && one.found.wasHeld).length
  const isNew = writes.filter(({ revision }) => revision === 1).length
  return {
    days: [...new Set(days)].filter((day) => day !== null),
    newHeld,
    heldChange,
    listed: isNew - heldChange,
  }
}

/** Sets the outcome of a record. One that was merged into an earlier one has its outcome. */
function decideItem(item: Item, delivery: Delivery, facts: Facts, isHoldFull: boolean): void {
  const { first } = item
  if (first) {
    item.found = first.found
    item.outcome = first.outcome
    item.isRefusable = first.isRefusable
  } else if (item.found) {
    item.outcome = outcomeOf(item.found, delivery.policy, isHoldFull)
    // At the limit, what is held already stays held.
    item.isRefusable = isHoldFull ? item.outcome === 'rejected' : isRefusable(item.found)
  } else {
    item.outcome = 'rejected'
    item.isRefusable = item.reference !== null && facts.missing.has(item.reference)
  }
}

/** Returns the status of the answer: 422 if nothing is stored. */
function statusOf(
  { received, rejected, created }: Counts,
  { lenient, form }: Delivery,
): Decision['status'] {
  if (rejected === received || (rejected > 0 && !lenient)) return 422
  if (rejected > 0) return 207
  return form === 'object' && created === 1 ? 201 : 200
}

const isRefusable = ({ isMissing, extras }: Found): boolean => isMissing === 1 || extras?.[1] === 1

function outcomeOf(found: Found, policy: Policy, isHoldFull: boolean): Outcome {
  const isRefused = policy === 'reject' || (isHoldFull && !found.wasHeld)
  if (isRefused && isRefusable(found)) return 'rejected'
  if (found.isStale) return 'stale'
  if (policy === 'hold' && found.isMissing) return 'held'
  if (found.revision === null) return 'created'
  return found.differs || found.moves ? 'updated' : 'unchanged'
}

/** Returns a record as it is written; null if it is not. */
function writeOf(item: Item): Write | null {
  const { found, first, outcome } = item
  if (!found || first || outcome === 'rejected' || outcome === 'stale') return null
  const isHeld = outcome === 'held' && found.isMissing === 1
  const isNew = found.revision === null
  if (!isNew && !found.differs && !found.moves) return null
  const moves = !isNew && (found.moves === 1 || Number(isHeld) !== found.wasHeld)
  return { item, found, revision: (found.revision ?? 0) + 1, isHeld, moves }
}
