import {
  DEFAULT_PRODUCT_FIELD,
  type EventDefinition,
} from '../../platform/directory/event-definitions.ts'
import { type Spelling, toSpelling } from './members.ts'

/** An event definition prepared for lookups; compiled once per request. */
export interface CompiledDefinition
  extends Pick<EventDefinition, 'granularity' | 'eventid' | 'currency' | 'outflow'> {
  kpis: ReadonlySet<string>
  /** The member that carries the product line. */
  productField: string
  /** Product lines by the value of that member; null if values are used as sent. */
  productLines: ReadonlyMap<string, string> | null
  /** The member with the status of the event; null if it has none. */
  statusMember: string | null
  /** The spelling of every member that the definition names. */
  spelling: Spelling
}

/** Returns compiled event definitions by event name. */
export const definitionsByName = (definitions: readonly EventDefinition[]) =>
  new Map(definitions.map((definition) => [definition.eventname, compileDefinition(definition)]))

function compileDefinition({
  granularity,
  eventid,
  currency,
  kpis,
  product,
  status_member: statusMember = null,
  outflow,
}: EventDefinition): CompiledDefinition {
  const productField = product?.field ?? DEFAULT_PRODUCT_FIELD
  return {
    granularity,
    eventid,
    currency,
    outflow,
    kpis: new Set(kpis),
    productField,
    productLines: product && new Map(Object.entries(product.map)),
    statusMember,
    spelling: toSpelling([...kpis, productField, ...(statusMember === null ? [] : [statusMember])]),
  }
}

/** Returns the name of the member that carries the product line of an event. */
export const productFieldOf = (definition: CompiledDefinition | undefined) =>
  definition?.productField ?? DEFAULT_PRODUCT_FIELD
