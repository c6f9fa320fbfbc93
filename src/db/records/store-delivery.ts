import { ApiError } from '../../errors.ts'
import { withD1Retry } from '../retry.ts'
import type { Delivery } from '../schema.ts'
import { decideSizes } from './decide-sizes.ts'
import { type BatchVariant, buildBatch } from './delivery-batch.ts'
import type { DeliveryInput, SizeDecision } from './delivery-input.ts'
import { type BatchParts, prepareBatch } from './prepare-batch.ts'
import type { RecordTable } from './record-table.ts'
import { recoverRevisions, type WrittenRecord } from './retry-sql.ts'
import type { SignupWarning } from './signup-warnings-sql.ts'

/** What a request stored: its row in the log, and the revision of each record that was written. */
export interface DeliveryResult {
  delivery: Delivery
  /** By the position of the record; empty if the caller did not ask for outcomes. */
  revisions: ReadonlyMap<number, number>
  /** The positions of events that have replaced one with another name or customer. */
  changedEvents: readonly number[]
  /** What is to be said of the signups of the records' customers. */
  signupWarnings: readonly SignupWarning[]
  /** Whether held records of its customers are still to be released: see `finishReleases`. */
  releasing: boolean
  /** Whether an event for a webhook waits to be sent. */
  notifies: boolean
}

/** How many records a delivery has written so far, and which events it has changed. */
type Counts = Pick<Delivery, 'written' | 'held_written' | 'changed_events'>

/** Whether a release left records to be released later: 1 or 0. */
interface Releasing {
  releasing: number
}

/** Whether the insert of a delivery has written an event for a webhook: 1 or 0. */
interface Notifies {
  notifies?: number
}

/** A row that a statement of the batch returns. */
type StoredRow = Delivery | Counts | WrittenRecord | Releasing | SignupWarning

const isDelivery = (row: StoredRow): row is Delivery => 'received_at' in row
const isCounts = (row: StoredRow): row is Counts => 'written' in row && !isDelivery(row)
const isWritten = (row: StoredRow): row is WrittenRecord => 'revision' in row
const isSignupWarning = (row: StoredRow): row is SignupWarning => 'signup_day' in row
const hasNotified = (row: StoredRow & Notifies) => row.notifies === 1
const isReleasing = (row: StoredRow) => 'releasing' in row && row.releasing === 1

/**
 * Stores one request in one atomic batch: it checks references, logs the delivery, upserts the
 * records that may be stored and adds to the totals. All of that happens, or nothing does. A repeated
 * attempt writes nothing and returns the same result. The rows are taken out of `input`: an isolate
 * has no room for a large request as rows and as parameters.
 *
 * At the quota, a request that changes nothing has its ordinary result, and no row in the log.
 *
 * @throws ApiError `quota_exceeded` if the account stores as much as its quota, `unavailable` while the
 *   account is being reset, if its book zone has just changed, or if others keep changing the same
 *   customers; `payload_too_large` if it would rewrite too many stored bytes.
 */
