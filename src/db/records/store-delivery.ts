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
  const send = (attempt: number) =>
    session.batch<Record<string, unknown>>(buildBatch(batch, attempt, moves))
  return withD1Retry(async (attempt) => {
    let results = await send(attempt)
    if (results.at(-1)?.results.length === 0) {
      // The delivery row is absent, so nothing happened: records move, which is rare, and the batch
      // lacked the statements that move them.
      moves = true
      results = await send(attempt)
    }
    const delivery = results.at(-1)?.results[0] as unknown as Delivery
    const outcomes = results
      .slice(1, -1)
      .flatMap((result) => result.results) as unknown as WrittenRecord[]
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
