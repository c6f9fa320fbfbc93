import type { FoundPage } from './records/list.ts'

/** Rows of more bytes are not read: the 128 MB of an isolate are for all who ask at once. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024

/** Rows in an order; where they have too many bytes together, each says how many, and no more. */
export function limitBytes(columns: readonly string[], rows: string, order: string): string {
  const bytes = columns.map((name) => `ifnull(octet_length(${name}), 0)`).join(' + ')
  const light = columns.map((name) => `iif(excess is null, ${name}, null) as ${name}`)
  return `
    with p as materialized (${rows}),
    b as materialized (select sum(${bytes}) as bytes from p),
    e as materialized (select iif(bytes > ${MAX_PAGE_BYTES}, bytes, null) as excess from b)
    select ${light.join()}, excess from e cross join p order by ${order}`
}

/** What a page of such rows is if they have too many bytes: nothing, and how many would be fewer. */
export function overByteLimit(rows: readonly Record<string, unknown>[]): FoundPage<never> | null {
  const bytes = Number(rows[0]?.excess ?? 0)
  if (bytes === 0) return null
  // One more is read than shown: it tells whether there is a next page.
  const fewer = Math.max(1, Math.floor((rows.length * MAX_PAGE_BYTES) / bytes) - 1)
  return { data: [], total: 0, last: null, fewer }
}
