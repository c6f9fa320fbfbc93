import { canonicalJson } from '../../validation/canonical-json.ts'
import * as f from '../../validation/fields.ts'
import type { Issue } from '../../validation/issue.ts'
import { validateField } from '../../validation/strict-object.ts'
import type { Warning } from '../../validation/warnings.ts'
import type { OnceRule, OverrideRule, PlanTerms, Rule, ShareRule, Tiers } from '../engine/plan.ts'
import { checkCondition, checkPatterns } from './check-conditions.ts'
import { checkOnceReference, notApplicable, ratesOf } from './check-parts.ts'
import { checkBase } from './check-terms.ts'
import { checkFirstDay, checkVersions, type OtherVersion } from './check-versions.ts'
import { compareDecimals, inMillionths } from './decimals.ts'
import { validateShape } from './issues.ts'
import { PLAN_LIMITS } from './limits.ts'
import { namesIn, type PlanNames } from './named-facts.ts'
import { planTerms } from './plan.ts'
import { type WarningContext, warningsOf } from './plan-warnings.ts'
import type { Vocabulary } from './vocabulary.ts'

/** What the checks of a plan depend on beside the plan. */
export interface PlanContext extends WarningContext {
  /** The other versions of the plan that are not withdrawn. */
  versions: readonly OtherVersion[]
}

/** A valid version of a plan, its canonical text, and what is probably a mistake. */
export interface CheckedPlan {
  terms: PlanTerms
  text: string
  warnings: Warning[]
}

/**
 * Validates the version of a plan. Returns it, or the issues: those of its shape, or if it has none,
 * those of its meaning. A plan that is too large has no further issues.
 */
export function checkPlan(
  body: unknown,
  context: PlanContext,
): { issues: Issue[]; plan: null } | { issues: []; plan: CheckedPlan } {
  const text = canonicalJson(body)
  const excess = checkSize(text)
  if (excess.length > 0) return { issues: excess, plan: null }
  const { issues, output: terms } = validateShape(planTerms, body)
  if (!terms) return { issues: issues.map(withHint), plan: null }
  const names = namesIn(terms)
  const found = [
    ...checkFirstDay(terms),
    ...checkVersions(terms, context.versions),
    ...checkIds(terms.rules),
    ...terms.rules.flatMap((rule, i) => checkRule(rule, `/rules/${i}`, terms)),
    ...checkCircles(terms.rules),
    ...checkFacts(names, context.vocabulary),
    ...checkPatterns(names),
  ]
  if (found.length > 0) return { issues: found, plan: null }
  return { issues: [], plan: { terms, text, warnings: warningsOf(terms, names, context) } }
}

function checkSize(text: string): Issue[] {
  const { length } = new TextEncoder().encode(text)
  if (length <= PLAN_LIMITS.bytes) return []
  const expected = `at most ${PLAN_LIMITS.bytes} bytes of JSON in a plan`
  return [{ pointer: '', code: 'length', expected, received: String(length) }]
}

function checkIds(rules: readonly Rule[]): Issue[] {
  return rules.flatMap(({ id: value }, i): Issue[] => {
    const earlier = rules.findIndex(({ id }) => id === value)
    if (earlier === i) return []
    const expected = `the id of rule ${earlier + 1}`
    const instruction = 'Give each rule another id.'
    return [{ pointer: `/rules/${i}/id`, code: 'duplicate', expected, value, instruction }]
  })
}

/** Tiers of `once` rules that measure each other in a circle have no first measure. */
function checkCircles(rules: readonly Rule[]): Issue[] {
  const measures = new Map(
    rules.flatMap(({ kind, id, tiers }) =>
      kind === 'once' && tiers?.by && 'once' in tiers.by ? [[id, tiers.by.once]] : [],
    ),
  )
  return rules.flatMap(({ kind, id }, i): Issue[] => {
    if (kind !== 'once' || !measures.has(id)) return []
    const visited = new Set<string>()
    let next = measures.get(id)
    while (next !== undefined && next !== id && !visited.has(next)) {
      visited.add(next)
      next = measures.get(next)
    }
    if (next !== id) return []
    const pointer = `/rules/${i}/tiers/by/once`
    const value = measures.get(id)
    const instruction = 'Leave out `by`: a `once` rule measures the number of its own lines.'
    return [{ pointer, code: 'circle', expected: `the rule \`${id}\``, value, instruction }]
  })
}

