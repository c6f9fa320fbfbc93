import { COPY_LIMITS, CopyRefused } from './place.ts'
import { type Description, describeTables, type MovedTable } from './tables.ts'

/** The statements that `describePair` runs. */
const DESCRIBED = 6

/** An account that moves, and what its step may still do. */
export interface Pair {
  readonly source: D1Database
  readonly target: D1Database
  readonly account: string
  /** The tables of both databases. Without the audit log if the source is the directory: its entries stay there. */
  readonly tables: readonly MovedTable[]
  /** How many queries and pages the step may still use. */
  readonly left: { queries: number; pages: number }
}

/** Returns what is the same in two databases with the same migrations. */
const shapeOf = ({ tables }: Description): string =>
  JSON.stringify(
    tables.map(({ triggers, ...table }) => {
      return { ...table, triggers: triggers.map(({ name, sql }) => `${name} ${sql}`).sort() }
    }),
  )

/**
 * Begins a step between two databases.
 *
 * @throws CopyRefused if their tables or triggers differ.
 */
export async function describePair(
  source: D1Database,
  target: D1Database,
  account: string,
): Promise<Pair> {
  const [from, to] = await Promise.all([describeTables(source), describeTables(target)])
  if (shapeOf(from) !== shapeOf(to)) throw new CopyRefused('tables_differ')
  // Those of the target: its triggers are dropped and created again, in the order that they have there.
  const tables = to.tables.filter(({ name }) => !(from.isDirectory && name === 'audit_log'))
  const left = { queries: COPY_LIMITS.queries - DESCRIBED, pages: COPY_LIMITS.pages }
  return { source, target, account, tables, left }
}
