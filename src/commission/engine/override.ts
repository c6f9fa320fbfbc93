import { modify } from '../modifiers/order.ts'
import type { Context, PeriodContext } from './context.ts'
import { convertAmount, convertUnits } from './convert.ts'
import {
  add,
  type Decimal,
  fixedText,
  integer,
  isNegative,
  negate,
  PLACES,
  plainText,
  round,
  sum,
  ZERO,
} from './decimal.ts'
import { compareText } from './facts.ts'
import { fxList, type Line, newLine, rateLine, totalOf } from './line.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import {
  addRatio,
  NOTHING,
  type Ratio,
  ratio,
  roundRatio,
  subtractRatio,
  sumRatios,
} from './ratio.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledOverride } from './rules.ts'
import type { StatementHold } from './settle.ts'
import { baseStep, fundedStep, type SourceLine, sourcesStep, unitsStep } from './steps.ts'
import { type AffiliateSums, type Fx, factsOf, fxOf } from './sums.ts'
import type { Measure } from './tiers.ts'
import type { Trace } from './trace.ts'

/** The modifiers of overrides remember nothing, and recoup no rule. */
const NO_MEMORY = { state: { carries: new Map(), deficits: new Map() }, once: [] }

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
  readonly measures: readonly { readonly rule: CompiledOverride; readonly quantity: Ratio }[]
  readonly holds: readonly {
    readonly affiliate: string
    readonly version: Version
    readonly hold: StatementHold
  }[]
}

/** Everything that the overrides of one affiliate and period are made from. */
export interface OverrideInput {
  readonly context: PeriodContext
  readonly upline: string
  readonly sums: AffiliateSums
  /** Returns the lines of an affiliate in statements whose period ends within the period. */
  readonly linesWithin: (affiliate: string) => readonly SourceLine[]
  /** Returns the measures of earlier periods that a rule's window includes. */
  readonly earlier: (version: Version, rule: CompiledOverride) => Ratio
}

/**
 * Makes the override lines of an affiliate in a period, and those that affiliates below fund.
 * Returns null if the upline has no plan, or if its plan has another period kind.
 */
