import type { EventDefinition } from '../../platform/directory/event-definitions.ts'
import { STATUSES } from '../../platform/directory/status-maps.ts'
import {
  ACTIVITY_FIELDS,
  FACT_LIMITS,
  type FactSelection,
  type StatusMembers,
} from '../db/fact-tables.ts'
import type { FactState } from '../engine/facts.ts'
import type { PlansInForce } from '../engine/plans-in-force.ts'
import { type FactNeeds, factNeeds } from '../plans/fact-needs.ts'

/** The account's status map: from its own statuses to states. */
export type StatusMap = Readonly<Record<string, string>>

/** Returns the state of a status. */
export function stateOf(map: StatusMap, status: string): FactState {
  const word = Object.hasOwn(map, status) ? map[status] : status
  return STATUSES.find((state) => state === word) ?? 'unmapped'
}

/** Returns all statuses, of the account or built in, that mean one of some states. */
export const wordsFor = (map: StatusMap, states: readonly FactState[]): string[] =>
  [...new Set([...Object.keys(map), ...STATUSES])].filter((word) =>
    states.includes(stateOf(map, word)),
  )

/** Returns the member with the status of each event whose definition names one. */
export const statusMembersOf = (definitions: readonly EventDefinition[]): StatusMembers =>
  Object.fromEntries(
    definitions.flatMap(({ eventname, status_member }) =>
      status_member === null ? [] : [[eventname, status_member]],
    ),
  )

/** Returns the currency of each event whose definition names one. */
export const currenciesOf = (definitions: readonly EventDefinition[]) =>
  new Map(
    definitions.flatMap(({ eventname, currency }) =>
      currency === null ? [] : [[eventname, currency] as const],
    ),
  )

/** The settings of an account that decide how records are read. */
export interface ReadSettings {
  readonly statusMap: StatusMap
  /** Whether outflows come negative. */
  readonly signed: boolean
  /** The events whose `Value` comes negative. */
  readonly outflows: ReadonlySet<string>
}

/** Returns which records the plans in force need, and how they are read. */
export function selectFacts(
  { plans }: PlansInForce,
  { statusMap, signed, outflows }: ReadSettings,
): FactSelection {
  const versions = [...plans.values()].flatMap((plan) => plan.versions)
  const needs = factNeeds(versions.map(({ source }) => source))
  const currencies = new Set(versions.map(({ currency }) => currency))
  const [currency = null] = currencies.size === 1 ? currencies : []
  const { transactions, activity } = needs
  return {
    transactions: {
      single: [...transactions.single],
      summed: [...transactions.summed],
      subtypes: needs.subtypes,
      currency,
      signed,
    },
    activity: {
      single: activity.single.size > 0,
      fields: ACTIVITY_FIELDS.filter(
        (field) => activity.single.has(field) || activity.summed.has(field),
      ),
      summed: ACTIVITY_FIELDS.filter((field) => activity.summed.has(field)),
      instruments: needs.instruments,
    },
    events: selectEvents(needs, outflows),
    statuses: {
      single: wordsFor(statusMap, ['approved', 'reversed']),
      summed: wordsFor(statusMap, ['approved']),
    },
  }
}

/** Reads all events one by one if plans name more KPIs than one statement can sum. */
function selectEvents(
  { events: { single, summed }, kpis }: FactNeeds,
  outflows: ReadonlySet<string>,
): FactSelection['events'] {
  return kpis.size > FACT_LIMITS.kpis
    ? { single: [...single, ...summed], summed: [], kpis: [], outflows: [] }
    : {
        single: [...single],
        summed: [...summed],
        kpis: [...kpis],
        outflows: [...outflows].filter((name) => summed.has(name)),
      }
}
