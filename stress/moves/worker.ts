import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun,
  TokenGate,
} from 'tributary:service'
import type { ExportedHandler } from '@cloudflare/workers-types'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { PAUSE_LIMITS } from '../../src/admin/move-limits.ts'
import { CRON_PATH } from './cron-path.ts'

// The service, which deletes the old copy of a confirmed move at once. Its cron runs when a request asks for it:
// to start it, Miniflare would stop the program, and its writers, until it has ended.

PAUSE_LIMITS.leastMs = 0

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
