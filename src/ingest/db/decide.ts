import type { Found } from './find-sql.ts'

/** What happens to records that refer to something unknown. */
export type Policy = 'reject' | 'hold' | 'warn'

/** The outcomes of records (contract §4). */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** The outcome of a record. */
export type Outcome = (typeof OUTCOMES)[number]

/** What a delivery counts: the log has the same. */
export interface DeliveryCounts {
  readonly received: number
  /** Records that are invalid, or that the policy rejects. */
  readonly rejected: number
  /** Equal to `rejected` if the whole request is rejected; 0 if it is lenient. */
  readonly refused: number
  readonly created: number
  readonly updated: number
  readonly held: number
  readonly stale: number
}

/** What becomes of a request. */
export interface Decision {
  readonly counts: DeliveryCounts
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
  readonly received: number
  /** The records that failed validation or concern an archived month, and the number of their errors. */
  readonly invalidCount: number
  readonly errorsTotal: number
  readonly isReused: boolean
  /** How many more records the account may hold. */
  readonly roomToHold: number
  /** The records that concern an archived month. */
  readonly archived: ReadonlySet<number>
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

function decideFor(all: readonly Found[], request: Deciding, isFull: boolean): Decision {
  const { withRepeats, archived, invalidUnknown } = request
  const found = all.filter(({ idx }) => !archived.has(idx))
  const outcomes = new Map<number, Outcome>()
  const unknown = [...invalidUnknown]
  const sums = { created: 0, updated: 0, held: 0, stale: 0, rejected: 0, unchanged: 0 }
  for (const one of found) {
    const outcome = outcomeOf(one, request, isFull)
    const positions = withRepeats(one.idx)
    sums[outcome] += positions.length
    for (const idx of positions) outcomes.set(idx, outcome)
    // At the limit, what is held already stays held.
    if (isFull ? outcome === 'rejected' : isRefusable(one)) unknown.push(...positions)
  }
  const rejected = request.invalidCount + sums.rejected
  const refused = request.isReused ? request.received : request.lenient ? 0 : rejected
  const isStored = refused === 0
  const writes = isStored ? found.flatMap((one) => writeOf(one, outcomes.get(one.idx))) : []
  const isWritten = new Set(writes.map(({ found: { idx } }) => idx))
  const findings = (has: (one: Found) => unknown) =>
    found.filter(has).flatMap(({ idx }) => withRepeats(idx))
  const { created, updated, held, stale } = sums
  const newHeld = writes.filter(({ isHeld, found: { wasHeld } }) => isHeld && !wasHeld).length
  const heldChange = newHeld - writes.filter((one) => !one.isHeld && one.found.wasHeld).length
  const isNew = writes.filter(({ revision }) => revision === 1).length
  return {
    counts: {
      ...{ received: request.received, refused, created, updated, held, stale },
      rejected: request.isReused ? request.received : rejected,
    },
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
    verdicts: found.flatMap(({ idx, verdict }) =>
      verdict === null ? [] : withRepeats(idx).map((at) => [at, verdict] as const),
    ),
    affiliated: new Map(
      writes.flatMap(({ found: { idx, affiliated } }) =>
        affiliated ? withRepeats(idx).map((at) => [at, affiliated] as const) : [],
      ),
    ),
  }
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
