import type { D1Database, D1PreparedStatement, D1Result } from '@cloudflare/workers-types'

let trips = 0
let open = 0
let arrived = Promise.withResolvers<void>()

/** Returns the round trips since the last call. */
export function takeTrips(): number {
  const counted = trips
  trips = 0
  return counted
}

/**
 * Runs a call to D1. Calls that are made at the same time are one round trip: their answers are held back
 * until all have arrived.
 */
async function run<T>(call: () => Promise<T>): Promise<T> {
  if (open === 0) {
    trips += 1
    arrived = Promise.withResolvers()
  }
  open += 1
  const all = arrived
  try {
    return await call()
  } finally {
    open -= 1
    if (open === 0) all.resolve()
    await all.promise
  }
}

const statements = new WeakMap<object, D1PreparedStatement>()

function wrap(real: D1PreparedStatement): D1PreparedStatement {
  // The meter around this database calls no other methods.
  const wrapped = {
    bind: (...values: unknown[]) => wrap(real.bind(...values)),
    all: () => run(() => real.all()),
  } as D1PreparedStatement
  statements.set(wrapped, real)
  return wrapped
}

const methods = (real: Pick<D1Database, 'prepare' | 'batch'>) => ({
  prepare: (sql: string) => wrap(real.prepare(sql)),
  batch: <T>(list: D1PreparedStatement[]): Promise<D1Result<T>[]> =>
    run(() => real.batch<T>(list.map((statement) => statements.get(statement)!))),
})

/** Returns the bindings of a Worker with a database that counts round trips. */
export function countTrips<T extends { readonly DB: D1Database }>(env: T): T {
  const { DB } = env
  const counted = {
    ...methods(DB),
    withSession: (bookmark: string) => {
      const session = DB.withSession(bookmark)
      return { ...methods(session), getBookmark: () => session.getBookmark() }
    },
  }
  return { ...env, DB: counted }
}
