import service, {
  ClientGate,
  ErasureJournal,
  StatementRun as ServiceStatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database, D1PreparedStatement } from '@cloudflare/workers-types'
import { PART_LIMITS, STEP_LIMITS } from '../../src/commission/drafts/limits.ts'

// The service with small steps, whose Workflow asks a gate before and after each of its calls to D1.
// What the calls do is not changed.

Object.assign(STEP_LIMITS, { affiliates: 4 })
Object.assign(PART_LIMITS, { lines: 1 })

interface Bindings {
  readonly DB: D1Database
  /** The URL of the gate. */
  readonly GATE: string
}

type WorkflowClass = new (context: unknown, env: object) => object
type Methods = Pick<D1Database, 'prepare' | 'batch'>
type Around = <T>(sql: string, call: () => Promise<T>) => Promise<T>

const withGate = (Real: WorkflowClass) =>
  class extends Real {
    constructor(context: unknown, env: object) {
      const bindings = env as Bindings
      super(context, { ...bindings, DB: gated(bindings.DB, bindings.GATE) })
    }
  }

function gated(database: D1Database, gate: string): D1Database {
  const ask = async (moment: string, sql: string) => {
    const url = new URL(gate)
    url.searchParams.set('moment', moment)
    url.searchParams.set('sql', sql.trim().slice(0, 200))
    await (await fetch(url)).text()
  }
  const around: Around = async (sql, call) => {
    await ask('before', sql)
    const result = await call()
    await ask('after', sql)
    return result
  }
  const known = new WeakMap<object, { real: D1PreparedStatement; sql: string }>()
  const wrap = (real: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(real.bind(...values), sql),
      all: () => around(sql, () => real.all()),
      run: () => around(sql, () => real.run()),
      raw: () => around(sql, () => real.raw()),
      first: (name: string) =>
        around<unknown>(sql, () => (name === undefined ? real.first() : real.first(name))),
    } as unknown as D1PreparedStatement
    known.set(wrapped, { real, sql })
    return wrapped
  }
  const methods = (to: Methods): Methods => ({
    prepare: (sql) => wrap(to.prepare(sql), sql),
    batch: (list) => {
      const all = list.map((one) => known.get(one)!)
      return around(all[0]?.sql ?? '', () => to.batch(all.map(({ real }) => real)))
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

/** The Workflow of a run, which asks the gate. */
export const StatementRun = withGate(ServiceStatementRun)
export { ClientGate, ErasureJournal, TokenGate }
export default service
