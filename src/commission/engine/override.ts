import { applyMax } from './cap.ts'
import type { PeriodContext } from './context.ts'
import { convertAmount } from './convert.ts'
import { negate, round } from './decimal.ts'
import { type Line, newLine } from './line.ts'
import { type LinesWithin, type OverrideSource, sourcesOf } from './override-sources.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import { addRatio, type Ratio, roundRatio, sumRatios } from './ratio.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import type { AffiliateTallies } from './tallies.ts'
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
 */
export function settleOverrides(
  context: PeriodContext,
  upline: string,
  tallies: AffiliateTallies,
  linesWithin: LinesWithin,
  earlier: EarlierMeasure,
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
    const lines = rateSources(version, rule, sources, measure, earlier(version, rule))
    for (const line of rule.downline ? fund(context, upline, lines, result) : lines) {
      result.lines.push(line)
    }
  }
  return result
}

/** Applies rate or tiers, rounding and `max` to what the affiliates below bring. */
function rateSources(
  version: Version,
  rule: CompiledOverride,
  sources: readonly OverrideSource[],
  measure: Ratio,
  earlier: Ratio,
): Line[] {
  let before = earlier
  const lines = sources.map(({ below, base, units, quantity, fx }) => {
    const rated = applyRate(rule, quantity, addRatio(earlier, measure), before)
    before = addRatio(before, quantity)
    return newLine({
      rule,
      version,
      scope: `affiliate:${below}`,
      base,
      units,
      measure: rated.measure,
      step: rated.step,
      rate: rated.rate,
      amount: roundRatio(rated.paid, version.digits),
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
