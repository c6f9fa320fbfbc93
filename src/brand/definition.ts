import type { EventDefinition } from '../db/directory/event-definitions.ts'
import { type Spelling, spellingOf } from './members.ts'

/** The member that says the product line, unless a definition names another. */
export const PRODUCT = 'product'

/** An event definition, made ready once a request for all the records that it judges. */
export interface Definition extends Pick<EventDefinition, 'granularity' | 'eventid' | 'currency'> {
  kpis: ReadonlySet<string>
  /** The member that says the product line, and what its values mean; null: `product`, as it stands. */
  field: string
  lines: ReadonlyMap<string, string> | null
  /** How all that it names is spelt. */
  spelling: Spelling
}

/** Event definitions by name, made ready. */
export const definitionsByName = (all: readonly EventDefinition[]) =>
  new Map(all.map((one) => [one.eventname, ready(one)]))

function ready({ granularity, eventid, currency, kpis, product }: EventDefinition): Definition {
  const field = product?.field ?? PRODUCT
  return {
    granularity,
    eventid,
    currency,
    kpis: new Set(kpis),
    field,
    lines: product && new Map(Object.entries(product.map)),
    spelling: spellingOf([...kpis, field]),
  }
}

/** The member that says the product line of such events. */
export const productField = (definition: Definition | undefined) => definition?.field ?? PRODUCT
