import type { Ask } from '../ask.ts'
import type { Entry } from '../books.ts'
import type { Service } from '../service.ts'
import type { Act, Draw } from './draw.ts'
import type { Heard } from './heard.ts'

/** What a lane does as one account. */
export interface Desk {
  acts: readonly Act[]
  /** What it has stored and is not held, for the control totals. */
  entries: () => Entry[]
  /** How many of its records are held. */
  held: () => number
}

/** What a desk works with. */
export interface Place {
  service: Service
  heard: Heard
  draw: Draw
  ask: Ask
  /** What the ids of this lane begin with: no other lane touches them. */
  lane: string
}
