import { totalOf } from './cap.ts'
import type { PeriodContext } from './context.ts'
import { convertAmount } from './convert.ts'
import { add, type Decimal, greatest, integer, sum, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import { fxList, type Line } from './line.ts'
import type { Version } from './plans-in-force.ts'
import { type Ratio, ratio } from './ratio.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import type { AffiliateTallies } from './tallies.ts'
import type { Fx } from './tally.ts'

/** The lines of one affiliate in statements whose period ends within another period. */
export type LinesWithin = (affiliate: string) => readonly Line[]

/** What an override of one affiliate below pays for. */
export interface OverrideSource {
  readonly below: string
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly quantity: Ratio
  readonly fx: Line['fx']
}

/** Finds what each affiliate below brings, in order of its id. */
export function sourcesOf(
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
