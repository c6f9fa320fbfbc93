import { type CopyPlace, type Difference, notBuilt } from './place.ts'

/**
 * Compares the next rows of an account in both databases, byte for byte. Begins with the place null; returns
 * the differences, without rows whose change is noted and not copied yet, and the place at which the next
 * step goes on, or null once every table is compared.
 */
export const compareStep = (
  _source: D1Database,
  _target: D1Database,
  _account: string,
  _place: CopyPlace | null,
): Promise<{ differences: readonly Difference[]; next: CopyPlace | null }> => notBuilt()

/**
 * Compares, while the account's writes are refused: the rows of each table, control totals, sums of the
 * ledger, and the hashes of statements. Returns the names of what differs. No step that began before can write
 * the copy any more.
 */
export const finalCheck = (
  _source: D1Database,
  _target: D1Database,
  _account: string,
): Promise<readonly string[]> => notBuilt()
