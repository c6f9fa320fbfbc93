import { compareText } from '../../platform/compare-text.ts'
import { endingWithin, type Period } from '../../platform/money/calendar.ts'
import {
  add,
  amountAt,
  type Decimal,
  greatest,
  isPositive,
  isZero,
  least,
  negate,
  subtract,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { NOTHING } from '../../platform/money/ratio.ts'
import {
  type BookedLine,
  booksOf,
  closedStatement,
  type Difference,
  isClosed,
  keyedLines,
  lineKey,
  manualEntriesIn,
  type PlanBooks,
} from './books.ts'
import type { Line, StatementHold } from './line.ts'
import { measuredBy } from './measure.ts'
import { type Plan, planKey } from './plans-in-force.ts'
import { holdsOf, inOrder, mergeHolds } from './settle.ts'
import { rulePositions } from './settle-plan.ts'
import { type OverridesOf, type PlanResult, type Settlement, stateBefore } from './settlement.ts'
import { addMeasure, closeState, measureKey, openState, type PlanState } from './state.ts'
import { addUpStatement, type OpenStatement, openingOf, type Settled } from './statement.ts'
import { sumsOf } from './sums.ts'
import { departureFrom, receivedIn } from './transfer.ts'

/** Adds overrides and what other plans transferred, and closes the statements of a period. Returns them by `planKey`. */
export function settleStatements(
  settlement: Settlement,
  period: Period,
): ReadonlyMap<string, PlanResult> {
  const { books: all } = settlement
  const received = receivedIn(settlement, period)
  const overrides = endingWithin(period).flatMap(({ id }) => settlement.overrides.get(id) ?? [])
  const overridesFor = overridesByStatement(overrides, period)
  const results = new Map<string, PlanResult>()
  const own = [...(settlement.own.get(period.id) ?? [])].sort(([a], [b]) => compareText(a, b))
  for (const [affiliate, plans] of own) {
    const sums = sumsOf(settlement.sums.get(period.id) ?? new Map(), affiliate)
    for (const { plan, lines: ownLines, state } of plans.values()) {
      const before = stateBefore(settlement, affiliate, plan.plan, period)
      const { differences } = before
      const books = booksOf(all, affiliate, plan.plan)
      const added = overridesFor(affiliate, plan.plan)
      const lines = [...orderLines(plan, [...ownLines, ...added.lines]), ...added.funded]
      const closed = books !== null && isClosed(books, period)
      const holds = mergeHolds(plan, [...holdsOf({ plan, sums }, ownLines), ...added.holds])
      const statement = { affiliate, plan, period, lines, holds, open: openState(state) }
      addOverrideMeasures(statement, before.state, added.measures)
      const settled = closed
        ? keepClosed(books, statement, differences)
        : addUpStatement(statement, {
            carried: openingOf(before.state),
            received: received.get(planKey(affiliate, plan.plan)) ?? [],
            departure: departureFrom(settlement, affiliate, plan, period),
            adjustments: books ? withRestoring(books, differences) : [],
            manual: manualEntriesIn(books, period),
          })
      results.set(planKey(affiliate, plan.plan), { affiliate, plan, period, closed, ...settled })
    }
  }
  return results
}

/** Adds what overrides brought to the measures of their windows, for each version of a rule. */
function addOverrideMeasures(
  { plan, period, open }: OpenStatement,
  earlier: PlanState,
  measures: AddedOverrides['measures'],
): void {
  for (const { rules, version } of plan.versions) {
    for (const rule of rules) {
      const { id, kind, tiers } = rule
      if (kind !== 'override' || !tiers || tiers.window === 'period') continue
      const key = measureKey(id, version)
      const found = measures.find((one) => one.rule.id === id)
      const measure = found ? measuredBy(rule, found) : NOTHING
      open.measures.set(key, addMeasure(earlier.measures[key], measure, period.last))
    }
  }
}

/** Orders lines by the plan's rules, then version, then scope. */
function orderLines(plan: Plan, lines: readonly Line[]): Line[] {
  const positionOf = rulePositions(plan)
  return inOrder(lines).sort((a, b) => positionOf(a.rule.id) - positionOf(b.rule.id))
}

/**
 * Compares the lines of a closed period, computed again, with what was approved for them so far. The
 * result is empty if nothing has changed, or if a correction was corrected back (§13).
 */
export function differencesOf(
  books: PlanBooks,
  period: Period,
  lines: readonly Line[],
): Difference[] {
  const booked = books.booked.get(period.id) ?? new Map<string, BookedLine>()
  const now = keyedLines(
    lines.map(({ rule, version, scope, amount }) => ({
      rule: rule.id,
      version: version.version,
      scope,
      amount,
    })),
  )
  const known = new Set(now.map(lineKey))
  const gone = [...booked]
    .filter(([key]) => !known.has(key))
    .sort(([a], [b]) => compareText(a, b))
    .map(([, line]) => ({ ...line, amount: negate(line.amount), now: undefined }))
  const changed = now.map((line, index) => ({
    ...line,
    amount: subtract(line.amount, booked.get(lineKey(line))?.amount ?? ZERO),
    now: lines[index],
  }))
  return [...changed, ...gone]
    .filter(({ amount }) => !isZero(amount))
    .map(({ amount, now, ...line }) => ({ period: period.id, line, droppedIn: null, amount, now }))
}

/**
 * Returns what a closed period leaves: what was approved of it, the carries of its lines as they are
 * now, and the adjustments of it and of earlier closed periods that are still to be booked.
 */
function keepClosed(
  books: PlanBooks,
  { period, lines, open }: OpenStatement,
  earlier: readonly Difference[],
): Settled {
  const { closing, transfer } = closedStatement(books, period)
  return {
    statement: null,
    lines,
    corrections: [],
    transfer,
    state: closeState(open, closing),
    differences: [...earlier, ...differencesOf(books, period, lines)],
  }
}

// Under `negative: "zero"` a statement drops a negative balance (opening + total). A later correction
// first restores what was dropped (§16.3). A correction that raises the total of a period restores what
// that period dropped. A correction that takes back an earlier one restores what the statement with the
// earlier one dropped.

/** What statements dropped and is not restored yet, and what the corrections of each period restored. */
interface Pools {
  readonly left: Map<string, Decimal>
  /** By corrected period, then by the period of the statement that dropped. */
  readonly restored: Map<string, Map<string, Decimal>>
}

/** Returns corrections with the entries that restore what was dropped. */
export function withRestoring(books: PlanBooks, differences: readonly Difference[]): Difference[] {
  const byPeriod = Map.groupBy(differences, ({ period }) => period)
  const pools = openPools(books)
  const periods = [...byPeriod].sort(([a], [b]) => compareText(a, b))
  const entries = periods.flatMap(([period, ofPeriod]) => {
    const moved = ofPeriod.reduce((sum, one) => add(sum, one.amount), ZERO)
    return restoringOf(books, pools, period, moved)
  })
  return [...differences, ...entries]
}

function openPools({ statements, restored }: PlanBooks): Pools {
  const left = new Map([...statements].map(([period, { dropped }]) => [period, negate(dropped)]))
  for (const ofPeriod of restored.values()) {
    for (const [from, amount] of ofPeriod) {
      left.set(from, subtract(amountAt(left, from), amount))
    }
  }
  const copied = [...restored].map(([period, from]) => [period, new Map(from)] as const)
  return { left, restored: new Map(copied) }
}

/** Returns the sum of the corrections of a period's lines in approved statements, without what they restored. */
const correctedSum = ({ corrections, restored }: PlanBooks, period: string): Decimal =>
  sum([
    ...[...corrections.values()].map((nets) => amountAt(nets, period)),
    ...(restored.get(period)?.values() ?? []),
  ])

/** Returns the entries for the corrections of one period; `moved` is their sum. */
function restoringOf(books: PlanBooks, pools: Pools, period: string, moved: Decimal): Difference[] {
  const before = correctedSum(books, period)
  const after = add(before, moved)
  const gained = greatest(after, ZERO)
  const own = restoredFrom(pools, period, period)
  const most = add(own, greatest(amountAt(pools.left, period), ZERO))
  const entries = [restoringEntry(pools, period, period, subtract(least(gained, most), own))]
  const returned = subtract(least(after, ZERO), least(before, ZERO))
  const statements = [...books.corrections]
    .flatMap(([from, nets]) => (from === period ? [] : [[from, amountAt(nets, period)] as const]))
    .sort(([a], [b]) => compareText(a, b))
  let rest = isPositive(returned) ? returned : ZERO
  for (const [from, net] of statements) {
    const charged = subtract(negate(least(net, ZERO)), restoredFrom(pools, period, from))
    const available = greatest(least(charged, amountAt(pools.left, from)), ZERO)
    const amount = least(rest, available)
    entries.push(restoringEntry(pools, period, from, amount))
    rest = subtract(rest, amount)
  }
  // If the correction is made again, reverse the entries of its undoing.
  rest = isPositive(returned) ? ZERO : negate(returned)
  for (const [from] of statements.toReversed()) {
    const amount = least(rest, restoredFrom(pools, period, from))
    entries.push(restoringEntry(pools, period, from, negate(amount)))
    rest = subtract(rest, amount)
  }
  return entries.filter(({ amount }) => !isZero(amount))
}

const restoredFrom = ({ restored }: Pools, period: string, from: string): Decimal =>
  restored.get(period)?.get(from) ?? ZERO

/** Takes an amount from what a statement dropped (a negative one gives back), and returns the entry. */
function restoringEntry(pools: Pools, period: string, from: string, amount: Decimal): Difference {
  const ofPeriod = pools.restored.get(period) ?? new Map<string, Decimal>()
  pools.restored.set(period, ofPeriod)
  ofPeriod.set(from, add(amountAt(ofPeriod, from), amount))
  pools.left.set(from, subtract(amountAt(pools.left, from), amount))
  return { period, line: null, droppedIn: from, amount: negate(amount) }
}

/** What overrides bring to a statement. */
interface AddedOverrides {
  readonly lines: readonly Line[]
  readonly funded: readonly Line[]
  readonly measures: OverridesOf['measures']
  readonly holds: readonly StatementHold[]
}

/**
 * Returns a function that finds the override lines, funded lines and holds of a statement of a period.
 *
 * @param overrides Those of uplines' periods that end in the period: the funded line is in this
 *   period, the earned line in the upline's.
 */
export function overridesByStatement(
  overrides: readonly OverridesOf[],
  period: Period,
): (affiliate: string, plan: string) => AddedOverrides {
  const keyOfLine = (one: { affiliate: string; version: { plan: string } }): string =>
    planKey(one.affiliate, one.version.plan)
  const inPeriod = overrides.filter((one) => one.period.id === period.id)
  const earned = Map.groupBy(inPeriod, keyOfLine)
  const funding = overrides.flatMap((one) => one.funded)
  const funded = Map.groupBy(funding, keyOfLine)
  const waiting = overrides.flatMap((one) => one.holds)
  const holds = Map.groupBy(waiting, keyOfLine)
  return (affiliate, plan) => {
    const key = planKey(affiliate, plan)
    const own = earned.get(key) ?? []
    return {
      lines: own.flatMap(({ lines }) => lines),
      measures: own.flatMap((one) => one.measures),
      funded: (funded.get(key) ?? []).map(({ line }) => line).sort(compareFunded),
      holds: (holds.get(key) ?? []).map(({ hold }) => hold),
    }
  }
}

const compareFunded = (a: Line, b: Line): number =>
  compareText(a.scope, b.scope) ||
  compareText(a.rule.id, b.rule.id) ||
  a.version.version - b.version.version
