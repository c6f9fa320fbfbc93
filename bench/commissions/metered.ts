import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun as ServiceStatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database, ExecutionContext, ExportedHandler } from '@cloudflare/workers-types'
import { watched, withMeter } from '../cost/meter.ts'
import { CLOCK_PATH, REPLAY_PATH, recording, rememberReads, replay, setClock } from './replay.ts'

// The bundled service with a meter around it and around its Workflow. Its reads can be repeated.

interface Bindings {
  readonly DB: D1Database
}

type WorkflowClass = new (context: unknown, env: object) => object

const recorded = (env: unknown): Bindings => {
  const bindings = env as Bindings
  return { ...bindings, DB: recording(bindings.DB) }
}

const withWatchedBindings = (Real: WorkflowClass) =>
  class extends Real {
    constructor(context: unknown, env: object) {
      super(context, watched(recorded(env)))
    }
  }

const metered = withMeter(service)

/** The Workflow of a run, with the rows of its database counted. */
export const StatementRun = withWatchedBindings(ServiceStatementRun)
export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, TokenGate }
export default {
  ...metered,
  async fetch(request, env, context: ExecutionContext) {
    const { pathname } = new URL(request.url)
    if (pathname === CLOCK_PATH) {
      setClock((await request.json()) as number | null)
      return new Response() as never
    }
    if (pathname !== REPLAY_PATH) {
      return metered.fetch!(request, recorded(env), context)
    }
    if (request.method === 'PUT') rememberReads()
    const trips = request.method === 'POST' ? await replay((env as Bindings).DB) : 0
    return Response.json({ trips }) as never
  },
} satisfies ExportedHandler
