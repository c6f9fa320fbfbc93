import { compareText } from '../../platform/compare-text.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { dayText, type Period, periodOf } from '../../platform/money/calendar.ts'
import {
  add,
  type Decimal,
  decimal,
  fixedText,
  subtract,
  ZERO,
} from '../../platform/money/decimal.ts'
import { isObject } from '../../platform/validation/record-validator.ts'
import type { AccountBeginnings } from '../db/facts.ts'
import {
  assignmentsOf,
  compileVersion,
  type Plan,
  type PlansInForce,
  planKey,
} from '../engine/plans-in-force.ts'
import type { PlanResult } from '../engine/settlement.ts'
import { knownPeriod } from '../limits.ts'
import { type CheckedPlan, checkPlan } from '../plans/check-plan.ts'
import type { PlanTerms } from '../plans/types.ts'
import type { Vocabulary } from '../plans/vocabulary.ts'
import type { Simulated } from '../shapes/simulation.ts'
import { dependencies, type OpenAccount, openAccount } from './account.ts'
import { settle, sumFacts } from './compute.ts'
import { TooManyFacts } from './customers.ts'
import { selectFacts } from './select-facts.ts'
import { unbooked } from './starts.ts'
import type { StoredAccount } from './stored-account.ts'

/** What a request asks for. */
interface SimulationRequest {
  readonly period: Period
  readonly version: CheckedPlan
}

/**
 * Validates what a request to simulate a version of a plan asks for. The version is checked as if it were put; its
 * `effective_from` has no effect, and may be left out.
 *
 * @throws ApiError `validation_failed`
 */
export function parseSimulation(
  sent: { readonly period: string; readonly version: unknown },
  { first, versions }: Plan,
  vocabulary: Vocabulary,
): SimulationRequest {
  const kind = first.period
  const period = knownPeriod(sent.period)
  const known = period?.kind === kind ? period : null
  const expected = `${FORMS[kind]}, at most 10 years ahead`
  const wrong = { pointer: '/period', code: 'pattern', expected, value: sent.period } as const
  const effective_from = dayText(known?.first ?? first.effectiveFrom)
  const body = isObject(sent.version) ? { effective_from, ...sent.version } : sent.version
  const { issues, plan: version } = checkPlan(body, {
    vocabulary,
    // The version is not stored, so it may begin on the day of another.
    versions: versions.map((one) => ({ ...one.source, version: one.version, effective_from: '' })),
  })
  if (!known || !version) {
    throw validationFailed([...(known ? [] : [wrong]), ...issues.map((one) => below(one))])
  }
  const warnings = version.warnings.map((one) => below(one))
  return { period: known, version: { ...version, warnings } }
}

const FORMS = { month: 'a month such as `2026-10`', week: 'a week such as `2026-W41`' }

/** Returns an issue or a warning with its pointer below the version. */
const below = <I extends { pointer: string }>(issue: I): I => ({
  ...issue,
  pointer: `/version${issue.pointer}`,
})

/** A version of a plan beside those in force, ready to be computed for any affiliates. */
export interface Simulation {
  /** Under the versions in force. Both read all that the version and those in force need. */
  readonly current: OpenAccount
  /** As if the plan had had the version from the beginning. */
  readonly simulated: OpenAccount
  /** The periods whose statements are compared. */
  readonly compared: readonly Period[]
  /** The affiliates whose statements can depend on the plan, in order of their ids. */
  readonly affiliates: readonly string[]
}

/** Returns the plans in force with another version of a plan. */
const withPlan = (inForce: PlansInForce, plan: Plan): PlansInForce => ({
  ...inForce,
  plans: new Map(inForce.plans).set(plan.plan, plan),
})

/**
 * Prepares the simulation of a version of a plan in a period.
 *
 * @param beginnings Where the account's records and books begin; absent: they are read.
 */
export async function openSimulation(
  account: StoredAccount,
  { plan, versions, first }: Plan,
  terms: PlanTerms,
  period: Period,
  beginnings?: AccountBeginnings,
): Promise<Simulation> {
  const number = Math.max(...versions.map((one) => one.version)) + 1
  const version = compileVersion(plan, number, terms)
  const inForce = withPlan(account.inForce, { plan, versions: [...versions, version], first })
  const selection = selectFacts(inForce, account.settings)
  const read = {
    ...account,
    inForce,
    selection,
    settings: { ...account.settings, summed: selection },
  }
  const opened = await openAccount(read, lastToEnd(read, period), beginnings)
  const only = { plan, versions: [version], first: version }
  return {
    current: { ...opened, inForce: account.inForce },
    simulated: { ...opened, inForce: withPlan(account.inForce, only) },
    // Periods of the other kind that overlap it, too.
    compared: opened.range.periods.filter(
      (one) => one.last >= period.first && one.first <= period.last,
    ),
    affiliates: affiliatesOf(opened, plan),
  }
}

