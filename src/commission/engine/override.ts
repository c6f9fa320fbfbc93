import { overrideVersion, type Version } from './book.ts'
import { applyMax } from './cap.ts'
import type { PeriodContext } from './context.ts'
import { convertAmount } from './convert.ts'
import { add, type Decimal, decimal, greatest, negate, round, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import { fxList, type Line, newLine } from './line.ts'
import { addRatio, NOTHING, type Ratio, ratio, roundRatio, sumRatios } from './ratio.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import type { AffiliateTallies } from './tallies.ts'
import type { Fx } from './tally.ts'
import { applyRate } from './tiers.ts'

const HUNDRED = decimal('100')

/** The lines of one affiliate in statements whose period ends within another period. */
export type LinesWithin = (affiliate: string) => readonly Line[]

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
  readonly holds: readonly {
    readonly affiliate: string
    readonly version: Version
    readonly hold: StatementHold
  }[]
}

/** What an override of one affiliate below pays for. */
interface Source {
  readonly below: string
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly quantity: Ratio
  readonly fx: Line['fx']
}

/**
 * Makes the override lines of an affiliate in a period, and those that affiliates below fund.
 * Returns null if the version that it follows has another kind of period, or none is assigned.
 */
export function settleOverrides(
  context: PeriodContext,
  upline: string,
  tallies: AffiliateTallies,
  linesWithin: LinesWithin,
): Overrides | null {
  const { book, period } = context
  const version = overrideVersion(book, upline, period.last)
  if (version?.period !== period.kind) return null
  const result = {
    version,
    lines: [] as Line[],
    funded: [] as FundedLine[],
    holds: [] as Overrides['holds'][number][],
  }
  for (const rule of version.rules) {
    if (rule.kind !== 'override') continue
    const { sources, holds } = sourcesOf(context, upline, version, rule, tallies, linesWithin)
    for (const hold of holds) result.holds.push({ affiliate: upline, version, hold })
    const lines = rateSources(version, rule, sources)
    for (const line of rule.downline ? fund(context, upline, lines, result) : lines) {
      result.lines.push(line)
    }
  }
  return result
}

/** Finds what each affiliate below brings, in order of its id. */
function sourcesOf(
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
  if (fx === null) return null
  const sum = [...fx.values()].reduce((total, { converted }) => add(total, converted), ZERO)
  const base = floor(sum, rule)
  return { below, base, units: null, quantity: ratio(base), fx: fxList(fx) }
}

/** Converts the sums of lines by currency on the period's last day; null if one has no rate. */
function convertSums(
  { rates, period }: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  lines: readonly Line[],
  holds: StatementHold[],
): Map<string, Fx> | null {
  const fx = new Map<string, Fx>()
  let waits = false
  for (const [currency, group] of Map.groupBy(lines, (line) => line.version.currency)) {
    const amount = group.reduce((total, line) => add(total, line.amount), ZERO)
    const converted = convertAmount(amount, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      waits = true
      holds.push(holdOf(version, rule, converted, currency, group.length, amount))
    } else fx.set(currency, { amount, converted })
  }
  return waits ? null : fx
}

const holdOf = (
  version: Version,
  rule: CompiledOverride,
  reason: HoldReason,
  currency: string,
  count: number,
  sum: Decimal,
): StatementHold => ({ rule: rule.id, version: version.version, reason, currency, count, sum })

/** Applies rate or tiers, rounding and `max` to what the affiliates below bring. */
function rateSources(version: Version, rule: CompiledOverride, sources: readonly Source[]): Line[] {
  const measure = sumRatios(sources.map(({ quantity }) => quantity))
  const divisor = rule.rateIs === 'percent' ? HUNDRED : decimal('1')
  let before: Ratio = NOTHING
  const lines = sources.map(({ below, base, units, quantity, fx }) => {
    const rated = applyRate(rule, quantity, measure, before)
    before = addRatio(before, quantity)
    const { num, den } = rated.paid
    const paid = ratio(num, { units: den.units * divisor.units, scale: den.scale })
    return newLine({
      rule,
      version,
      scope: `affiliate:${below}`,
      base,
      units,
      measure: rated.measure,
      step: rated.step,
      rate: rated.rate,
      amount: roundRatio(paid, version.digits),
      fx,
    })
  })
  return applyMax(lines)
}

/** Books the opposite of each line with the affiliate below. A line that cannot be booked waits. */
function fund(
  { book, rates, period }: PeriodContext,
  upline: string,
  lines: readonly Line[],
  result: { funded: FundedLine[]; holds: Overrides['holds'][number][] },
): Line[] {
  return lines.filter((line) => {
    const affiliate = line.scope.slice('affiliate:'.length)
    const version = overrideVersion(book, affiliate, period.last)
    if (version === null) return false
    const { currency } = line.version
    const converted = convertAmount(line.amount, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      const { id } = line.rule
      const held = { reason: converted, currency, count: 1, sum: line.amount }
      const hold = { rule: id, version: line.version.version, ...held }
      result.holds.push(
        { affiliate: upline, version: line.version, hold },
        { affiliate, version, hold },
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
