import type { BatchParts } from './delivery-batch.ts'
import { lookupParts } from './lookup-parts.ts'
import type { StoredSizes } from './sizes-sql.ts'

/** The keys of one query: each can have 64 KiB of names, and an isolate has 128 MB of memory. */
const MAX_KEYS = 50

interface StoredRow {
  key: unknown
  delivery: string
  sizes: string
}

/**
 * Reads the stored sizes of the records that the classification could not decide on into `stored`.
 * Returns the parts with the decisions of the Worker, or null if there is no such record.
 */
export async function decideSizes(
  parts: BatchParts,
  stored: Map<unknown, StoredSizes>,
): Promise<BatchParts | null> {
  const { bind, statements, table, input, lookup, flagged, chunkValues } = parts
  if (!statements.sizes || !input.decideSizes) return null
  const { selectUndecided, selectStored } = statements.sizes
  const { account } = input
  const chunks = { lookup: lookup.length, flagged: flagged.length }
  const select = bind(selectUndecided(chunks), { account, ...chunkValues })
  const { results } = await select.all<Pick<StoredRow, 'key'>>()
  if (results.length === 0) return null
  const undecided = results.map(({ key }) => key)
  for (const key of undecided) stored.set(key, { delivery: '', sizes: new Map() })
  for (let i = 0; i < undecided.length; i += MAX_KEYS) {
    const keys = JSON.stringify(undecided.slice(i, i + MAX_KEYS))
    const page = await bind(selectStored, { account, keys }).all<StoredRow>()
    for (const { key, delivery, sizes } of page.results) {
      stored.set(key, { delivery, sizes: new Map<string, number>(JSON.parse(sizes)) })
    }
  }
  const { rows, repeatedRows } = input.decideSizes(stored)
  return { ...parts, ...lookupParts(table, statements, { rows, flaggedRows: repeatedRows }) }
}
