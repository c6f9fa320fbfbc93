import { dayNumber, dayText, firstDayOf, parsePeriod } from '../../platform/money/calendar.ts'
import { compare, decimal, isZero } from '../../platform/money/decimal.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import * as f from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { quote } from '../../platform/validation/quote.ts'
import { validateField } from '../../platform/validation/strict-object.ts'
import { suggest } from '../../platform/validation/suggest.ts'
import { currencyWarnings, type Warning } from '../../platform/validation/warnings.ts'
import { FACT_CONDITIONS } from './conditions.ts'
import { namesIn, type PlanNames } from './fact-needs.ts'
import { validateShape } from './issues.ts'
import { PLAN_LIMITS } from './limits.ts'
import { warnOfMinorUnits, warnOfShares } from './mistakes.ts'
import { checkOnceReference, checkRange, notApplicable } from './modifiers/modifier.ts'
import { checkModifiers } from './modifiers/order.ts'
import { planTerms } from './plan.ts'
import type { OnceRule, PlanTerms, Rule, Tiers } from './types.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Returns the issues of conditions: a least size above the largest, and conditions of records where the customer is asked. */
const checkConditions = ({ conditions }: PlanNames): Issue[] =>
  conditions.flatMap(({ pointer, conditions: one }): Issue[] => {
    const { min, max } = one.account_size ?? {}
    const ofFact = pointer.endsWith('/customer')
      ? Object.keys(one).filter((name) => FACT_CONDITIONS.has(name))
      : []
    return [
      ...checkRange(`${pointer}/account_size/min`, min, max),
      ...ofFact.map((name) =>
        notApplicable(
          `${pointer}/${name}`,
          'it is a condition on a record, and not on the customer',
        ),
      ),
    ]
  })

/** Returns the members of which a rule has one: its rate, or tiers in its place. */
function ratesOf(rule: Rule): readonly ['amount' | 'percent', ...'percent'[]] {
  if (rule.kind === 'once') return ['amount', 'percent']
  if (rule.kind === 'share') return ['percent']
  if (rule.kind === 'unit') return ['amount']
  return 'lines' in rule.of || 'base' in rule.of ? ['percent'] : ['amount']
}

/** Returns the issues of bases: names that occur twice, and `of` that names no earlier term. */
const checkBases = ({ bases }: PlanNames): Issue[] =>
  bases.flatMap(({ pointer, terms }) =>
    terms.flatMap((term, i): Issue[] => {
      const earlier = terms.slice(0, i).flatMap(({ name }) => name ?? [])
      const at = `${pointer}/${i}`
      const expected = 'the name of an earlier term of this base'
      const instruction = 'Put a term with this `name` before this one.'
      const found = 'of' in term ? term.of : []
      const unknown = found.flatMap((value, j): Issue[] => {
        if (earlier.includes(value)) return []
        const issue = { pointer: `${at}/of/${j}`, code: 'unknown_reference' as const, expected }
        return [{ ...issue, value, suggestions: earlier, instruction }]
      })
      if (term.name === undefined || !earlier.includes(term.name)) return unknown
      const issue = { pointer: `${at}/name`, code: 'duplicate' as const, expected }
      return [
        ...unknown,
        { ...issue, value: term.name, instruction: 'Give each term another name.' },
      ]
    }),
  )

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

