import type { Plan } from './book.ts'
import { nextPeriod, type Period, type PeriodKind, periodOf } from './calendar.ts'
import type { Context, PeriodContext } from './context.ts'
import { ZERO } from './decimal.ts'
import { type Customer, compareText } from './facts.ts'
import { type JudgedCustomer, judgeCustomer } from './judge.ts'
import type { Line } from './line.ts'
import { type Overrides, settleOverrides } from './override.ts'
import { reduceCustomer } from './reduce.ts'
import { holdsOf, inOrder, mergeHolds, type StatementHold, settlePlan } from './settle.ts'
import { countOnce, countQualified, ruleOrder } from './settle-plan.ts'
import { closeState, NO_STATE, openState, type PlanState } from './state.ts'
import { closeStatement, openingOf, type Settled } from './statement.ts'
import { type AffiliateTallies, type PeriodTallies, talliesOf } from './tallies.ts'
import { uplineRules } from './uplines.ts'

/** The facts of an account, or of affiliates that do not depend on others, and where they start. */
export interface AccountInput extends Context {
  readonly customers: readonly Customer[]
  /** The affiliates to settle, with all that they depend on. */
  readonly affiliates: readonly string[]
  /** The first day that is computed, by kind of period: the first period starts from `stateOf`. */
  readonly firstDay: Readonly<Record<PeriodKind, number>>
  /** Returns what the period before the first left of an affiliate and plan. */
  readonly stateOf: (affiliate: string, plan: string) => PlanState
}

/** What an affiliate earns under one plan in a period. */
export interface PlanResult extends Settled {
  readonly affiliate: string
  readonly plan: Plan
}

/** Computes periods of an account. Each is computed once; a period computes those before it. */
export interface Account {
  /** Returns the results in order of affiliate and plan. */
  readonly settle: (period: Period) => readonly PlanResult[]
  readonly judged: (through: number) => readonly JudgedCustomer[]
  readonly tallies: (period: Period) => PeriodTallies
}

/** The lines of an affiliate's own facts, and the carries after them. */
interface OwnResult {
  readonly plan: Plan
  readonly lines: readonly Line[]
  readonly state: PlanState
}

type OwnResults = Map<string, Map<string, OwnResult>>

/** Returns a function that remembers what it computed for each period. */
function oncePerPeriod<T>(compute: (period: Period) => T): (period: Period) => T {
  const known = new Map<string, T>()
  return (period) => {
    const found = known.get(period.id) ?? compute(period)
    known.set(period.id, found)
    return found
  }
}

/** Prepares the computation of an account. */
export function openAccount(input: AccountInput): Account {
  const judgedThrough = new Map<number, readonly JudgedCustomer[]>()
  const judged = (through: number): readonly JudgedCustomer[] => {
    const found =
      judgedThrough.get(through) ??
      input.customers.map((customer) => judgeCustomer(input, customer, through))
    judgedThrough.set(through, found)
    return found
  }
  const tallies = oncePerPeriod((period) => tallyPeriod(input, period, judged(period.last)))
  const own: (period: Period) => OwnResults = oncePerPeriod((period) =>
    settleOwn(input, period, tallies, isFirst(input, period) ? null : own(nextPeriod(period, -1))),
  )
  const settled: (period: Period) => readonly PlanResult[] = oncePerPeriod((period) => {
    const before = isFirst(input, period) ? null : settled(nextPeriod(period, -1))
    return settleAll(input, period, tallies(period), own, before)
  })
  return { settle: settled, judged, tallies }
}

/** Whether the account is not computed before a period: earlier facts are in the state. */
const isFirst = ({ firstDay }: AccountInput, { kind, first }: Period): boolean =>
  first <= firstDay[kind]

function tallyPeriod(
  input: AccountInput,
  period: Period,
  judged: readonly JudgedCustomer[],
): PeriodTallies {
  const context: PeriodContext = { ...input, period }
  const tallies: PeriodTallies = new Map()
  const rulesOf = uplineRules(context)
  for (const customer of judged) reduceCustomer(context, tallies, customer, rulesOf)
  return tallies
}

/** Returns the periods of the other kind that share days with a period. */
function overlapping(period: Period): Period[] {
  const kind = period.kind === 'month' ? 'week' : 'month'
  const periods: Period[] = []
  for (let day = period.first; day <= period.last; ) {
    const found = periodOf(day, kind)
    periods.push(found)
    day = found.last + 1
  }
  return periods
}

/** Makes the lines of each affiliate's own facts, without overrides. */
function settleOwn(
  input: AccountInput,
  period: Period,
  talliesIn: (period: Period) => PeriodTallies,
  before: OwnResults | null,
): OwnResults {
  const context: PeriodContext = { ...input, period }
  const tallies = talliesIn(period)
  const results: OwnResults = new Map()
  for (const affiliate of input.affiliates) {
    const byPlan = new Map<string, OwnResult>()
    results.set(affiliate, byPlan)
    for (const plan of plansOf(input, affiliate, period, before?.get(affiliate))) {
      const earlier = before
        ? before.get(affiliate)?.get(plan.plan)?.state
        : input.stateOf(affiliate, plan.plan)
      const state = openState(earlier ?? NO_STATE)
      const ofAffiliate = talliesOf(tallies, affiliate)
      const lines = settlePlan({
        context,
        affiliate,
        plan,
        tallies: ofAffiliate,
        state,
        qualified: countQualified(plan, ofAffiliate.once),
        onceBelow: (rule) => countOnceBelow(input, period, talliesIn, affiliate, rule),
      })
      byPlan.set(plan.plan, { plan, lines, state: closeState(state, ZERO) })
    }
  }
  return results
}

