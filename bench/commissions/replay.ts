import type { D1Database, D1PreparedStatement } from '@cloudflare/workers-types'

/** The path at which a Worker begins to remember its reads (`PUT`), or repeats and forgets them (`POST`). */
export const REPLAY_PATH = '/_replay'

/** A query with its values. */
interface Query {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** The reads since the last `PUT`: each is one round trip. Null: they are not remembered. */
let reads: (readonly Query[])[] | null = null

type Methods = Pick<D1Database, 'prepare' | 'batch'>

/** Wraps a database so that its reads are remembered. */
export function recording(database: D1Database): D1Database {
  const queries = new WeakMap<object, Query & { statement: D1PreparedStatement }>()
  const record = (list: readonly Query[]) => {
    if (list.every(({ sql }) => /^\s*(select|with)\b/i.test(sql))) reads?.push(list)
  }
  const wrap = (statement: D1PreparedStatement, query: Query): D1PreparedStatement => {
    const all = () => {
      record([query])
      return statement.all()
    }
    const bind = (...values: unknown[]) => wrap(statement.bind(...values), { ...query, values })
    const wrapped = { bind, all, run: all } as unknown as D1PreparedStatement
    queries.set(wrapped, { ...query, statement })
    return wrapped
  }
  const methods = (to: Methods): Methods => ({
    prepare: (sql) => wrap(to.prepare(sql), { sql, values: [] }),
    batch: (list) => {
      const known = list.map((one) => queries.get(one)!)
      record(known.map(({ sql, values }) => ({ sql, values })))
      return to.batch(known.map(({ statement }) => statement))
    },
  })
  return {
    ...methods(database),
    withSession: (bookmark: string) => {
      const session = database.withSession(bookmark)
      return { ...methods(session), getBookmark: () => session.getBookmark() }
    },
  } as D1Database
}

/**
 * Repeats the reads and parses their answers, does nothing with them, and forgets the reads. Returns
 * their number.
 */
export async function replay(database: D1Database): Promise<number> {
  const remembered = reads ?? []
  reads = null
  for (const list of remembered) {
    const answers = await database.batch<Record<string, unknown>>(
      list.map(({ sql, values }) => database.prepare(sql).bind(...values)),
    )
    for (const { results } of answers) for (const row of results) parsePacked(row)
  }
  return remembered.length
}

function parsePacked(row: Record<string, unknown>): void {
  for (const value of Object.values(row)) {
    if (typeof value === 'string' && value.startsWith('[')) JSON.parse(value)
  }
}

/** Begins to remember reads. */
export function rememberReads(): void {
  reads = []
}