/** Returns the warnings of a valid plan: what is allowed, and probably a mistake. */
function warningsOf(plan: PlanTerms, names: PlanNames, vocabulary: Vocabulary): Warning[] {
  return [
    ...currencyWarnings(plan.currency, '/currency'),
    ...warnOfEvents(names, vocabulary),
    ...warnOfRebates(plan),
    ...warnOfMinorUnits(plan),
    ...warnOfShares(plan),
  ]
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

/** What the checks of a plan depend on beside the plan. */
export interface PlanContext {
  readonly vocabulary: Vocabulary
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
    ...checkConditions(names),
    ...checkBases(names),
    ...checkKinds(names, context.vocabulary),
    ...checkCountries(names, context.vocabulary),
  ]
  if (found.length > 0) return { issues: found, plan: null }
  return {
    issues: [],
    plan: { terms, text, warnings: warningsOf(terms, names, context.vocabulary) },
  }
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
  const { tiers } = rule
  return [
    ...checkRate(rule, pointer),
    ...checkModifiers(rule, pointer, plan),
    ...[...misplaced(rule)].map(([at, needs]) => notApplicable(pointer + at, needs)),
    ...(rule.kind === 'once' ? checkEnds(rule, pointer) : []),
    ...(tiers?.by && 'once' in tiers.by
      ? checkOnceReference(`${pointer}/tiers/by/once`, tiers.by.once, plan)
      : []),
    ...(tiers ? checkOrder(tiers, `${pointer}/tiers/steps`) : []),
    ...(tiers ? checkRates(rule, tiers, `${pointer}/tiers/steps`) : []),
  ]
}

/** Finds the members of a rule that have no meaning beside the others, and what they need. */
function* misplaced(rule: Rule): Generator<[pointer: string, needs: string]> {
  const { tiers } = rule
  if (rule.kind === 'once' && 'signup' in rule.trigger) {
    const needs = 'a signup has no amount'
    if (rule.percent !== undefined) yield ['/percent', needs]
    else if (tiers?.steps.some((step) => 'percent' in step)) yield ['/tiers', needs]
    if (rule.void_by) yield ['/void_by', needs]
  }
  if (rule.kind === 'share' && rule.per !== undefined && rule.per !== 'affiliate') {
    for (const [i, term] of rule.base.entries()) {
      if ('fixed' in term) yield [`/base/${i}/fixed`, 'it needs `"per": "affiliate"`']
    }
  }
  if (rule.kind === 'override') {
    const { of, when, months, each } = rule
    const needs = '`of` must be a `base` or a `unit`'
    const ofFacts = 'base' in of || 'unit' in of
    if (when && !ofFacts) yield ['/when', needs]
    if (months !== undefined && !ofFacts) yield ['/months', needs]
    if (each !== undefined && !('unit' in of)) yield ['/each', '`of` must be a `unit`']
  }
  if (!tiers) return
  const { mode, by, over, window = 'period' } = tiers
  if (mode === 'slice' || rule.kind === 'override') {
    if (by) yield ['/tiers/by', ONLY_OWN]
    if (over === 'network') yield ['/tiers/over', ONLY_OWN]
  }
  if (by && 'customers' in by && window !== 'period') {
    yield ['/tiers/window', 'active customers are counted in one period']
  }
}

const ONLY_OWN = 'incremental tiers and tiers of overrides measure only what the rule pays for'

/** A sum that is checked at the end has an end. */
const checkEnds = ({ qualify = [] }: OnceRule, pointer: string): Issue[] =>
  qualify.flatMap((one, i): Issue[] => {
    if (!('sum' in one) || one.at !== 'end' || one.within_days !== undefined) return []
    const expected = 'the number of days after which the sum is checked'
    return [{ pointer: `${pointer}/qualify/${i}/within_days`, code: 'required', expected }]
  })

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

/** Each step has the rate of its rule, and all steps have that of the first. */
function checkRates(rule: Rule, { steps }: Tiers, pointer: string): Issue[] {
  const rates = ratesOf(rule)
  const rate = rates.find((name) => name in (steps[0] ?? {})) ?? rates[0]
  const other = rate === 'percent' ? 'amount' : 'percent'
  return steps.flatMap((step, i): Issue[] => [
    ...(other in step
      ? [notApplicable(`${pointer}/${i}/${other}`, `the steps of this rule have \`${rate}\``)]
      : []),
    ...(rate in step ? [] : [{ pointer: `${pointer}/${i}/${rate}`, code: 'required' as const }]),
  ])
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