/** Returns the issues of one rule that its shape alone does not show. */
function checkRule(rule: Rule, pointer: string, plan: PlanTerms): Issue[] {
  const issues = [
    ...checkRate(rule, pointer),
    ...checkCondition(rule.when, `${pointer}/when`),
    ...(rule.tiers ? checkTiers(rule, rule.tiers, pointer, plan) : []),
  ]
  switch (rule.kind) {
    case 'once':
      return [...issues, ...checkOnce(rule, pointer)]
    case 'share':
      return [...issues, ...checkShare(rule, pointer, plan)]
    case 'unit':
      return issues
    case 'override':
      return [...issues, ...checkOverride(rule, pointer)]
  }
}

/** A rule has exactly one of its rate and tiers. */
function checkRate(rule: Rule, pointer: string): Issue[] {
  const rates = ratesOf(rule)
  const names = [...rates, 'tiers']
  const present = names.filter((name) => name in rule)
  const issues: Issue[] = (['amount', 'percent'] as const)
    .filter((name) => name in rule && !rates.includes(name))
    .map((name) =>
      notApplicable(`${pointer}/${name}`, `this rule takes \`${rates[0]}\`, not \`${name}\``),
    )
  if (present.length === 1) return issues
  const received = present.length > 1 && { received: String(present.length) }
  return [...issues, { pointer, code: 'choice', expected: names.join(', '), ...received }]
}

/** Returns an issue if the least is more than the most. */
function checkRange(least: string | undefined, most: string | undefined, pointer: string): Issue[] {
  if (least === undefined || most === undefined || compareDecimals(least, most) <= 0) return []
  return [{ pointer, code: 'maximum', expected: most, value: least }]
}

function checkOnce(rule: OnceRule, pointer: string): Issue[] {
  const { trigger, qualify = [], void_by, min_amount, max_amount, tiers } = rule
  const issues: Issue[] = []
  const paysPercent = rule.percent !== undefined || tiers?.steps.some((step) => 'percent' in step)
  if ('signup' in trigger) {
    const needs = 'a signup has no amount'
    if (paysPercent) {
      issues.push(notApplicable(`${pointer}/${rule.percent ? 'percent' : 'tiers'}`, needs))
    }
    if (void_by) issues.push(notApplicable(`${pointer}/void_by`, needs))
  }
  for (const name of ['min_amount', 'max_amount'] as const) {
    if (rule[name] !== undefined && !paysPercent) {
      issues.push(notApplicable(`${pointer}/${name}`, 'it applies only to a rule with `percent`'))
    }
  }
  issues.push(...checkRange(min_amount, max_amount, `${pointer}/min_amount`))
  if (void_by) issues.push(...checkBase(void_by.terms, `${pointer}/void_by/terms`))
  return [...issues, ...qualify.flatMap((one, i) => checkQualify(one, `${pointer}/qualify/${i}`))]
}

function checkQualify(one: NonNullable<OnceRule['qualify']>[number], pointer: string): Issue[] {
  if ('customer' in one) return checkCondition(one.customer, `${pointer}/customer`, true)
  if ('count' in one) return []
  const isOpen = one.at === 'end' && one.within_days === undefined
  const expected = 'the number of days after which the sum is checked'
  const required: Issue = { pointer: `${pointer}/within_days`, code: 'required', expected }
  return [...(isOpen ? [required] : []), ...checkBase(one.sum, `${pointer}/sum`)]
}