export function settleOverrides(input: OverrideInput): Overrides | null {
  const { context, upline } = input
  const { inForce, period } = context
  const version = overrideVersion(inForce, upline, period.last)
  if (version?.period !== period.kind) return null
  const result = {
    version,
    lines: [] as Line[],
    funded: [] as FundedLine[],
    measures: [] as Overrides['measures'][number][],
    holds: [] as Overrides['holds'][number][],
  }
  for (const rule of version.rules) {
    if (rule.kind !== 'override') continue
    const { sources, holds } = sourcesOf(input, version, rule)
    for (const hold of holds) result.holds.push({ affiliate: upline, version, hold })
    const earlier = input.earlier(version, rule)
    const brought = sumRatios(sources.map(({ quantity }) => quantity))
    result.measures.push({ rule, quantity: brought })
    const total = addRatio(earlier, brought)
    // As it is explained, what the period adds makes up the total with the 12 places that a line has.
    const own = subtractRatio(ratio(roundRatio(total, PLACES)), earlier)
    const measure = { earlier, own, network: NOTHING, total }
    const lines = rateSources(version, rule, sources, measure)
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
  measure: Measure,
): Line[] {
  let before = measure.earlier
  const lines = sources.map(({ scope, trace, base, units, quantity, fx }) => {
    const start = before
    before = addRatio(before, quantity)
    const head = { rule, version, scope, trace, base, units, fx }
    return rateLine(head, { quantity, measure, start })
  })
  return modify(lines, 'override', NO_MEMORY)
}

/** Who pays for an override: the version of the affiliate below, and what its line waits for. */
interface Payer {
  readonly version: Version
  readonly waits: HoldReason | null
}

/** Returns by what an affiliate below pays for an override of a version; null if it has no plan, so that there is no line. */
export function payerOf(
  { inForce, rates }: Pick<Context, 'inForce' | 'rates'>,
  { currency }: Version,
  affiliate: string,
  last: number,
): Payer | null {
  const version = overrideVersion(inForce, affiliate, last)
  if (version === null) return null
  const converted = convertUnits(0n, currency, version.currency, last, rates)
  return { version, waits: typeof converted === 'string' ? converted : null }
}

/** Books the opposite of each line in the statement of the affiliate below. A line that cannot be booked waits. */
function fund(
  context: PeriodContext,
  upline: string,
  lines: readonly Line[],
  result: { funded: FundedLine[]; holds: Overrides['holds'][number][] },
): Line[] {
  const { rates, period } = context
  return lines.filter((line) => {
    const { version: earning, rule, amount: earned } = line
    const affiliate = line.scope.slice('affiliate:'.length)
    const payer = payerOf(context, earning, affiliate, period.last)
    if (payer === null) return false
    const { version } = payer
    const { currency } = earning
    const converted = convertAmount(earned, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      const { version: number } = earning
      const waiting = { rule: rule.id, version: number, reason: converted, currency, count: 1 }
      const hold = { ...waiting, sum: earned }
      result.holds.push(
        { affiliate: upline, version: earning, hold },
        { affiliate, version, hold: { ...hold, sum: negate(earned) } },
      )
      return false
    }
    const amount = negate(round(converted, version.digits))
    const own = newLine({
      rule,
      version: earning,
      scope: `affiliate:${upline}`,
      amount,
      trace: [
        () => fundedStep(context, upline, line, version, converted),
        () => ({
          step: 'rounding',
          digits: version.digits,
          before: plainText(negate(converted)),
          after: fixedText(amount, version.digits),
        }),
      ],
    })
    result.funded.push({ affiliate, version, line: own })
    return true
  })
}

/** What an override of one affiliate below pays for. */
interface OverrideSource {
  readonly scope: string
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly quantity: Ratio
  readonly fx: Line['fx']
  readonly trace: Trace
}

/** Finds what each affiliate below brings, in order of its id. */
function sourcesOf(
  input: OverrideInput,
  version: Version,
  rule: CompiledOverride,
): { sources: OverrideSource[]; holds: StatementHold[] } {
  const { context, upline } = input
  const sources: OverrideSource[] = []
  const holds: StatementHold[] = []
  const affiliates = [...context.tree.below(upline, rule.level, context.period.last)]
  for (const below of affiliates.sort(compareText)) {
    const scope = `affiliate:${below}`
    const trace: Trace = []
    const quantity = quantityOf(input, version, rule, below, holds, trace)
    if (quantity) sources.push({ scope, trace, ...quantity })
  }
  return { sources, holds }
}

/** A negative sum of an affiliate counts 0, unless the rule has `negative: "offset"` (§16.25). */
function floor(value: Decimal, rule: CompiledOverride, trace: Trace): Decimal {
  if (rule.offset || !isNegative(value)) return value
  trace.push(() => ({ step: 'floor', before: plainText(value), after: '0' }))
  return ZERO
}

/** Whether an override pays for a line of an affiliate below. It counts no `once` line beyond `max_count`. */
function paysFor({ of }: CompiledOverride, { rule, counted }: Line): boolean {
  if ('lines' in of) return of.lines.has(rule.kind)
  return 'once' in of && rule.kind === 'once' && rule.id === of.once && !counted?.beyondCount
}

type Quantity = Pick<OverrideSource, 'base' | 'units' | 'quantity' | 'fx'>

function quantityOf(
  { context, sums, linesWithin }: OverrideInput,
  version: Version,
  rule: CompiledOverride,
  below: string,
  holds: StatementHold[],
  trace: Trace,
): Quantity | null {
  const { of } = rule
  if ('once' in of || 'lines' in of) {
    const used = linesWithin(below).filter(({ line }) => paysFor(rule, line))
    trace.push(() => sourcesStep(context, below, used, 'once' in of ? null : version.currency))
    if ('once' in of) {
      const count = used.length
      const counted = { records: count, customers: count }
      trace.push(() => unitsStep(of, counted, integer(count), rule.each))
      return count === 0 ? null : ofUnits(rule, integer(count))
    }
    const fx = convertSums(context, version, rule, used, holds)
    if (fx.size === 0) return null
    const converted = sum([...fx.values()].map((one) => one.converted))
    return ofBase(floor(converted, rule, trace), fxList(fx))
  }
  const from = sums.overrides.get(rule)?.get(below)
  if (!from || from.total.facts === 0) return null
  const { total } = from
  const facts = factsOf(from, '')
  if ('unit' in of) {
    const units = floor(total.units, rule, trace)
    trace.push(() => unitsStep(of.unit.source, facts, units, rule.each))
    return ofUnits(rule, units)
  }
  trace.push(() => baseStep(context, of.base, facts, version.currency, true))
  return ofBase(floor(add(total.base, of.base.fixed), rule, trace), fxList(fxOf(facts)))
}

const ofUnits = (rule: CompiledOverride, units: Decimal): Quantity => ({
  base: null,
  units,
  quantity: ratio(units, rule.each),
  fx: [],
})

const ofBase = (base: Decimal, fx: Line['fx']): Quantity => ({
  base,
  units: null,
  quantity: ratio(base),
  fx,
})

/** Converts the sums of lines by currency on the period's last day. Those without a rate wait. */
function convertSums(
  { rates, period }: PeriodContext,
  version: Version,
  rule: CompiledOverride,
  used: readonly SourceLine[],
  holds: StatementHold[],
): Map<string, Fx> {
  const fx = new Map<string, Fx>()
  for (const [currency, group] of Map.groupBy(used, ({ line }) => line.version.currency)) {
    const amount = totalOf(group.map(({ line }) => line))
    const converted = convertAmount(amount, currency, version.currency, period.last, rates)
    if (typeof converted === 'string') {
      const waiting = { reason: converted, currency, count: group.length, sum: amount }
      holds.push({ rule: rule.id, version: version.version, ...waiting })
    } else fx.set(currency, { amount, converted })
  }
  return fx
}