export async function storeDelivery(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Promise<DeliveryResult> {
  const withRepeats = repeater(input)
  const variants = batchVariants(input)
  const decisions = new Map<unknown, SizeDecision>()
  let parts = prepareBatch(session, table, input)
  let sizeReads = 0
  return withD1Retry(async (attempt) => {
    let rows: StoredRow[] = []
    let row: Delivery | undefined
    // Without a delivery row nothing happened: the next variant is sent. An attempt after a lost response
    // begins with the variant that was sent last.
    for (;;) {
      rows = await runBatch(session, parts, attempt, variants[0])
      row = rows.findLast(isDelivery)
      if (row) break
      // Read the sizes before the next variant is sent: the read costs less than a batch.
      const decided = await decideSizes(parts, decisions)
      if (decided) {
        sizeReads += 1
        if (sizeReads > MAX_SIZE_READS) throw customersAreChanging()
        parts = decided
      } else if (variants.length > 1) variants.shift()
      else throw accountAcceptsNoDeliveries()
    }
    if (row.over_quota !== null) {
      const variant = input.dryRun ? null : { ...variants[0], probes: true as const }
      if (variant) rows = await runBatch(session, parts, attempt, variant)
      const stored = row.over_quota
      row = rows.findLast(isDelivery)
      if (!row || wouldWrite(row, rows)) throw quotaExceeded(stored, input.storageQuota)
    }
    const delivery = { ...row, ...rows.findLast(isCounts) }
    const outcomes = rows
      .filter(isWritten)
      .flatMap((record) => withRepeats(record.idx).map((idx) => ({ ...record, idx })))
    const revisions =
      attempt > 1 && !input.dryRun
        ? recoverRevisions(delivery, outcomes)
        : new Map(outcomes.map(({ idx, revision }) => [idx, revision]))
    const changedEvents = input.dryRun
      ? outcomes.filter((one) => one.changes_kind === 1).map(({ idx }) => idx)
      : (JSON.parse(delivery.changed_events ?? '[]') as number[]).flatMap(withRepeats)
    const notifies = !input.dryRun && rows.some(hasNotified)
    const signupWarnings = rows
      .filter(isSignupWarning)
      .flatMap((one) => withRepeats(one.idx).map((idx) => ({ ...one, idx })))
    const releasing = rows.some(isReleasing)
    return { delivery, revisions, changedEvents, signupWarnings, releasing, notifies }
  })
}

/** Runs a batch and returns the rows that its statements return. */
async function runBatch(
  session: D1DatabaseSession,
  parts: BatchParts,
  attempt: number,
  variant: BatchVariant,
): Promise<StoredRow[]> {
  const results = await session.batch<StoredRow>(buildBatch(parts, attempt, variant))
  return results.flatMap((result) => result.results)
}

/** Returns whether a dry run found a record that would be written. */
const wouldWrite = (row: Delivery, rows: readonly StoredRow[]) =>
  (rows.findLast(isCounts) ?? row).written > 0

/** Returns the error for an account that has reached its quota. Both numbers are bytes; `stored` is an upper bound. */
const quotaExceeded = (stored: number, quota: number) =>
  new ApiError('quota_exceeded', {
    detail: `The account stores an estimated ${stored} bytes; its storage quota is ${quota} bytes. Nothing was stored. The account is now measured: repeat the request after 60 seconds. If it is still refused, ask the integrations team for a larger quota. Reading still works.`,
  })

/**
 * Returns the variants of a request's batch. The first one suits most requests. The second one is for
 * records that move. If the account has as many held records as it may have, the last one rejects the
 * records of unknown customers.
 */
const batchVariants = ({ policy, dryRun }: DeliveryInput): [BatchVariant, ...BatchVariant[]] => [
  { moves: false, policy },
  ...(dryRun ? [] : [{ moves: true, policy }]),
  ...(policy === 'hold' ? [{ moves: true, policy: 'reject' as const }] : []),
]

/** How often other requests may change a customer between a read of the stored sizes and the batch. */
const MAX_SIZE_READS = 5

const RETRY_SECONDS = 5

const customersAreChanging = () =>
  new ApiError('unavailable', {
    detail: `Other requests keep changing the same customers. Nothing was stored. Repeat the request after ${RETRY_SECONDS} seconds, and do not send the same customer in parallel requests.`,
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  })

const CONDITION_SECONDS = 60

const accountAcceptsNoDeliveries = () =>
  new ApiError('unavailable', {
    detail: `The account accepts no deliveries now: its records are being deleted, or its \`book_zone\` has just changed. Nothing was stored. Repeat the request after ${CONDITION_SECONDS} seconds.`,
    headers: { 'Retry-After': String(CONDITION_SECONDS) },
  })

/** Returns a function that returns the position of a record and of those that were merged into it. */
function repeater({ repeats }: Pick<DeliveryInput, 'repeats'>) {
  const byFirst = Map.groupBy(repeats, ([, first]) => first)
  return (first: number): number[] => [first, ...(byFirst.get(first) ?? []).map(([idx]) => idx)]
}
