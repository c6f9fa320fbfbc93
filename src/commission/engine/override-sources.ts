import type { Version } from './book.ts'
import type { PeriodContext } from './context.ts'
import { convertAmount } from './convert.ts'
import { add, type Decimal, greatest, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import { fxList, type Line } from './line.ts'
import { type Ratio, ratio } from './ratio.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import type { AffiliateTallies } from './tallies.ts'
import type { Fx } from './tally.ts'

/** The lines of one affiliate in statements whose period ends within another period. */
export type LinesWithin = (affiliate: string) => readonly Line[]

/** What an override of one affiliate below pays for. */
export interface Source {
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
): { sources: Source[]; holds: StatementHold[] } {
  const sources: Source[] = []
  const holds: StatementHold[] = []
  const affiliates = [...context.tree.below(upline, rule.level, context.period.last)]
  for (const below of affiliates.sort(compareText)) {
    const source =
      'lines' in rule.of || 'once' in rule.of
        ? fromLines(context, version, rule, below, linesWithin(below), holds)
        : fromFacts(rule, below, tallies)
    if (source) sources.push(source)
  }
  return { sources, holds }
}

/** A negative sum of an affiliate counts 0, unless the rule has `negative: "offset"` (§16.25). */
const floor = (value: Decimal, rule: CompiledOverride): Decimal =>
  rule.offset ? value : greatest(value, ZERO)

function fromFacts(
  rule: CompiledOverride,
  below: string,
  tallies: AffiliateTallies,
): Source | null {
  const found = tallies.overrides.get(rule)?.get(below)
  if (!found || found.tally.total.facts === 0) return null
  const { total, fx } = found.tally
  if ('unit' in rule.of) {
    const units = floor(total.units, rule)
    return { below, base: null, units, quantity: ratio(units, rule.each), fx: [] }
  }
  const fixed = 'base' in rule.of ? rule.of.base.fixed : ZERO
  const base = floor(add(total.base, fixed), rule)
  return { below, base, units: null, quantity: ratio(base), fx: fxList(fx.get('')) }
}

function fromLines(
  context: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  below: string,
  lines: readonly Line[],
  holds: StatementHold[],
): Source | null {
  const { of } = rule
  if ('once' in of) {
    const units: Decimal = {
      units: BigInt(
        lines.filter(
          (line) => line.rule.kind === 'once' && line.rule.id === of.once && !line.beyondCount,
        ).length,
      ),
      scale: 0,
    }
    return units.units === 0n
      ? null
      : { below, base: null, units, quantity: ratio(units, rule.each), fx: [] }
  }
  const kinds = 'lines' in of ? of.lines : new Set<string>()
  const used = lines.filter((line) => kinds.has(line.rule.kind))
  if (used.length === 0) return null
  const fx = convertSums(context, version, rule, used, holds)
  if (fx.size === 0) return null
  const sum = [...fx.values()].reduce((total, { converted }) => add(total, converted), ZERO)
  const base = floor(sum, rule)
  return { below, base, units: null, quantity: ratio(base), fx: fxList(fx) }
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
    const amount = group.reduce((total, line) => add(total, line.amount), ZERO)
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
