import { withD1Retry } from './retry.ts'

/**
 * Returns a value that always exists, such as the row of an aggregate.
 *
 * @throws Error if it does not: that is a bug in this service.
 */
export function required<T>(value: T | null | undefined, name: string): T {
  if (value === null || value === undefined) throw new Error(`There is no ${name}.`)
  return value
}

/** Runs statements in one transaction, and returns the rows of each. `Rows` has a type for each. */
export async function batchRows<Rows extends readonly unknown[]>(
  db: Pick<D1DatabaseSession, 'batch'>,
  statements: readonly [...{ [I in keyof Rows]: D1PreparedStatement }],
): Promise<{ [I in keyof Rows]: Rows[I][] }> {
  const results = await withD1Retry(() => db.batch([...statements]))
  return results.map((result) => result.results) as { [I in keyof Rows]: Rows[I][] }
}
