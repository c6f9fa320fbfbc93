import type { EventDefinition } from '../db/directory/event-definitions.ts'
import { type Spelling, toSpelling } from './members.ts'

/** The member that says the product line, unless a definition names another. */
export const DEFAULT_PRODUCT_FIELD = 'product'

/** An event definition, made ready once a request for all the records that it judges. */
export interface CompiledDefinition
  extends Pick<EventDefinition, 'granularity' | 'eventid' | 'currency'> {
  kpis: ReadonlySet<string>
  /** The member that says the product line, and what its values mean; null: `product`, as it stands. */
  field: string
  lines: ReadonlyMap<string, string> | null
  /** How all that it names is spelt. */
  spelling: Spelling
}

/** Event definitions by name, made ready. */
export const definitionsByName = (all: readonly EventDefinition[]) =>
  new Map(all.map((one) => [one.eventname, compileDefinition(one)]))

function compileDefinition({
  granularity,
  eventid,
  currency,
  kpis,
  product,
}: EventDefinition): CompiledDefinition {
  const field = product?.field ?? DEFAULT_PRODUCT_FIELD
  return {
    granularity,
    eventid,
    currency,
    kpis: new Set(kpis),
    field,
    lines: product && new Map(Object.entries(product.map)),
    spelling: toSpelling([...kpis, field]),
  }
}

/** The member that says the product line of such events. */
export const productField = (definition: CompiledDefinition | undefined) =>
  definition?.field ?? DEFAULT_PRODUCT_FIELD
