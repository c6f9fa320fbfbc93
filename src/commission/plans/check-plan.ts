import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import * as f from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import { quote } from '../../platform/validation/quote.ts'
import { validateField } from '../../platform/validation/strict-object.ts'
import { suggest } from '../../platform/validation/suggest.ts'
import { currencyWarnings, type Warning } from '../../platform/validation/warnings.ts'
import { dayNumber, dayText, firstDayOf, parsePeriod } from '../engine/calendar.ts'
import { compare, decimal, isZero } from '../engine/decimal.ts'
import { namesIn, type PlanNames } from '../engine/fact-needs.ts'
import type {
  Conditions,
  OnceRule,
  OverrideRule,
  PlanTerms,
  Rule,
  ShareRule,
  Term,
  Tiers,
} from '../engine/plan.ts'
import { checkOnceReference, notApplicable } from '../modifiers/modifier.ts'
import { checkModifiers } from '../modifiers/order.ts'
import { FACT_CONDITIONS } from './conditions.ts'
import { validateShape } from './issues.ts'
import { PLAN_LIMITS } from './limits.ts'
import { planTerms } from './plan.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * Returns the issues of conditions. `isOfCustomer` refuses those on a fact: the customer has no
 * instrument.
 */
function checkCondition(
  conditions: Conditions | undefined,
  pointer: string,
  isOfCustomer = false,
): Issue[] {
  if (!conditions) return []
  const issues: Issue[] = []
  const { min, max } = conditions.account_size ?? {}
  if (min !== undefined && max !== undefined && compare(decimal(min), decimal(max)) > 0) {
    issues.push({
      pointer: `${pointer}/account_size/min`,
      code: 'maximum',
      expected: max,
      value: min,
    })
  }
  if (!isOfCustomer) return issues
  const ofFact = Object.keys(conditions).filter((name) => FACT_CONDITIONS.has(name))
  return [
    ...issues,
    ...ofFact.map((name) => ({
      pointer: `${pointer}/${name}`,
      code: 'not_applicable' as const,
      expected: 'it is a condition on a record, and not on the customer',
    })),
  ]
}

// What several checks of a plan share.

/** Returns the members of which a rule has one: its rate, or tiers in its place. */
export function ratesOf(rule: Rule): readonly ('amount' | 'percent')[] {
  if (rule.kind === 'once') return ['amount', 'percent']
  if (rule.kind === 'share') return ['percent']
  if (rule.kind === 'unit') return ['amount']
  return 'lines' in rule.of || 'base' in rule.of ? ['percent'] : ['amount']
}

/** Returns the issues of a base: names that occur twice, and `of` that names no earlier term. */
function checkBase(base: readonly Term[], pointer: string): Issue[] {
  const earlier: string[] = []
  return base.flatMap((term, i) => {
    const at = `${pointer}/${i}`
    const issues =
      'of' in term
        ? checkNames(term.of, `${at}/of`, earlier)
        : 'fixed' in term
          ? []
          : checkCondition(term.when, `${at}/when`)
    const { name } = term
    if (name === undefined) return issues
    if (earlier.includes(name)) issues.push(duplicateName(`${at}/name`, name))
    earlier.push(name)
    return issues
  })
}

const duplicateName = (pointer: string, value: string): Issue => ({
  pointer,
  code: 'duplicate',
  expected: 'the name of an earlier term of this base',
  value,
  instruction: 'Give each term another name.',
})

function checkNames(
  names: readonly string[],
  pointer: string,
  earlier: readonly string[],
): Issue[] {
  return names.flatMap((value, i): Issue[] => {
    const at = `${pointer}/${i}`
    if (names.indexOf(value) < i) {
      const instruction = 'Name each term once.'
      return [{ pointer: at, code: 'duplicate', expected: 'in this list', value, instruction }]
    }
    if (earlier.includes(value)) return []
    const expected = 'the name of an earlier term of this base'
    const instruction = 'Put a term with this `name` before this one.'
    return [
      {
        pointer: at,
        code: 'unknown_reference',
        expected,
        value,
        suggestions: earlier,
        instruction,
      },
    ]
  })
}

/** The members that belong to a plan: all its versions have the same values. */
const OF_PLAN = ['currency', 'period', 'terms'] as const

/** The version of a plan to which others are compared. */
type OtherVersion = Pick<PlanTerms, (typeof OF_PLAN)[number] | 'effective_from'> & {
  readonly version: number
}

/** Returns the issues of a version beside the plan's other versions that are not withdrawn. */
function checkVersions(plan: PlanTerms, others: readonly OtherVersion[]): Issue[] {
  const [first] = others
  const changed = OF_PLAN.flatMap((name): Issue[] =>
    first && first[name] !== plan[name]
      ? [{ pointer: `/${name}`, code: 'fixed_by_plan', expected: first[name], value: plan[name] }]
      : [],
  )
  const value = plan.effective_from
  const same = others.find(({ effective_from }) => effective_from === value)
  if (!same) return changed
  const expected = `the \`effective_from\` of version ${same.version}`
  const instruction = 'Choose another day, or withdraw that version if it was never in force.'
  const pointer = '/effective_from'
  return [...changed, { pointer, code: 'duplicate', expected, value, instruction }]
}

