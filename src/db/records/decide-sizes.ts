import type { BatchParts } from './delivery-batch.ts'
import type { SizeDecision } from './delivery-input.ts'
import { lookupParts } from './lookup-parts.ts'

/** The bytes of stored members that one query reads, unless those of a single record are more. */
const MAX_BYTES = 1024 * 1024

interface UndecidedRow {
  key: unknown
  /** Of the stored members. */
  bytes: number
}

interface StoredRow {
  key: unknown
  delivery: string
  members: string | null
}

/**
 * Decides about the records that the classification could not decide on. Adds to `decisions` and
 * returns the parts with all of them, or null if there is no such record. Reads what is stored in
 * pages and keeps only the decisions: an isolate has no room for the members of 1000 records.
 */
export async function decideSizes(
  parts: BatchParts,
  decisions: Map<unknown, SizeDecision>,
): Promise<BatchParts | null> {
  const { bind, statements, table, input, lookup, flagged, chunkValues } = parts
  if (!statements.sizes || !input.sizes) return null
  const { findTooLarge, toRows } = input.sizes
  const { selectUndecided, selectStored } = statements.sizes
  const { account } = input
  const chunks = { lookup: lookup.length, flagged: flagged.length }
  const select = bind(selectUndecided(chunks), { account, ...chunkValues })
  const { results: undecided } = await select.all<UndecidedRow>()
  if (undecided.length === 0) return null
  const decide = ({ key, delivery, members }: StoredRow) =>
    decisions.set(key, { delivery, tooLarge: findTooLarge(key, members) })
  for (const page of pagesOf(undecided)) {
    const missing = new Set(page)
    const keys = JSON.stringify(page)
    const { results } = await bind(selectStored, { account, keys }).all<StoredRow>()
    for (const row of results) {
      decide(row)
      missing.delete(row.key)
    }
    for (const key of missing) decide({ key, delivery: '', members: null })
  }
  const { rows, repeatedRows } = toRows(decisions)
  return { ...parts, ...lookupParts(table, statements, { rows, flaggedRows: repeatedRows }) }
}

/** Returns the keys in pages whose stored members have about `MAX_BYTES`. */
function* pagesOf(undecided: readonly UndecidedRow[]): Generator<unknown[]> {
  let page: unknown[] = []
  let total = 0
  for (const { key, bytes } of undecided) {
    if (page.length > 0 && total + bytes > MAX_BYTES) {
      yield page
      page = []
      total = 0
    }
    page.push(key)
    total += bytes
  }
  yield page
}
