import { withD1Retry } from '../retry.ts'
import type { Delivery } from '../schema.ts'
import { buildBatch, prepareBatch } from './delivery-batch.ts'
import type { DeliveryInput } from './delivery-input.ts'
import type { Row } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { recoverRevisions, type WrittenRecord } from './retry-sql.ts'

/** What a request stored: its row in the log, and the revision of each record that was written. */
export interface DeliveryResult {
  delivery: Delivery
  /** By the position of the record; empty if the caller did not ask for outcomes. */
  revisions: ReadonlyMap<number, number>
}

/** How many records a delivery has written so far. */
type Counts = Pick<Delivery, 'written' | 'held_written'>

/** A row that a statement of the batch returns. */
type StoredRow = Delivery | Counts | WrittenRecord

const isDelivery = (row: StoredRow): row is Delivery => 'received_at' in row
const isCounts = (row: StoredRow): row is Counts => 'written' in row && !isDelivery(row)
const isWritten = (row: StoredRow): row is WrittenRecord => 'revision' in row

/**
 * Stores one request in one atomic batch: it checks references, logs the delivery, upserts the
 * records that may be stored and adds to the totals. All of that happens, or nothing does. A repeated
 * attempt writes nothing and returns the same result. The rows are taken out of `input`: an isolate
 * has no room for a large request as rows and as parameters.
 */
export async function storeDelivery(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Promise<DeliveryResult> {
  const correctRevisions = input.dryRun ? dryRunCorrection(input, table) : null
  const batch = prepareBatch(session, table, input)
  let moves = false
  const send = async (attempt: number) => {
    const results = await session.batch<StoredRow>(buildBatch(batch, attempt, moves))
    return results.flatMap((result) => result.results)
  }
  return withD1Retry(async (attempt) => {
    let rows = await send(attempt)
    if (!rows.some(isDelivery)) {
      // The delivery row is absent, so nothing happened: records move, which is rare, and the batch
      // lacked the statements that move them.
      moves = true
      rows = await send(attempt)
    }
    const row = rows.findLast(isDelivery)
    if (!row) throw new Error('The batch returned no delivery row.')
    const delivery = { ...row, ...rows.findLast(isCounts) }
    const outcomes = rows.filter(isWritten)
    const revisions =
      attempt > 1 && !input.dryRun
        ? recoverRevisions(delivery, outcomes)
        : new Map(outcomes.map(({ idx, revision }) => [idx, revision]))
    correctRevisions?.(revisions)
    return { delivery, revisions }
  })
}

/**
 * Returns a function that corrects the revisions of a dry run. A dry run stores nothing, so a
 * repeated key looks new each time. Only its first record is `created`; later ones become `updated`.
 */
function dryRunCorrection({ rows, repeatedRows }: DeliveryInput, table: RecordTable) {
  const keyOf = ({ values }: Row) => JSON.stringify(table.key.map((name) => values[name]))
  return (revisions: Map<number, number>) => {
    const isCreated = ({ idx }: Row) => revisions.get(idx) === 1
    const created = new Set(repeatedRows.length > 0 ? rows.filter(isCreated).map(keyOf) : [])
    for (const row of repeatedRows.filter(isCreated)) {
      if (created.has(keyOf(row))) revisions.set(row.idx, 2)
      created.add(keyOf(row))
    }
  }
}
