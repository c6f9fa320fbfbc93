import type { D1Database, D1PreparedStatement } from '@cloudflare/workers-types'

/** A query with its values. */
export interface Query {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** Makes one round trip to a database by `call`. */
export type Around = <T>(queries: readonly Query[], call: () => Promise<T>) => Promise<T>

type Methods = Pick<D1Database, 'prepare' | 'batch'>

/** Returns a database that hands each of its round trips to `around`. */
export function aroundCalls(database: D1Database, around: Around): D1Database {
  const known = new WeakMap<object, Query & { real: D1PreparedStatement }>()
  const wrap = (real: D1PreparedStatement, query: Query): D1PreparedStatement => {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(real.bind(...values), { ...query, values }),
      all: () => around([query], () => real.all()),
      run: () => around([query], () => real.run()),
      raw: () => around([query], () => real.raw()),
      first: (name: string) =>
        around<unknown>([query], () => (name === undefined ? real.first() : real.first(name))),
    } as unknown as D1PreparedStatement
    known.set(wrapped, { ...query, real })
    return wrapped
  }
  const methods = (to: Methods): Methods => ({
    prepare: (sql) => wrap(to.prepare(sql), { sql, values: [] }),
    batch: (list) => {
      const all = list.map((one) => known.get(one)!)
      const queries = all.map(({ sql, values }) => ({ sql, values }))
      return around(queries, () => to.batch(all.map(({ real }) => real)))
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