function checkShare(rule: ShareRule, pointer: string, plan: PlanTerms): Issue[] {
  const { per = 'affiliate', negative = 'offset', fence, recoups, max_per_customer } = rule
  const issues = checkBase(rule.base, `${pointer}/base`)
  const isPerAffiliate = per === 'affiliate'
  rule.base.forEach((term, i) => {
    if ('fixed' in term && !isPerAffiliate) {
      issues.push(notApplicable(`${pointer}/base/${i}/fixed`, NEEDS_AFFILIATE))
    }
  })
  if (fence && !isPerAffiliate) issues.push(notApplicable(`${pointer}/fence`, NEEDS_AFFILIATE))
  if (fence && negative === 'offset') {
    issues.push(notApplicable(`${pointer}/fence`, 'it needs `"negative": "zero"` or `"carry"`'))
  }
  if (max_per_customer !== undefined && per !== 'customer') {
    issues.push(notApplicable(`${pointer}/max_per_customer`, 'it needs `"per": "customer"`'))
  }
  if (recoups === undefined) return issues
  if (!isPerAffiliate) issues.push(notApplicable(`${pointer}/recoups`, NEEDS_AFFILIATE))
  return [...issues, ...checkOnceReference(`${pointer}/recoups`, recoups, plan)]
}

const NEEDS_AFFILIATE = 'it needs `"per": "affiliate"`'

function checkOverride(rule: OverrideRule, pointer: string): Issue[] {
  const { of } = rule
  const usesFacts = 'base' in of || 'unit' in of
  const misplaced = [
    ...(usesFacts ? [] : (['when', 'months'] as const)),
    ...('unit' in of ? [] : (['each'] as const)),
  ].filter((name) => rule[name] !== undefined)
  const issues = misplaced.map((name) => notApplicable(`${pointer}/${name}`, NEEDS[name]))
  return 'base' in of ? [...issues, ...checkBase(of.base, `${pointer}/of/base`)] : issues
}

const NEEDS = {
  when: '`of` must be a `base` or a `unit`',
  months: '`of` must be a `base` or a `unit`',
  each: '`of` must be a `unit`',
}

/** Returns the issues of a rule's tiers. */
function checkTiers(rule: Rule, tiers: Tiers, pointer: string, plan: PlanTerms): Issue[] {
  const at = `${pointer}/tiers`
  return [
    ...checkMeasure(rule, tiers, at, plan),
    ...checkOrder(tiers, `${at}/steps`),
    ...checkRates(rule, tiers, `${at}/steps`),
  ]
}

function checkMeasure(
  { kind }: Rule,
  { mode, by, over, window }: Tiers,
  pointer: string,
  plan: PlanTerms,
) {
  const issues: Issue[] = []
  if (mode === 'slice' || kind === 'override') {
    if (by) issues.push(notApplicable(`${pointer}/by`, ONLY_OWN))
    if (over === 'network') issues.push(notApplicable(`${pointer}/over`, ONLY_OWN))
  }
  if (by && 'customers' in by && window !== undefined && window !== 'period') {
    const needs = 'active customers are counted in one period'
    issues.push(notApplicable(`${pointer}/window`, needs))
  }
  if (by && 'once' in by) issues.push(...checkOnceReference(`${pointer}/by/once`, by.once, plan))
  if (by && 'base' in by) issues.push(...checkBase(by.base, `${pointer}/by/base`))
  return issues
}

const ONLY_OWN = 'incremental tiers and tiers of overrides measure only what the rule pays for'

/** Steps begin at 0 and ascend. Each begins where the step before it ends, so none overlaps. */
function checkOrder({ steps }: Tiers, pointer: string): Issue[] {
  return steps.flatMap(({ from }, i): Issue[] => {
    const at = [pointer, i, 'from'].join('/')
    const before = steps[i - 1]?.from
    if (before === undefined) {
      if (inMillionths(from) === 0n) return []
      const expected = '`0`, where the first step begins'
      const instruction = 'The first step must begin at `0`. Its rate may be `0`.'
      return [{ pointer: at, code: 'pattern', expected, value: from, instruction }]
    }
    if (compareDecimals(from, before) > 0) return []
    return [{ pointer: at, code: 'order', expected: before, value: from }]
  })
}

