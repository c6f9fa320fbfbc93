import {
  add,
  type Decimal,
  decimal,
  multiply,
  ONE,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import type {
  ActivityKind,
  EventKind,
  FactTerm,
  Term,
  TransactionKind,
  Unit,
} from '../plans/types.ts'
import { type ConditionCheck, compileConditions } from './conditions.ts'
import type { Fact } from './facts.ts'

/** A kind of fact that a plan names, and the field whose amount it takes. */
export interface FactKind {
  /** Whether a fact is of the kind and carries the field. */
  readonly names: (fact: Fact) => boolean
  readonly field: string
  readonly currencyOf: (fact: Fact) => string | null
}

const factCurrency = (fact: Fact): string | null => fact.currency
const usDollars = (): string => 'USD'

/**
 * Compiles a kind of fact. A kind of event without `kpi` names every event of its name; where its amount
 * is needed, `amountKind` adds `Value`.
 */
export function compileKind(kind: TransactionKind | ActivityKind | EventKind): FactKind {
  if ('transactions' in kind) return transactionKind(kind)
  if ('activity' in kind) {
    const field = kind.activity
    return {
      names: (fact) => fact.resource === 'trading-activity' && fact.amounts.has(field),
      field,
      currencyOf: field === 'volume_usd' ? usDollars : factCurrency,
    }
  }
  const { event, kpi } = kind
  return {
    names: (fact) =>
      fact.resource === 'activities' &&
      fact.kind === event &&
      (kpi === undefined || fact.amounts.has(kpi)),
    field: kpi ?? 'Value',
    currencyOf: factCurrency,
  }
}

/** Returns a kind whose amount is needed: of events without `kpi` that is `Value`. */
export const amountKind = <K extends TransactionKind | ActivityKind | EventKind>(kind: K): K =>
  'event' in kind && kind.kpi === undefined ? { ...kind, kpi: 'Value' } : kind

function transactionKind({ transactions, subtypes }: TransactionKind): FactKind {
  const types = new Set(transactions)
  const allowed = subtypes && new Set<string | null>(subtypes)
  return {
    names: (fact) =>
      fact.resource === 'transactions' &&
      types.has(fact.kind) &&
      (allowed === undefined || allowed.has(fact.subtype)),
    field: 'amount_currency',
    currencyOf: factCurrency,
  }
}

/** A term that sums facts. */
export interface CompiledTerm extends FactKind {
  readonly name: string | null
  readonly times: Decimal
  readonly when: ConditionCheck
  /** The factor with which its sum enters the base, parts of it by other terms included. */
  readonly weight: Decimal
  readonly source: FactTerm
}

/** A base: facts by weight, and an amount of each period. */
export interface CompiledBase {
  readonly terms: readonly CompiledTerm[]
  readonly fixed: Decimal
  readonly source: readonly Term[]
}

/** Compiles a term; `factor` is how often its value enters the base. */
export function compileTerm(term: FactTerm, factor: Decimal = ONE): CompiledTerm {
  const times = term.times === undefined ? ONE : decimal(term.times)
  return {
    ...compileKind(amountKind(term)),
    name: term.name ?? null,
    times,
    when: compileConditions(term.when),
    weight: multiply(times, factor),
    source: term,
  }
}

/**
 * Compiles a base. A base is linear, so each term has one weight: its `times`, multiplied by 1 plus the
 * parts that later terms take of it.
 */
export function compileBase(source: readonly Term[]): CompiledBase {
  const terms: CompiledTerm[] = []
  let fixed = ZERO
  for (const { term, factor } of withFactors(source)) {
    if ('fixed' in term) fixed = add(fixed, multiply(decimal(term.fixed), factor))
    else if (!('of' in term)) terms.push(compileTerm(term, factor))
  }
  return { terms, fixed, source }
}

interface WeightedTerm {
  readonly term: Term
  /** The factor with which its value enters the base: 1, plus each part that a later term takes of it. */
  readonly factor: Decimal
}

function withFactors(source: readonly Term[]): WeightedTerm[] {
  const laterTerms: WeightedTerm[] = []
  for (const term of source.toReversed()) {
    const parts = laterTerms.map(({ term: other, factor }) =>
      'of' in other && term.name !== undefined && other.of.includes(term.name)
        ? multiply(decimal(other.times), factor)
        : ZERO,
    )
    laterTerms.push({ term, factor: sum([ONE, ...parts]) })
  }
  return laterTerms.reverse()
}

/** What a unit counts: an amount of each fact, or the facts themselves. */
export interface CompiledUnit extends FactKind {
  readonly counts: boolean
  readonly source: Unit
}

/** Compiles what a unit counts. */
export function compileUnit(unit: Unit): CompiledUnit {
  if ('count' in unit) return { ...compileKind(unit.count), counts: true, source: unit }
  return { ...compileKind(amountKind(unit)), counts: false, source: unit }
}
