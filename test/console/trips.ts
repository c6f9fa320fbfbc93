import type { D1Database, D1PreparedStatement } from '@cloudflare/workers-types'
import { overriding, overridingSessions } from '../overriding.ts'

type Run = <T>(call: () => Promise<T>) => Promise<T>

/** Returns a database whose calls are made through `run`. */
function callsThrough(db: D1Database, run: Run): D1Database {
  const statements = new WeakMap<object, D1PreparedStatement>()
  const wrap = (real: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = overriding(real, {
      bind: (...values: unknown[]) => wrap(real.bind(...values)),
      all: () => run(() => real.all()),
      run: () => run(() => real.run()),
      first: (column?: string) =>
        run<unknown>(() => (column === undefined ? real.first() : real.first(column))),
      raw: () => run(() => real.raw()),
    })
    statements.set(wrapped, real)
    return wrapped
  }
  return overridingSessions(db, (real) => ({
    prepare: (text: string) => wrap(real.prepare(text)),
    batch: (list: D1PreparedStatement[]) =>
      run(() => real.batch(list.map((statement) => statements.get(statement)!))),
  }))
}

/**
 * Returns a database that counts round trips: calls that wait for each other. Calls that are made at the
 * same time are one trip: their answers are held back until all have arrived, so the count does not
 * depend on which answer is faster.
 */
export function countTrips(db: D1Database): { db: D1Database; trips: () => number } {
  let trips = 0
  let open = 0
  let arrived = Promise.withResolvers<void>()
  const run: Run = async (call) => {
    if (open === 0) {
      trips += 1
      arrived = Promise.withResolvers()
    }
    open += 1
    const all = arrived
    try {
      const answer = await call()
      // A session waits for a turn before it calls: see `gathering`.
      await scheduler.wait(5)
      return answer
    } finally {
      open -= 1
      if (open === 0) all.resolve()
      await all.promise
    }
  }
  return { db: callsThrough(db, run), trips: () => trips }
}
