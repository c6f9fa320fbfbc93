import service, {
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  AccountMove as RealMove,
  StatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database, ExecutionContext, ExportedHandler } from '@cloudflare/workers-types'
import { aroundCalls } from '../../bench/around-calls.ts'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { MOVE_LIMITS } from '../../src/admin/move-limits.ts'
import { CRON_PATH, LONGER_MS } from './shared.ts'

// The service, which deletes the old copy of a confirmed move at once, and refuses writes for longer: locally the
// steps of a move leave workerd little time to read new requests. Its cron runs when a request asks for it:
// to start it, Miniflare would stop the program, and its writers, until it has ended.

MOVE_LIMITS.leastMs = 0

/** Returns a database that waits once it has begun to refuse writes. */
const withLongerPause = (database: D1Database) =>
  aroundCalls(database, async (queries, call) => {
    const result = await call()
    const closes = queries.some(({ sql }) => /update move_sources set closed_at = max/.test(sql))
    if (closes) await scheduler.wait(LONGER_MS)
    return result
  })

class AccountMove extends RealMove {
  constructor(context: ExecutionContext, env: Env) {
    const databases = Object.entries(env)
      .filter(([name]) => name.startsWith('DB_'))
      .map(([name, database]) => [name, withLongerPause(database)])
    super(context, { ...env, ...Object.fromEntries(databases) })
  }
}

const real = service as Required<ExportedHandler>

export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, StatementRun, TokenGate }
export default {
  ...real,
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== CRON_PATH) return real.fetch(request, env, context)
    const scheduledTime = await request.json<number>()
    const event = { cron: CRON_SCHEDULES.propagate, scheduledTime, noRetry() {} }
    await real.scheduled(event as never, env, context)
    return Response.json(null) as never
  },
} satisfies ExportedHandler
