import type { Found } from './find-sql.ts'

/** What happens to records that refer to something unknown. */
export type Policy = 'reject' | 'hold' | 'warn'

/** The outcomes of records (contract §4). */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** The outcome of a record. */
export type Outcome = (typeof OUTCOMES)[number]

/**
 * The number of records received, of each outcome, and of those that are right and not stored because others of the
 * request are wrong: the first is the sum of the others.
 */
export type Counts = Readonly<Record<'received' | Outcome | 'not_stored', number>>

/** What becomes of a request. The answer and the log have its status and counts. */
export interface Decision {
  readonly status: 200 | 201 | 207 | 422
  readonly summary: Counts
  /** Whether the Idempotency-Key was used for other records: nothing is stored. */
  readonly isReused: boolean
  /** Whether records of unknown customers were rejected because the account has as many held records as it may have. */
  readonly holdRefused: boolean
  readonly errorsTotal: number
  /** The outcome of each valid record, by its position. */
  readonly outcomes: ReadonlyMap<number, Outcome>
  /** The records to write, and those of them that get another day, customer or state of waiting. */
  readonly writes: readonly Write[]
  /** The days of the records that are written, and those from which they move. */
  readonly days: readonly number[]
  /** The records that begin to wait. */
  readonly newHeld: number
  /** By how much the account's records that are not held, and those that are, grow. */
  readonly listed: number
  readonly heldChange: number
  /** Positions of records: with an unknown reference, of erased customers, and of events that replace another one. */
  readonly unknown: readonly number[]
  readonly erased: readonly number[]
  readonly changedEvents: readonly number[]
  /** Positions of customers without the time of their signup. */
  readonly unsigned: readonly number[]
  /** The details by which daily totals differ from those which they replace. */
  readonly replaced: ReadonlyMap<number, readonly string[]>
  readonly verdicts: readonly (readonly [idx: number, verdict: string])[]
  /** Customers who get another affiliate: its first day, and 1 if it holds from the signup on. */
  readonly affiliated: ReadonlyMap<number, readonly [day: number, isEarly: 0 | 1]>
}

/** A record to write. */
export interface Write {
  readonly found: Found
  readonly revision: number
  readonly isHeld: boolean
  /** Whether it gets another day, customer or state of waiting. */
  readonly moves: boolean
}

/** What a decision depends on beside the findings. */
export interface Deciding {
  readonly policy: Policy
  readonly lenient: boolean
  readonly form: 'object' | 'array' | 'data'
  readonly received: number
  /** The records that failed validation, and the number of their errors. */
  readonly invalidCount: number
  readonly errorsTotal: number
  readonly isReused: boolean
  /** How many more records the account may hold. */
  readonly roomToHold: number
  /** The invalid records that refer to something unknown. */
  readonly invalidUnknown: readonly number[]
  /** Returns the position of a record and of those that were merged into it. */
  readonly withRepeats: (idx: number) => readonly number[]
}

/** Decides what becomes of a request. Pure: the batch that stores it fails unless all of it still holds. */
export function decide(found: readonly Found[], request: Deciding): Decision {
  const decided = decideFor(found, request, false)
  const isFull = decided.newHeld > 0 && decided.newHeld > request.roomToHold
  return isFull ? decideFor(found, request, true) : decided
}

const NOTHING = { created: 0, updated: 0, unchanged: 0, stale: 0, held: 0, rejected: 0 }

