import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database, ExportedHandler } from '@cloudflare/workers-types'
import { aroundCalls } from '../../bench/around-calls.ts'
import { FAILING_PATH } from './failing-path.ts'

// The service with several databases, of which some fail: every call to them throws.

// workerd runs the Worker in one isolate, so all requests share this list.
let failing: readonly string[] = []

const withFaults = (env: object): object =>
  Object.fromEntries(
    Object.entries(env).map(([name, binding]) => [
      name,
      /^DB(_\d+)?$/.test(name) ? withFault(name, binding as D1Database) : binding,
    ]),
  )

const withFault = (name: string, database: D1Database) =>
  aroundCalls(database, (_, call) => {
    if (failing.includes(name)) throw new Error('D1_ERROR: Network connection lost.')
    return call()
  })

const real = service as Required<ExportedHandler>

export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, StatementRun, TokenGate }
export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === FAILING_PATH) {
      failing = await request.json<string[]>()
      return Response.json(failing) as never
    }
    return real.fetch(request, withFaults(env as object), context)
  },
  queue: (batch, env, context) => real.queue(batch, withFaults(env as object), context),
  scheduled: (event, env, context) => real.scheduled(event, withFaults(env as object), context),
} satisfies ExportedHandler
