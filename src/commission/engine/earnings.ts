import type { RecordEarnings } from '../why/answers.ts'
import { type Period, type PeriodKind, periodOf } from './calendar.ts'
import type { Context, PeriodContext } from './context.ts'
import { type Decimal, plainText } from './decimal.ts'
import { type EvaluatedCustomer, isBooked } from './evaluate.ts'
import type { Fact } from './facts.ts'
import type { CompiledRule } from './rules.ts'
import { type PeriodTallies, type RuleTally, reduceCustomer } from './tally.ts'
import { type UplineRule, uplineRules } from './uplines.ts'

/** A line that counts a record, and for how much. */
export type Earning = Omit<RecordEarnings['lines'][number], 'line_id'>

const KINDS: readonly PeriodKind[] = ['month', 'week']

/**
 * Returns the lines that count a fact. Each adds the fact alone to its base, so amounts that convert
 * together with others can differ in the 12th place.
 *
 * @param evaluated The customer as of the end of the period that is asked for.
 */
export function earningsOf(context: Context, evaluated: EvaluatedCustomer, fact: Fact): Earning[] {
  const alone = {
    ...evaluated,
    customer: { ...evaluated.customer, facts: [fact] },
    qualified: new Map(),
  }
  const counted = KINDS.flatMap((kind) => {
    const period = periodOf(fact.day, kind)
    const inPeriod: PeriodContext = { ...context, period }
    const tallies: PeriodTallies = new Map()
    reduceCustomer(inPeriod, tallies, { ...alone, once: [] }, uplineRules(inPeriod))
    return [...tallies].flatMap(([affiliate, { ownRules, overrides }]) => [
      ...[...ownRules.values()].map((tally) => ({ affiliate, period, tally, below: null })),
      ...[...overrides.values()].flatMap((byBelow) =>
        [...byBelow].map(([below, tally]) => ({ affiliate, period, tally, below })),
      ),
    ])
  })
  return [
    ...onceEarnings(evaluated, fact),
    ...counted
      .filter((one) => isEarned(context, one))
      .map((one) => earningOf(evaluated, fact, one)),
  ]
}

interface CountedIn {
  readonly affiliate: string
  readonly period: Period
  readonly tally: RuleTally
  /** The affiliate below, if the rule is an override. */
  readonly below: string | null
}

function isEarned(context: Context, { affiliate, period, tally, below }: CountedIn): boolean {
  const { rule, version } = tally
  if (tally.tally.total.facts === 0) return false
  if (below === null || rule.kind !== 'override') return true
  const entry: UplineRule = { purpose: 'override', upline: affiliate, version, rule }
  return isBooked(context, entry, below, period)
}

function earningOf(
  { customer }: EvaluatedCustomer,
  fact: Fact,
  { affiliate, period, tally, below }: CountedIn,
): Earning {
  const { rule, version } = tally
  const { base, units } = tally.tally.total
  const isUnits = rule.kind === 'unit' || (rule.kind === 'override' && 'unit' in rule.of)
  const text = (value: Decimal, wanted: boolean): string | null =>
    wanted ? plainText(value) : null
  return {
    affiliate_id: affiliate,
    plan: version.plan,
    version: version.version,
    rule: rule.id,
    kind: rule.kind,
    period: period.id,
    scope: below === null ? scopeOf(rule, customer.customer_id, fact) : `affiliate:${below}`,
    base: text(base, !isUnits),
    units: text(units, isUnits),
    currency: version.currency,
    as: isUnits ? 'units' : 'base',
  }
}

function scopeOf(rule: CompiledRule, customer: string, { product }: Fact): string {
  if (rule.kind !== 'share' || rule.per === 'affiliate') return 'affiliate'
  return rule.per === 'customer' ? `customer:${customer}` : `product:${product ?? ''}`
}

/** The qualifications, under any plan, that the fact is part of. */
function onceEarnings({ qualified, customer }: EvaluatedCustomer, fact: Fact): Earning[] {
  return [...qualified.values()].flatMap((state) => {
    const { version, rule, affiliate, trigger, used, day, amount } = state
    if (affiliate === null || !used.has(fact)) return []
    const isBase = trigger === fact && rule.rateIs === 'percent'
    return [
      {
        affiliate_id: affiliate,
        plan: version.plan,
        version: version.version,
        rule: rule.id,
        kind: rule.kind,
        period: periodOf(day, version.period).id,
        scope: `customer:${customer.customer_id}`,
        base: isBase && amount !== null ? plainText(amount) : null,
        units: null,
        currency: version.currency,
        as: trigger === fact ? 'trigger' : 'qualification',
      } as const,
    ]
  })
}