/** Returns an issue if the version of a plan of `current` terms does not begin with a period. */
function checkFirstDay({ effective_from, period, terms }: PlanTerms): Issue[] {
  if (terms !== 'current') return []
  const begin = firstDayOf(dayNumber(effective_from), period)
  if (dayText(begin) === effective_from) return []
  const next = firstDayOf(begin + (period === 'week' ? 7 : 31), period)
  return [
    {
      pointer: '/effective_from',
      code: 'pattern',
      expected: FIRST_DAYS[period],
      value: effective_from,
      instruction: `Choose \`${dayText(begin)}\` or \`${dayText(next)}\`.`,
    },
  ]
}

const FIRST_DAYS = { month: 'the first day of a month', week: 'a Monday' }

/** Returns an issue if a new version begins in or before the last closed period of its plan (§12). */
export function checkClosed({ effective_from: value }: PlanTerms, closed: string | null): Issue[] {
  const period = closed === null ? null : parsePeriod(closed)
  if (!period || dayNumber(value) > period.last) return []
  const expected = dayText(period.last + 1)
  const instruction = `The period ${period.id} of this plan is closed. Choose \`${expected}\` or a later day.`
  return [{ pointer: '/effective_from', code: 'minimum', expected, value, instruction }]
}

/** What the warnings of a plan depend on beside the plan. */
export interface WarningContext {
  vocabulary: Vocabulary
  /** The currencies that have ever had an exchange rate; null if this is not known. */
  ratedCurrencies: ReadonlySet<string> | null
  /** The ids of the `once` rules of the account's other plans. */
  onceIds: ReadonlySet<string>
}

/** Returns the warnings of a valid plan: what is allowed, and probably a mistake. */
function warningsOf(plan: PlanTerms, names: PlanNames, context: PlanContext): Warning[] {
  return [
    ...currencyWarnings(plan.currency, '/currency'),
    ...warnOfRates(plan, context),
    ...warnOfEvents(names, context.vocabulary),
    ...warnOfConditions(names, context.vocabulary),
    ...warnOfRebates(plan),
    ...warnOfReferences(plan, context),
  ]
}

function warnOfRates({ currency }: PlanTerms, { ratedCurrencies }: WarningContext): Warning[] {
  if (currency === 'EUR' || !ratedCurrencies || ratedCurrencies.has(currency)) return []
  const message = `There are no exchange rates for ${quote(currency)}. Amounts in other currencies are not paid until rates are imported.`
  return [{ code: 'no_rates', pointer: '/currency', message }]
}

function warnOfEvents({ facts }: PlanNames, { events }: Vocabulary): Warning[] {
  if (!events) return []
  return facts.flatMap(({ pointer, kind }): Warning[] => {
    if (!('event' in kind)) return []
    const { event, kpi = 'Value' } = kind
    const definition = events.find(({ eventname }) => eventname === event)
    if (!definition) {
      const names = events.map(({ eventname }) => eventname)
      const message = `The account has no definition of the event ${quote(event)}.`
      return [
        {
          code: 'unknown_event',
          pointer: `${pointer}/event`,
          message: message + hint(event, names),
        },
      ]
    }
    const kpis = [...definition.kpis, 'Value']
    if (kpis.includes(kpi)) return []
    const message = `The definition of the event ${quote(event)} has no KPI ${quote(kpi)}.`
    return [{ code: 'unknown_kpi', pointer: `${pointer}/kpi`, message: message + hint(kpi, kpis) }]
  })
}

function hint(name: string, names: readonly string[]): string {
  const closest = suggest(name, names)
  return closest ? ` Did you mean ${quote(closest)}?` : ''
}

function warnOfConditions({ conditions }: PlanNames, vocabulary: Vocabulary): Warning[] {
  return conditions.flatMap(({ pointer, conditions }) =>
    Object.keys(conditions)
      .filter((name) => !vocabulary.conditions.has(name.replace(/^not_/, '')))
      .map((name) => ({
        code: 'never_sent',
        pointer: pointer + pointerStep(name),
        message: `Accounts of this vertical send no field for ${quote(name)}: the value is always missing.`,
      })),
  )
}

/**
 * Warns of a plan that passes rebates on and pays for lots, too: the broker has computed the rebates
 * from the same trades. Rebates name no instrument, so each of them may overlap.
 */