/** Returns the period that ends last, of those of all kinds of the account that overlap the last one. */
function lastToEnd({ periodKinds }: StoredAccount, last: Period): Period {
  const all = periodKinds.map((kind) => periodOf(last.last, kind))
  return all.reduce((latest, one) => (one.last > latest.last ? one : latest), last)
}

/** Returns the configured affiliates that have the plan, or whose statements depend on others that do. */
function affiliatesOf(account: OpenAccount, plan: string): string[] {
  const { inForce, parents } = account
  const dependenciesOf = dependencies(account)
  const isAssigned = (affiliate: string): boolean =>
    assignmentsOf(inForce, affiliate).some((one) => one.plan === plan)
  const concernsAll = sharesOnce(inForce, plan)
  return parents
    .map(({ affiliate_id }) => affiliate_id)
    .filter((affiliate) => {
      if (assignmentsOf(inForce, affiliate).length === 0) return false
      if (concernsAll || isAssigned(affiliate)) return true
      const { settled, read } = dependenciesOf(affiliate)
      return [...settled, ...read].some(isAssigned)
    })
    .sort(compareText)
}

/**
 * Whether a plan has a `once` rule with the id of one of another plan: then customers who qualify under
 * the one no longer qualify under the other.
 */
function sharesOnce({ plans }: PlansInForce, name: string): boolean {
  const idsOf = ({ versions }: Plan): string[] =>
    versions.flatMap(({ rules }) => rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : [])))
  const own = new Set([...plans.values()].flatMap((one) => (one.plan === name ? idsOf(one) : [])))
  return [...plans.values()].some(
    (one) => one.plan !== name && idsOf(one).some((id) => own.has(id)),
  )
}

/** What some affiliates earn in the compared periods, under the versions in force and simulated. */
interface SimulatedPage {
  readonly affiliates: readonly string[]
  readonly data: Simulated['data']
  /** The affiliate that depends on more facts than one request reads; null if none does. */
  readonly tooLarge: string | null
}

/** The most affiliates of one page. */
export const MAX_AFFILIATES = 500

/** By how much a page is divided that depends on too many facts. */
const DIVISOR = 4

/**
 * Compares the first of some affiliates: as many as depend on at most `maxFacts` facts, at least one,
 * or none and the first one as `tooLarge`.
 */
export async function comparePage(
  simulation: Simulation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<SimulatedPage> {
  let own = affiliates.slice(0, MAX_AFFILIATES)
  for (;;) {
    try {
      const data = await compare(simulation, own, maxFacts)
      return { affiliates: own, data, tooLarge: null }
    } catch (error) {
      if (!(error instanceof TooManyFacts)) throw error
      const [tooLarge = null, ...others] = own
      if (others.length === 0) return { affiliates: [], data: [], tooLarge }
      own = own.slice(0, Math.ceil(own.length / DIVISOR))
    }
  }
}

/**
 * Compares what affiliates earn under the versions in force and simulated, in all compared periods together. They are
 * settled as if nothing were approved or entered: what is closed would hide what the version changes.
 */
async function compare(
  simulation: Simulation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<Simulated['data']> {
  const periods = new Set(simulation.compared.map(({ id }) => id))
  const rows = new Map<string, { of: PlanResult; current: Decimal; simulated: Decimal }>()
  for (const side of ['current', 'simulated'] as const) {
    const start = unbooked(simulation[side], affiliates)
    for (const of of settle(start, await sumFacts(start, { maxFacts }), affiliates)) {
      if (of.statement === null || !periods.has(of.period.id)) continue
      const key = planKey(of.affiliate, of.plan.plan)
      const row = rows.get(key) ?? { of, current: ZERO, simulated: ZERO }
      rows.set(key, { ...row, [side]: add(row[side], decimal(of.statement.lines_sum)) })
    }
  }
  return [...rows.values()]
    .sort(
      ({ of: a }, { of: b }) =>
        compareText(a.affiliate, b.affiliate) || compareText(a.plan.plan, b.plan.plan),
    )
    .map(({ of: { affiliate, plan }, current, simulated }) => {
      const { currency, digits } = plan.first
      const money = (value: Decimal): string => fixedText(value, digits)
      return {
        affiliate_id: affiliate,
        plan: plan.plan,
        currency,
        current: money(current),
        simulated: money(simulated),
        difference: money(subtract(simulated, current)),
      }
    })
}
