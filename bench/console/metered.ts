import service, {
  AccountMove,
  BackgroundJob,
  ClientGate,
  ErasureJournal,
  StatementRun,
  TokenGate,
} from 'tributary:service'
import type { D1Database, ExecutionContext, ExportedHandler } from '@cloudflare/workers-types'
import { countTrips } from '../../test/console/trips.ts'
import { METER_PATH, withMeter } from '../cost/meter.ts'
import { COUNTED, TRIPS_PATH, type Trips } from './paths.ts'

// The bundled service. It counts rows and round trips of requests that ask for it; the others are as fast
// as they are without a meter.

const metered = withMeter(service)

/** Returns the round trips of the last request that was counted. */
let takeTrips = (): Trips => ({ shown: 0, all: 0 })

export { AccountMove, BackgroundJob, ClientGate, ErasureJournal, StatementRun, TokenGate }
export default {
  async fetch(request, env, context: ExecutionContext) {
    const { pathname } = new URL(request.url)
    if (pathname === TRIPS_PATH) return Response.json(takeTrips()) as never
    if (pathname === METER_PATH) return metered.fetch!(request, env, context)
    if (!request.headers.has(COUNTED)) return service.fetch!(request, env, context)
    const { DB } = env as { DB: D1Database }
    const { db, trips } = countTrips(DB)
    const response = await metered.fetch!(request, { ...(env as object), DB: db }, context)
    // The response has its first part, which the browser shows while the others are computed.
    const shown = trips()
    takeTrips = () => ({ shown, all: trips() })
    return response
  },
} satisfies ExportedHandler