function warnOfRebates({ rules }: PlanTerms): Warning[] {
  const passesOn = rules.find(
    (rule) =>
      rule.kind === 'share' &&
      rule.base.some(
        (term) =>
          'transactions' in term &&
          term.transactions.includes('ib_rebate') &&
          !term.times?.startsWith('-'),
      ),
  )
  if (!passesOn) return []
  return rules.flatMap((rule, i) => {
    if (rule.kind !== 'unit' || !('activity' in rule.unit)) return []
    const message = `The rule ${quote(passesOn.id)} passes on \`ib_rebate\`, which the broker computed from the same trades: they may be paid twice.`
    return [{ code: 'rebate_and_unit', pointer: `/rules/${i}/unit`, message }]
  })
}

/** Warns of an override for lines of a rule that no plan has. */
function warnOfReferences({ rules }: PlanTerms, { onceIds }: WarningContext): Warning[] {
  const own = rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : []))
  const ids = [...new Set([...own, ...onceIds])]
  return rules.flatMap((rule, i) => {
    if (rule.kind !== 'override' || !('once' in rule.of) || ids.includes(rule.of.once)) return []
    const { once } = rule.of
    const message = `No plan of this account has a \`once\` rule with the id ${quote(once)}.`
    return [
      { code: 'unknown_rule', pointer: `/rules/${i}/of/once`, message: message + hint(once, ids) },
    ]
  })
}

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
  if (!terms) return { issues, plan: null }
  const names = namesIn(terms)
  const found = [
    ...checkFirstDay(terms),
    ...checkVersions(terms, context.versions),
    ...checkIds(terms.rules),
    ...terms.rules.flatMap((rule, i) => checkRule(rule, `/rules/${i}`, terms)),
    ...checkKinds(names, context.vocabulary),
    ...checkCountries(names, context.vocabulary),
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

/** Returns the issues of one rule that its shape alone does not show. */
function checkRule(rule: Rule, pointer: string, plan: PlanTerms): Issue[] {
  const issues = [
    ...checkRate(rule, pointer),
    ...checkModifiers(rule, pointer, plan),
    ...checkCondition(rule.when, `${pointer}/when`),
    ...(rule.tiers ? checkTiers(rule, rule.tiers, pointer, plan) : []),
  ]
  switch (rule.kind) {
    case 'once':
      return [...issues, ...checkOnce(rule, pointer)]
    case 'share':
      return [...issues, ...checkShare(rule, pointer)]
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

function checkOnce(rule: OnceRule, pointer: string): Issue[] {
  const { trigger, qualify = [], void_by, tiers } = rule
  const issues: Issue[] = []
  const paysPercent = rule.percent !== undefined || tiers?.steps.some((step) => 'percent' in step)
  if ('signup' in trigger) {
    const needs = 'a signup has no amount'
    if (paysPercent) {
      issues.push(notApplicable(`${pointer}/${rule.percent ? 'percent' : 'tiers'}`, needs))
    }
    if (void_by) issues.push(notApplicable(`${pointer}/void_by`, needs))
  }
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

function checkShare(rule: ShareRule, pointer: string): Issue[] {
  const { per = 'affiliate' } = rule
  const issues = checkBase(rule.base, `${pointer}/base`)
  const isPerAffiliate = per === 'affiliate'
  rule.base.forEach((term, i) => {
    if ('fixed' in term && !isPerAffiliate) {
      issues.push(notApplicable(`${pointer}/base/${i}/fixed`, NEEDS_AFFILIATE))
    }
  })
  return issues
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
      if (isZero(decimal(from))) return []
      const expected = '`0`, where the first step begins'
      const instruction = 'The first step must begin at `0`. Its rate may be `0`.'
      return [{ pointer: at, code: 'pattern', expected, value: from, instruction }]
    }
    if (compare(decimal(from), decimal(before)) > 0) return []
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

/** Returns an issue for each fact of a plan that accounts of this vertical never send. */
const checkKinds = ({ facts }: PlanNames, vocabulary: Vocabulary): Issue[] =>
  facts.flatMap(({ pointer, kind }) => {
    if ('transactions' in kind) {
      return checkTransactions(kind.transactions, `${pointer}/transactions`, vocabulary)
    }
    if ('activity' in kind) return checkActivity(kind.activity, `${pointer}/activity`, vocabulary)
    if (vocabulary.events) return []
    return [
      notApplicable(`${pointer}/event`, 'partners send `transactions` and `activity`, not events'),
    ]
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

const OF_BRANDS = 'brands send events'

function checkTransactions(
  types: readonly string[],
  pointer: string,
  { transactions }: Vocabulary,
): Issue[] {
  if (!transactions) return [notApplicable(pointer, `${OF_BRANDS}, not transactions`)]
  return types.flatMap((value, i): Issue[] =>
    transactions.includes(value)
      ? []
      : [{ pointer: `${pointer}/${i}`, code: 'enum', expected: transactions.join(', '), value }],
  )
}

function checkActivity(field: string, pointer: string, { activity }: Vocabulary): Issue[] {
  if (!activity) return [notApplicable(pointer, `${OF_BRANDS}, not trading activity`)]
  if (activity.includes(field)) return []
  return [notApplicable(pointer, 'the trading activity of this vertical has no such field')]
}