/** Each step has the rate of its rule, and all steps have the same one. */
function checkRates(rule: Rule, { steps }: Tiers, pointer: string): Issue[] {
  const rates = ratesOf(rule)
  const [first] = steps
  const usual =
    rates.length > 1 && first ? rates.filter((name) => name in first).slice(0, 1) : rates
  const expected = usual.length > 0 ? usual : rates
  return steps.flatMap((step, i): Issue[] => {
    const at = `${pointer}/${i}`
    const present = (['amount', 'percent'] as const).filter((name) => name in step)
    const wrong = present.filter((name) => !expected.includes(name))
    const needs = `the steps of this rule have \`${expected[0]}\``
    const issues = wrong.map((name) => notApplicable(`${at}/${name}`, needs))
    if (present.length > wrong.length) return issues
    const missing: Issue =
      expected.length > 1
        ? { pointer: at, code: 'choice', expected: expected.join(', ') }
        : { pointer: `${at}/${expected[0]}`, code: 'required' }
    return [...issues, missing]
  })
}

/** Returns an issue for each fact and country of a plan that accounts of this vertical never send. */
const checkFacts = (names: PlanNames, vocabulary: Vocabulary): Issue[] => [
  ...checkKinds(names, vocabulary),
  ...checkCountries(names, vocabulary),
]

const checkKinds = ({ facts }: PlanNames, vocabulary: Vocabulary): Issue[] =>
  facts.flatMap(({ pointer, kind }) => {
    if ('transactions' in kind) {
      return checkTransactions(kind.transactions, `${pointer}/transactions`, vocabulary)
    }
    if ('activity' in kind) return checkActivity(kind.activity, `${pointer}/activity`, vocabulary)
    if (vocabulary.events) return []
    return [notSent(`${pointer}/event`, 'partners send `transactions` and `activity`, not events')]
  })

/** Partners send the countries of customers as codes; brands send any text. */
function checkCountries({ conditions }: PlanNames, { events }: Vocabulary): Issue[] {
  if (events) return []
  return conditions.flatMap(({ pointer, conditions: one }) =>
    (['countries', 'not_countries'] as const).flatMap((name) =>
      (one[name] ?? []).flatMap((value, i): Issue[] => {
        const { issue } = validateField(`${i}`, value, f.country)
        return issue ? [{ ...issue, pointer: `${pointer}/${name}${issue.pointer}` }] : []
      }),
    ),
  )
}

const notSent = (pointer: string, expected: string): Issue => ({
  pointer,
  code: 'not_applicable',
  expected,
})

const OF_BRANDS = 'brands send events'

function checkTransactions(
  types: readonly string[],
  pointer: string,
  { transactions }: Vocabulary,
): Issue[] {
  if (!transactions) return [notSent(pointer, `${OF_BRANDS}, not transactions`)]
  return types.flatMap((value, i): Issue[] =>
    transactions.includes(value)
      ? []
      : [{ pointer: `${pointer}/${i}`, code: 'enum', expected: transactions.join(', '), value }],
  )
}

function checkActivity(field: string, pointer: string, { activity }: Vocabulary): Issue[] {
  if (!activity) return [notSent(pointer, `${OF_BRANDS}, not trading activity`)]
  if (activity.includes(field)) return []
  return [notSent(pointer, 'the trading activity of this vertical has no such field')]
}

// What the author of a plan can do where the code of an issue alone does not tell.

/** Returns an issue of a plan with a hint for the member that it points to, if there is one. */
function withHint(issue: Issue): Issue {
  const { pointer, code } = issue
  if (pointer === '/rules' && code === 'length') {
    const expected = `1 to ${PLAN_LIMITS.rules} rules`
    return { ...issue, expected, ...(issue.received !== '0' && { instruction: FEWER_RULES }) }
  }
  if (!['pattern', 'length', 'minimum', 'maximum'].includes(code)) return issue
  if (pointer.endsWith('/months')) return { ...issue, instruction: NO_END }
  if (pointer.includes('instruments/')) return { ...issue, instruction: SHORTER }
  return issue
}

const FEWER_RULES =
  'Combine rules that differ only in what they name: a base has several terms, `when` has lists, and `tiers` has steps.'

const NO_END = 'Leave out `months` if the rule has no time limit.'

const SHORTER = 'Use shorter patterns with fewer stars.'
