import type {
  ActivityKind,
  Conditions,
  EventKind,
  OverrideOf,
  PlanTerms,
  Rule,
  Term,
  TransactionKind,
  Unit,
} from '../engine/plan.ts'

/** Facts that a plan names, with the pointer to the object that names them. */
export interface NamedFacts {
  pointer: string
  kind: TransactionKind | ActivityKind | EventKind
}

/** Conditions of a plan, with their pointer. */
export interface NamedConditions {
  pointer: string
  conditions: Conditions
}

/** Everything in a plan that names facts or their fields. */
export interface PlanNames {
  facts: NamedFacts[]
  conditions: NamedConditions[]
}

/** Returns what a plan names, in its order. */
export function namesIn({ rules }: PlanTerms): PlanNames {
  const names: PlanNames = { facts: [], conditions: [] }
  rules.forEach((rule, i) => {
    ofRule(names, rule, `/rules/${i}`)
  })
  return names
}

function ofRule(names: PlanNames, rule: Rule, pointer: string): void {
  const { when, tiers } = rule
  if (when) names.conditions.push({ pointer: `${pointer}/when`, conditions: when })
  if (tiers?.by && 'base' in tiers.by) ofBase(names, tiers.by.base, `${pointer}/tiers/by/base`)
  if (rule.kind === 'share') ofBase(names, rule.base, `${pointer}/base`)
  else if (rule.kind === 'unit') ofUnit(names, rule.unit, `${pointer}/unit`)
  else if (rule.kind === 'override') ofOverride(names, rule.of, `${pointer}/of`)
  else {
    const { trigger, qualify = [], void_by } = rule
    if (!('signup' in trigger)) names.facts.push({ pointer: `${pointer}/trigger`, kind: trigger })
    if (void_by) ofBase(names, void_by.terms, `${pointer}/void_by/terms`)
    qualify.forEach((one, i) => {
      const at = `${pointer}/qualify/${i}`
      if ('sum' in one) ofBase(names, one.sum, `${at}/sum`)
      else if ('count' in one) names.facts.push({ pointer: `${at}/count`, kind: one.count })
      else names.conditions.push({ pointer: `${at}/customer`, conditions: one.customer })
    })
  }
}

function ofBase(names: PlanNames, base: readonly Term[], pointer: string): void {
  base.forEach((term, i) => {
    if ('of' in term || 'fixed' in term) return
    const at = `${pointer}/${i}`
    names.facts.push({ pointer: at, kind: term })
    if (term.when) names.conditions.push({ pointer: `${at}/when`, conditions: term.when })
  })
}

function ofUnit(names: PlanNames, unit: Unit, pointer: string): void {
  if ('count' in unit) names.facts.push({ pointer: `${pointer}/count`, kind: unit.count })
  else names.facts.push({ pointer, kind: unit })
}

function ofOverride(names: PlanNames, of: OverrideOf, pointer: string): void {
  if ('base' in of) ofBase(names, of.base, `${pointer}/base`)
  else if ('unit' in of) ofUnit(names, of.unit, `${pointer}/unit`)
}
