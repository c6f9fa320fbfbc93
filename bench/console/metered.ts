import service, { ClientGate, ErasureJournal, StatementRun, TokenGate } from 'tributary:service'
import type { ExecutionContext, ExportedHandler } from '@cloudflare/workers-types'
import { METER_PATH, withMeter } from '../cost/meter.ts'
import { COUNTED, TRIPS_PATH } from './paths.ts'
import { countTrips, takeTrips } from './trips.ts'

// The bundled service. It counts rows and round trips of requests that ask for it; the others are as fast
// as they are without a meter.

const metered = withMeter(service)

export { ClientGate, ErasureJournal, StatementRun, TokenGate }
export default {
  async fetch(request, env, context: ExecutionContext) {
    const { pathname } = new URL(request.url)
    if (pathname === TRIPS_PATH) return Response.json({ trips: takeTrips() }) as never
    if (pathname !== METER_PATH && !request.headers.has(COUNTED)) {
      return service.fetch!(request, env, context)
    }
    return metered.fetch!(request, countTrips(env as Parameters<typeof countTrips>[0]), context)
  },
} satisfies ExportedHandler
