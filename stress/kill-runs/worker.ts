import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun as ServiceStatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database } from '@cloudflare/workers-types'
import { aroundCalls } from '../../bench/around-calls.ts'
import { PART_LIMITS, STEP_LIMITS } from '../../src/commission/statements/limits.ts'

// The service with small steps, whose Workflow asks a barrier before and after each of its calls to D1.
// What the calls do is not changed.

Object.assign(STEP_LIMITS, { affiliates: 4 })
Object.assign(PART_LIMITS, { lines: 1 })

interface Bindings {
  readonly DB: D1Database
  /** The URL of the barrier. */
  readonly BARRIER: string
}

type WorkflowClass = new (context: unknown, env: object) => object

const withBarrier = (Real: WorkflowClass) =>
  class extends Real {
    constructor(context: unknown, env: object) {
      const bindings = env as Bindings
      super(context, { ...bindings, DB: withPauses(bindings.DB, bindings.BARRIER) })
    }
  }

function withPauses(database: D1Database, barrier: string): D1Database {
  const ask = async (moment: string, sql: string) => {
    const url = new URL(barrier)
    url.searchParams.set('moment', moment)
    url.searchParams.set('sql', sql.trim().slice(0, 200))
    await (await fetch(url)).text()
  }
  return aroundCalls(database, async ([query], call) => {
    const sql = query?.sql ?? ''
    await ask('before', sql)
    const result = await call()
    await ask('after', sql)
    return result
  })
}

/** The Workflow of a run, which asks the barrier. */
export const StatementRun = withBarrier(ServiceStatementRun)
export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, TokenGate }
export default service
