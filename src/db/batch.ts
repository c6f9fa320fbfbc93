import { withD1Retry } from './retry.ts'

/** A database, or a session of one. */
type Batching = Pick<D1DatabaseSession, 'batch'>

/**
 * Runs statements in one batch. Returns the rows of each. `Lists` are their types: `[Row]` of a
 * statement that always has one row.
 */
export async function readBatch<Lists extends readonly unknown[][]>(
  db: Batching,
  statements: readonly D1PreparedStatement[] & { readonly [K in keyof Lists]: unknown },
): Promise<Lists> {
  const found = await withD1Retry(() => db.batch([...statements]))
  return found.map(({ results }) => results) as unknown as Lists
}

/** Returns each item with the element at its place in a list of the same length. */
export const pairs = <Item, Other>(items: readonly Item[], others: readonly Other[]) =>
  items.map((item, i) => [item, others[i] as Other] as const)

/**
 * Returns the value of a key.
 *
 * @throws Error if the map does not have the key.
 */
export function lookUp<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new Error('A row that belongs to another one is missing.')
  return value
}

/**
 * Returns a value that always exists, such as the row of an aggregate.
 *
 * @throws Error if it does not: that is a bug in this service.
 */
export function required<T>(value: T | null | undefined, name: string): T {
  if (value === null || value === undefined) throw new Error(`There is no ${name}.`)
  return value
}
