import type { PeriodContext } from './context.ts'
import { convertAmount } from './convert.ts'
import { add, type Decimal, greatest, integer, negate, round, sum, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import { applyMax, fxList, type Line, newLine, rounded, totalOf, traceOf } from './line.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import { addRatio, type Ratio, ratio, sumRatios } from './ratio.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import type { AffiliateTallies, Fx } from './tally.ts'
import { applyRate } from './tiers.ts'

/** A line that an upline's override books in the statement of an affiliate below. */
export interface FundedLine {
  readonly affiliate: string
  readonly version: Version
  readonly line: Line
}

/** What the overrides of one affiliate come to in a period. */
export interface Overrides {
  readonly version: Version
  readonly lines: readonly Line[]
  readonly funded: readonly FundedLine[]
  /** What each rule brought in the period, for tiers with a window. */
  readonly measures: ReadonlyMap<CompiledOverride, Ratio>
  readonly holds: readonly {
    readonly affiliate: string
    readonly version: Version
    readonly hold: StatementHold
  }[]
}

/** Returns the measures of earlier periods that a rule's window includes. */
export type EarlierMeasure = (version: Version, rule: CompiledOverride) => Ratio

/**
 * Makes the override lines of an affiliate in a period, and those that affiliates below fund.
 * Returns null if the upline has no plan, or if its plan has another period kind.
 *
 * @param traced The line that is explained; null while statements are computed.
 */
export function settleOverrides(
  context: PeriodContext,
  upline: string,
  tallies: AffiliateTallies,
  linesWithin: LinesWithin,
  earlier: EarlierMeasure,
  traced: Line | null,
): Overrides | null {
  const { inForce, period } = context
  const version = overrideVersion(inForce, upline, period.last)
  if (version?.period !== period.kind) return null
  const result = {
    version,
    lines: [] as Line[],
    funded: [] as FundedLine[],
    measures: new Map<CompiledOverride, Ratio>(),
    holds: [] as Overrides['holds'][number][],
  }
  for (const rule of version.rules) {
    if (rule.kind !== 'override') continue
    const { sources, holds } = sourcesOf(context, upline, version, rule, tallies, linesWithin)
    for (const hold of holds) result.holds.push({ affiliate: upline, version, hold })
    const measure = sumRatios(sources.map(({ quantity }) => quantity))
    result.measures.set(rule, measure)
    const lines = rateSources(version, rule, sources, measure, earlier(version, rule), traced)
    for (const line of rule.downline ? fund(context, upline, lines, result) : lines) {
      result.lines.push(line)
    }
  }
  return result
}

/** Applies rate or tiers, rounding and `max` to what the affiliates below bring; `traced` is the explained line. */
function rateSources(
  version: Version,
  rule: CompiledOverride,
  sources: readonly OverrideSource[],
  measure: Ratio,
  earlier: Ratio,
  traced: Line | null,
): Line[] {
  let before = earlier
  const lines = sources.map(({ below, base, units, quantity, fx }) => {
    const name = { rule, version, scope: `affiliate:${below}` }
    const trace = traceOf(traced, name)
    const rated = applyRate(rule, quantity, addRatio(earlier, measure), before, trace)
    before = addRatio(before, quantity)
    return newLine({
      ...name,
      trace,
      base,
      units,
      measure: rated.measure,
      step: rated.step,
      rate: rated.rate,
      amount: rounded(rated.paid, version, trace),
      fx,
    })
  })
  return applyMax(lines)
}

/** Books the opposite of each line in the statement of the affiliate below. A line that cannot be booked waits. */
function fund(
  { inForce, rates, period }: PeriodContext,
  upline: string,
  lines: readonly Line[],
  result: { funded: FundedLine[]; holds: Overrides['holds'][number][] },
): Line[] {
  return lines.filter((line) => {
    const affiliate = line.scope.slice('affiliate:'.length)
    const version = overrideVersion(inForce, affiliate, period.last)
    if (version === null) return false
    const { currency } = line.version
    const converted = convertAmount(line.amount, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      const { version: earning, amount, rule } = line
      const waiting = {
        rule: rule.id,
        version: earning.version,
        reason: converted,
        currency,
        count: 1,
      }
      result.holds.push(
        { affiliate: upline, version: earning, hold: { ...waiting, sum: amount } },
        { affiliate, version, hold: { ...waiting, sum: negate(amount) } },
      )
      return false
    }
    const amount = negate(round(converted, version.digits))
    const own = newLine({
      rule: line.rule,
      version: line.version,
      scope: `affiliate:${upline}`,
      amount,
    })
    result.funded.push({ affiliate, version, line: own })
    return true
  })
}

/** The lines of one affiliate in statements whose period ends within another period. */
type LinesWithin = (affiliate: string) => readonly Line[]

/** What an override of one affiliate below pays for. */
interface OverrideSource {
  readonly below: string
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly quantity: Ratio
  readonly fx: Line['fx']
}

/** Finds what each affiliate below brings, in order of its id. */
function sourcesOf(
  context: PeriodContext,
  upline: string,
  version: Version,
  rule: CompiledOverride,
  tallies: AffiliateTallies,
  linesWithin: LinesWithin,
): { sources: OverrideSource[]; holds: StatementHold[] } {
  const sources: OverrideSource[] = []
  const holds: StatementHold[] = []
  const affiliates = [...context.tree.below(upline, rule.level, context.period.last)]
  for (const below of affiliates.sort(compareText)) {
    const source = sourceOf(context, version, rule, below, tallies, linesWithin, holds)
    if (source) sources.push(source)
  }
  return { sources, holds }
}

/** A negative sum of an affiliate counts 0, unless the rule has `negative: "offset"` (§16.25). */
const floor = (value: Decimal, rule: CompiledOverride): Decimal =>
  rule.offset ? value : greatest(value, ZERO)

function sourceOf(
  context: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  below: string,
  tallies: AffiliateTallies,
  linesWithin: LinesWithin,
  holds: StatementHold[],
): OverrideSource | null {
  const { of } = rule
  if ('once' in of) return fromOnce(rule, of.once, below, linesWithin(below))
  if ('lines' in of) {
    const used = linesWithin(below).filter((line) => of.lines.has(line.rule.kind))
    return fromLines(context, version, rule, below, used, holds)
  }
  const tally = tallies.overrides.get(rule)?.get(below)?.tally
  if (!tally || tally.total.facts === 0) return null
  const { total, fx } = tally
  if ('unit' in of) return ofUnits(rule, below, floor(total.units, rule))
  return ofBase(below, floor(add(total.base, of.base.fixed), rule), fxList(fx.get('')))
}

const ofUnits = (rule: CompiledOverride, below: string, units: Decimal): OverrideSource => ({
  below,
  base: null,
  units,
  quantity: ratio(units, rule.each),
  fx: [],
})

const ofBase = (below: string, base: Decimal, fx: Line['fx']): OverrideSource => ({
  below,
  base,
  units: null,
  quantity: ratio(base),
  fx,
})

/** Counts the lines of a `once` rule that `max_count` did not cap. */
function fromOnce(
  rule: CompiledOverride,
  id: string,
  below: string,
  lines: readonly Line[],
): OverrideSource | null {
  const paid = lines.filter(
    (line) => line.rule.kind === 'once' && line.rule.id === id && !line.beyondCount,
  )
  return paid.length === 0 ? null : ofUnits(rule, below, integer(paid.length))
}

function fromLines(
  context: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  below: string,
  lines: readonly Line[],
  holds: StatementHold[],
): OverrideSource | null {
  const fx = convertSums(context, version, rule, lines, holds)
  if (fx.size === 0) return null
  const base = floor(sum([...fx.values()].map(({ converted }) => converted)), rule)
  return ofBase(below, base, fxList(fx))
}

/** Converts the sums of lines by currency on the period's last day. Those without a rate wait. */
function convertSums(
  { rates, period }: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  lines: readonly Line[],
  holds: StatementHold[],
): Map<string, Fx> {
  const fx = new Map<string, Fx>()
  for (const [currency, group] of Map.groupBy(lines, (line) => line.version.currency)) {
    const amount = totalOf(group)
    const converted = convertAmount(amount, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      holds.push(holdOf(version, rule, converted, currency, group.length, amount))
    } else fx.set(currency, { amount, converted })
  }
  return fx
}

const holdOf = (
  version: Version,
  rule: CompiledOverride,
  reason: HoldReason,
  currency: string,
  count: number,
  sum: Decimal,
): StatementHold => ({ rule: rule.id, version: version.version, reason, currency, count, sum })
