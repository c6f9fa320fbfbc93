import type {
  ActivityField,
  ActivityKind,
  Conditions,
  EventKind,
  FactTerm,
  PlanTerms,
  Rule,
  Term,
  TransactionKind,
  Unit,
} from './plan.ts'

type Kind = TransactionKind | ActivityKind | EventKind

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
  for (const { rules } of versions) for (const rule of rules) addRule(needs, rule)
  for (const { single, summed } of [needs.transactions, needs.events]) {
    for (const name of single) summed.delete(name)
  }
  return needs
}

function addRule(needs: Draft, rule: Rule): void {
  addConditions(needs, rule.when)
  const by = rule.tiers?.by
  if (by && 'base' in by) addTerms(needs, by.base)
  if (rule.kind === 'share') addTerms(needs, rule.base)
  else if (rule.kind === 'unit') addUnit(needs, rule.unit)
  else if (rule.kind === 'override') {
    if ('base' in rule.of) addTerms(needs, rule.of.base)
    if ('unit' in rule.of) addUnit(needs, rule.of.unit)
  } else {
    const { trigger, qualify = [], void_by } = rule
    if (!('signup' in trigger)) addKind(needs, trigger, 'single')
    for (const one of qualify) {
      if ('sum' in one) addTerms(needs, one.sum, 'single')
      if ('count' in one) addKind(needs, one.count, 'single')
    }
    if (void_by) addTerms(needs, void_by.terms, 'single')
  }
}

function addTerms(
  needs: Draft,
  terms: readonly (Term | FactTerm)[],
  how: 'single' | 'summed' = 'summed',
): void {
  for (const term of terms) {
    if ('of' in term) continue
    addConditions(needs, term.when)
    addKind(needs, term, how)
  }
}

const addUnit = (needs: Draft, unit: Unit): void =>
  addKind(needs, 'count' in unit ? unit.count : unit, 'summed')

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

function addConditions(needs: Draft, conditions: Conditions | undefined): void {
  if (!conditions) return
  if (conditions.subtypes ?? conditions.not_subtypes) needs.subtypes = true
  if (conditions.instruments ?? conditions.not_instruments) needs.instruments = true
}
