import service, {
  ClientGate as ServiceClientGate,
  TokenGate as ServiceTokenGate,
} from 'tributary:service'
import type { DurableObjectState } from '@cloudflare/workers-types'
import { metered, watchState } from './meter.ts'

// The bundled service with a meter around it.

type ObjectClass = new (state: DurableObjectState, env: unknown) => object

const watching = (Real: ObjectClass) =>
  class extends Real {
    constructor(state: DurableObjectState, env: unknown) {
      super(state, env)
      Object.defineProperty(this, 'ctx', { value: watchState(state) })
    }
  }

/** The object of a token, with its rows counted. */
export const TokenGate = watching(ServiceTokenGate)
/** The object of a client or an address, with its rows counted. */
export const ClientGate = watching(ServiceClientGate)
export default metered(service)
