import { ApiError } from '../../errors.ts'
import type { SizeDecision } from './delivery-input.ts'
import type { SizeLimit } from './extras-limits.ts'
import { repeatedRows } from './json-chunks.ts'
import { lookupParts } from './lookup-parts.ts'
import type { BatchParts } from './prepare-batch.ts'

/** The bytes of stored members that one query reads, unless those of a single record are more. */
const MAX_BYTES = 1024 * 1024

interface UndecidedRow {
  /** Null in the row about the request. */
  key: unknown
  /** Of the stored members. */
  bytes: number
  /** 1 or 0 in the row about the request. */
  rewrites_too_much: number | null
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
 *
 * @throws ApiError `payload_too_large` if the request would rewrite too many stored bytes.
 */
export async function decideSizes(
  parts: BatchParts,
  decisions: Map<unknown, SizeDecision>,
): Promise<BatchParts | null> {
  const { bind, statements, table, input, lookup, chunkValues } = parts
  const { sizeLimit } = table
  if (!statements.sizes || !input.sizes || !sizeLimit) return null
  const { isTooLarge, toRows } = input.sizes
  const { selectUndecided, selectStored } = statements.sizes
  const { account } = input
  const select = bind(selectUndecided(lookup.length), { account, ...chunkValues })
  const { results } = await select.all<UndecidedRow>()
  const undecided = results.filter(({ key }) => key !== null)
  if (results.some((row) => row.rewrites_too_much === 1)) throw rewritesTooMuch(sizeLimit)
  if (undecided.length === 0) return null
  const decide = ({ key, delivery, members }: StoredRow) =>
    decisions.set(key, { delivery, isTooLarge: isTooLarge(key, members) })
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
  const rows = toRows(decisions)
  const flaggedRows = repeatedRows(rows, input.repeats)
  return { ...parts, ...lookupParts(table, statements, { rows, flaggedRows }) }
}

/**
 * Returns the error of a request that would rewrite too much. It names a number of records with which a
 * request never exceeds the limit.
 */
const rewritesTooMuch = ({ maxRewritten, maxBytes }: SizeLimit) =>
  new ApiError('payload_too_large', {
    detail: `This request would rewrite more than ${maxRewritten} bytes of stored additional fields. Nothing was stored. Send at most ${Math.floor(maxRewritten / maxBytes)} records in each request.`,
  })

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