function decideFor(found: readonly Found[], request: Deciding, isFull: boolean): Decision {
  const { withRepeats, invalidUnknown, received } = request
  const outcomes = new Map<number, Outcome>()
  const unknown = [...invalidUnknown]
  const sums = { ...NOTHING }
  for (const one of found) {
    const outcome = outcomeOf(one, request, isFull)
    const positions = withRepeats(one.idx)
    sums[outcome] += positions.length
    for (const idx of positions) outcomes.set(idx, outcome)
    // At the limit, what is held already stays held.
    if (isFull ? outcome === 'rejected' : isRefusable(one)) unknown.push(...positions)
  }
  const rejected = request.isReused ? received : request.invalidCount + sums.rejected
  const counts = { received, ...sums, rejected, not_stored: 0 }
  const status = statusOf(counts, request)
  const isStored = status !== 422
  const writes = isStored ? found.flatMap((one) => writeOf(one, outcomes.get(one.idx))) : []
  const isWritten = new Set(writes.map(({ found: { idx } }) => idx))
  const findings = (has: (one: Found) => unknown) =>
    found.filter(has).flatMap(({ idx }) => withRepeats(idx))
  const ofWrites = <T>(findingOf: (one: Found) => T | null): ReadonlyMap<number, T> =>
    new Map(
      writes.flatMap(({ found: one }) => {
        const value = findingOf(one)
        return value === null ? [] : withRepeats(one.idx).map((at) => [at, value] as const)
      }),
    )
  const newHeld = writes.filter(({ isHeld, found: { wasHeld } }) => isHeld && !wasHeld).length
  const heldChange = newHeld - writes.filter((one) => !one.isHeld && one.found.wasHeld).length
  const isNew = writes.filter(({ revision }) => revision === 1).length
  return {
    status,
    summary: isStored
      ? counts
      : { received, ...NOTHING, rejected, not_stored: received - rejected },
    isReused: request.isReused,
    holdRefused: isFull,
    errorsTotal: request.isReused
      ? 1
      : request.errorsTotal + (isFull || request.policy === 'reject' ? unknown.length : 0),
    outcomes,
    writes,
    days: [...new Set(writes.flatMap(({ found: { day, storedDay } }) => [day, storedDay]))].filter(
      (day) => day !== null,
    ),
    listed: isNew - heldChange,
    heldChange,
    newHeld,
    unknown: unknown.sort((a, b) => a - b),
    erased: findings(({ isErased }) => isErased),
    changedEvents: findings(({ idx, changesKind }) => changesKind && isWritten.has(idx)),
    unsigned: findings(({ lacksSignup }) => lacksSignup),
    replaced: ofWrites(({ replaced }) => replaced),
    verdicts: found.flatMap(({ idx, verdict }) =>
      verdict === null ? [] : withRepeats(idx).map((at) => [at, verdict] as const),
    ),
    affiliated: ofWrites(({ affiliated }) => affiliated),
  }
}

/** Returns the status of the answer: 422 if nothing is stored. */
function statusOf(
  { received, rejected, created }: Counts,
  { lenient, form }: Deciding,
): Decision['status'] {
  if (rejected === received || (rejected > 0 && !lenient)) return 422
  if (rejected > 0) return 207
  return form === 'object' && created === 1 ? 201 : 200
}

const isRefusable = ({ isMissing, extras }: Found): boolean => isMissing === 1 || extras?.[1] === 1

function outcomeOf(found: Found, request: Deciding, isFull: boolean): Outcome {
  const { policy } = request
  const isRefused = policy === 'reject' || (isFull && !found.wasHeld)
  if (isRefused && isRefusable(found)) return 'rejected'
  if (found.isStale) return 'stale'
  if (policy === 'hold' && found.isMissing) return 'held'
  if (found.revision === null) return 'created'
  return found.differs || found.moves ? 'updated' : 'unchanged'
}

/** Returns a record of an outcome as it is written; nothing if it is not. */
function writeOf(found: Found, outcome: Outcome | undefined): Write[] {
  if (outcome === 'rejected' || outcome === 'stale' || outcome === 'unchanged') return []
  const isHeld = outcome === 'held' && found.isMissing === 1
  const isNew = found.revision === null
  if (!isNew && !found.differs && !found.moves) return []
  const moves = !isNew && (found.moves === 1 || Number(isHeld) !== found.wasHeld)
  return [{ found, revision: (found.revision ?? 0) + 1, isHeld, moves }]
}
