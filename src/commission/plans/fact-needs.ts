import type {
  ActivityField,
  ActivityKind,
  Conditions,
  EventKind,
  PlanTerms,
  Term,
  TransactionKind,
} from './types.ts'

type Kind = TransactionKind | ActivityKind | EventKind

/** Facts that a plan names, with the pointer to the object that names them. */
interface NamedFacts {
  pointer: string
  kind: Kind
}

/** Conditions of a plan, with their pointer. */
interface NamedConditions {
  pointer: string
  conditions: Conditions
}

/** The terms of a base or a sum, with their pointer. */
interface NamedBase {
  pointer: string
  terms: readonly Term[]
}

/** Everything in a plan that names facts, their fields or terms. */
export interface PlanNames {
  bases: NamedBase[]
  facts: NamedFacts[]
  conditions: NamedConditions[]
}

/** Returns what a plan names, in its order. */
export function namesIn({ rules }: Pick<PlanTerms, 'rules'>): PlanNames {
  const names: PlanNames = { facts: [], conditions: [], bases: [] }
  addNames(names, rules, '/rules')
  return names
}

function addNames(names: PlanNames, value: unknown, pointer: string): void {
  if (typeof value !== 'object' || value === null) return
  if ('transactions' in value || 'activity' in value || 'event' in value) {
    names.facts.push({ pointer, kind: value as NamedFacts['kind'] })
  }
  for (const [name, one] of Object.entries(value)) {
    const at = `${pointer}/${name}`
    const isBase = Array.isArray(one) && /^(?:base|sum|terms)$/.test(name)
    if (isBase) names.bases.push({ pointer: at, terms: one })
    // The `customer` of a fence is an amount.
    const hasConditions = name === 'when' || (name === 'customer' && typeof one === 'object')
    if (hasConditions) names.conditions.push({ pointer: at, conditions: one })
    else addNames(names, one, at)
  }
}

/** The facts of one kind that plans name: which are looked at one by one, and which only summed. */
export interface Needed<T> {
  readonly single: Set<T>
  readonly summed: Set<T>
}

/** The facts that plans name, and by what their conditions tell facts apart. */
export interface FactNeeds {
  readonly transactions: Needed<string>
  readonly activity: Needed<ActivityField>
  readonly events: Needed<string>
  readonly kpis: Set<string>
  readonly subtypes: boolean
  readonly instruments: boolean
}

/** What looks at facts one by one. */
const ONE_BY_ONE = /^\/rules\/\d+\/(?:trigger|qualify|void_by)\b/

type Draft = { -readonly [Name in keyof FactNeeds]: FactNeeds[Name] }

const needed = <T>(): Needed<T> => ({ single: new Set(), summed: new Set() })

/**
 * Returns the facts that versions of plans need. The facts of `once` rules are looked at one by one;
 * bases and units sum theirs.
 */
export function factNeeds(versions: readonly Pick<PlanTerms, 'rules'>[]): FactNeeds {
  const needs: Draft = {
    transactions: needed(),
    activity: needed(),
    events: needed(),
    kpis: new Set(),
    subtypes: false,
    instruments: false,
  }
  for (const version of versions) {
    const { facts, conditions } = namesIn(version)
    for (const { pointer, kind } of facts) {
      addKind(needs, kind, ONE_BY_ONE.test(pointer) ? 'single' : 'summed')
    }
    for (const { conditions: one } of conditions) {
      if (one.subtypes ?? one.not_subtypes) needs.subtypes = true
      if (one.instruments ?? one.not_instruments) needs.instruments = true
    }
  }
  for (const { single, summed } of [needs.transactions, needs.events]) {
    for (const name of single) summed.delete(name)
  }
  return needs
}

function addKind(needs: Draft, kind: Kind, how: 'single' | 'summed'): void {
  if ('transactions' in kind) {
    for (const type of kind.transactions) needs.transactions[how].add(type)
    if (kind.subtypes) needs.subtypes = true
  } else if ('activity' in kind) needs.activity[how].add(kind.activity)
  else {
    needs.events[how].add(kind.event)
    if (kind.kpi !== undefined && kind.kpi !== 'Value') needs.kpis.add(kind.kpi)
  }
}
