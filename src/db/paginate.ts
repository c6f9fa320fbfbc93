import type { FoundPage, Page } from './records/list.ts'
import { withD1Retry } from './retry.ts'

/** A list that goes by one column: its rows and their number, each with its condition at the end. */
interface Listed {
  rows: string
  total: string
  values: readonly unknown[]
  key: string
}

/** One page of such a list, in the order of its key: it reads as many rows as it shows. */
export async function paginateByColumn<T>(
  db: D1Database,
  { rows, total, values, key }: Listed,
  { number, size, after }: Page,
): Promise<FoundPage<T>> {
  const offset = after ? 0 : (number - 1) * size
  const [found, counted] = await withD1Retry(() =>
    db.batch<Record<string, unknown>>([
      db
        .prepare(
          `${rows} and ${key} > ?${values.length + 1}
           order by ${key} limit ${size + 1} offset ${offset}`,
        )
        .bind(...values, after?.[0] ?? ''),
      db.prepare(total).bind(...values),
    ]),
  )
  const data = found!.results.slice(0, size)
  return {
    data: data as T[],
    total: Number(counted!.results[0]?.total ?? 0),
    last: found!.results.length > size ? [String(data.at(-1)![key])] : null,
  }
}
