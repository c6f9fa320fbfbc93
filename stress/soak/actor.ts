import type { RequestSender } from '../ask.ts'
import type { Entry } from '../books.ts'
import type { Service } from '../service.ts'
import type { Draw, WeightedAction } from './draw.ts'
import type { ResponseLog } from './response-log.ts'

/** The actions of a lane on one account. */
export interface Actor {
  actions: readonly WeightedAction[]
  /** Returns the stored records that are not held, for the control totals. */
  entries: () => Entry[]
  /** Returns the number of held records. */
  held: () => number
}

/** The tools of an actor. */
export interface ActorContext {
  service: Service
  responses: ResponseLog
  draw: Draw
  ask: RequestSender
  /** The prefix of the ids of this lane. No other lane writes them. */
  lane: string
}
