import {
  type EventDefinition,
  isProductName,
  PRODUCTS,
  productFieldOf,
} from '../../platform/directory/event-definitions.ts'
import { KNOWN_MEMBERS } from '../db/record-table.ts'
import { type Spelling, toSpelling } from './members.ts'

/** An event definition prepared for lookups; compiled once per request. */
export interface CompiledDefinition
  extends Pick<EventDefinition, 'granularity' | 'eventid' | 'currency' | 'outflow'> {
  kpis: ReadonlySet<string>
  /** The member that carries the product line; null if it is `product`, in any letter case. */
  productField: string | null
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

function compileDefinition(definition: EventDefinition): CompiledDefinition {
  const { granularity, eventid, currency, kpis, product, outflow } = definition
  const { status_member: statusMember = null } = definition
  const productField = productFieldOf(definition)
  return {
    granularity,
    eventid,
    currency,
    outflow,
    kpis: new Set(kpis),
    productField,
    productLines: product && new Map(Object.entries(product.map)),
    statusMember,
    spelling: toSpelling([
      ...KNOWN_MEMBERS,
      ...kpis,
      productField ?? 'product',
      ...(statusMember === null ? [] : [statusMember]),
    ]),
  }
}

/**
 * Returns the members with the product line of an event: that of its definition, or `product` in any letter case, in
 * small letters first.
 */
export function productMembersOf(
  members: ReadonlyMap<string, unknown>,
  definition: CompiledDefinition | undefined,
): string[] {
  const named = definition?.productField
  return [...members.keys()]
    .filter((name) => (named ? name === named : isProductName(name)))
    .sort((a, b) => Number(b === 'product') - Number(a === 'product'))
}

/** Returns the product line that a word means: that of the map, or one of the four in any letter case. */
export const productLineOf = (
  word: string,
  definition: CompiledDefinition | undefined,
): string | undefined => definition?.productLines?.get(word) ?? wordOf(word)

/**
 * Returns what tells the daily totals of a product from those of others: the word as sent, for several words may mean
 * one line. Letter case does not count in the four words.
 */
export const productIdentityOf = (word: unknown): unknown =>
  (typeof word === 'string' && wordOf(word)) || word

const wordOf = (word: string) => PRODUCTS.find((line) => line === word.toLowerCase())