/** Returns the plans with periods of a kind under which an affiliate can have lines. */
function plansOf(
  { book, stateOf }: AccountInput,
  affiliate: string,
  { kind }: Period,
  before: ReadonlyMap<string, OwnResult> | undefined,
): Plan[] {
  const names = new Set(book.assignmentsOf(affiliate).map(({ plan }) => plan))
  for (const name of before?.keys() ?? []) names.add(name)
  if (before === undefined) {
    for (const name of book.plans.keys()) if (stateOf(affiliate, name) !== NO_STATE) names.add(name)
  }
  return [...names].sort(compareText).flatMap((name) => {
    const plan = book.plans.get(name)
    return plan && plan.first.period === kind ? [plan] : []
  })
}

/** Counts the `once` lines of affiliates below whose qualification day lies in the period. */
function countOnceBelow(
  { book, tree }: AccountInput,
  period: Period,
  talliesIn: (period: Period) => PeriodTallies,
  affiliate: string,
  rule: string,
): number {
  const all = [period, ...overlapping(period)].map((one) => ({ one, tallies: talliesIn(one) }))
  let count = 0
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, period.last)
    if (below.length === 0) return count
    for (const id of below) {
      for (const { tallies } of all) {
        count += linesInPeriod(book.plans, tallies.get(id), rule, period)
      }
    }
  }
}

function linesInPeriod(
  plans: ReadonlyMap<string, Plan>,
  tallies: AffiliateTallies | undefined,
  rule: string,
  { first, last }: Period,
): number {
  if (tallies === undefined || tallies.once.length === 0) return 0
  let count = 0
  for (const plan of plans.values()) {
    const qualified = countQualified(plan, tallies.once)
    const inPeriod = qualified
      .get(rule)
      ?.filter(({ state }) => state.day >= first && state.day <= last)
    count += inPeriod ? countOnce({ qualified: new Map([[rule, inPeriod]]) }, rule) : 0
  }
  return count
}

/** Adds overrides, and closes the statements. */
function settleAll(
  input: AccountInput,
  period: Period,
  tallies: PeriodTallies,
  ownIn: (period: Period) => OwnResults,
  before: readonly PlanResult[] | null,
): PlanResult[] {
  const context: PeriodContext = { ...input, period }
  const within = [period, ...overlapping(period)].filter(
    ({ last }) => last >= period.first && last <= period.last,
  )
  const linesWithin = (affiliate: string): Line[] =>
    within.flatMap((one) =>
      [...(ownIn(one).get(affiliate)?.values() ?? [])].flatMap(({ lines }) => lines),
    )
  const overrides = input.affiliates.flatMap((affiliate) => {
    const found = settleOverrides(context, affiliate, talliesOf(tallies, affiliate), linesWithin)
    return found ? [{ affiliate, ...found }] : []
  })
  const closings = new Map(
    before?.map(({ affiliate, plan, state }) => [planKey(affiliate, plan.plan), state]),
  )
  return [...input.affiliates].sort(compareText).flatMap((affiliate) =>
    [...(ownIn(period).get(affiliate)?.values() ?? [])].map((own) => {
      const earlier = before
        ? closings.get(planKey(affiliate, own.plan.plan))
        : input.stateOf(affiliate, own.plan.plan)
      const added = overridesIn(overrides, affiliate, own.plan)
      const holds = holdsOf({ plan: own.plan, tallies: talliesOf(tallies, affiliate) })
      const settled = closeStatement(
        affiliate,
        own.plan,
        period,
        [...orderLines(own.plan, [...own.lines, ...added.lines]), ...added.funded],
        mergeHolds([...holds, ...added.holds]),
        openState(own.state),
        openingOf(earlier ?? NO_STATE),
      )
      return { affiliate, plan: own.plan, ...settled }
    }),
  )
}

const planKey = (affiliate: string, plan: string): string => JSON.stringify([affiliate, plan])

/** Picks the override lines, funded lines and holds of one statement. */
function overridesIn(
  overrides: readonly (Overrides & { readonly affiliate: string })[],
  affiliate: string,
  { plan }: Plan,
): { lines: Line[]; funded: Line[]; holds: StatementHold[] } {
  const ofStatement = (one: { affiliate: string; version: { plan: string } }): boolean =>
    one.affiliate === affiliate && one.version.plan === plan
  return {
    lines: overrides.filter(ofStatement).flatMap(({ lines }) => lines),
    funded: overrides
      .flatMap(({ funded }) => funded)
      .filter(ofStatement)
      .map(({ line }) => line)
      .sort((a, b) => compareText(a.rule.id, b.rule.id) || compareText(a.scope, b.scope)),
    holds: overrides
      .flatMap(({ holds }) => holds)
      .filter(ofStatement)
      .map(({ hold }) => hold),
  }
}

/** Orders lines by the plan's rules, then version, then scope. */
function orderLines(plan: Plan, lines: readonly Line[]): Line[] {
  const position = new Map(ruleOrder(plan).map(({ id }, index) => [id, index]))
  const at = ({ rule }: Line): number => position.get(rule.id) ?? position.size
  return inOrder(lines).sort((a, b) => at(a) - at(b))
}
