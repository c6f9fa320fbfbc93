import service, {
  BackgroundJob,
  ClientGate as ServiceClientGate,
  TokenGate as ServiceTokenGate,
} from 'tributary:service'
import type { DurableObjectState } from '@cloudflare/workers-types'
import { countRowsOf, withMeter } from './meter.ts'

// The bundled service with a meter around it.

type ObjectClass = new (state: DurableObjectState, env: unknown) => object

const withWatchedState = (Real: ObjectClass) =>
  class extends Real {
    constructor(state: DurableObjectState, env: unknown) {
      super(state, env)
      Object.defineProperty(this, 'ctx', { value: countRowsOf(state) })
    }
  }

/** The object of a token, with its rows counted. */
export const TokenGate = withWatchedState(ServiceTokenGate)
/** The object of a client or an address, with its rows counted. */
export const ClientGate = withWatchedState(ServiceClientGate)
export { BackgroundJob }
export default withMeter(service)
