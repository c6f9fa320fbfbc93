import { compareText } from '../../platform/compare-text.ts'
import { endingWithin, type Period } from '../../platform/money/calendar.ts'
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
} from '../../platform/money/decimal.ts'
import { convertAmount, convertUnits } from '../../platform/money/exchange.ts'
import {
  addRatio,
  NOTHING,
  type Ratio,
  ratio,
  roundRatio,
  subtractRatio,
  sumRatios,
} from '../../platform/money/ratio.ts'
import { modify } from '../plans/modifiers/order.ts'
import type { HoldReason } from '../shapes/reasons.ts'
import type { Account, InPeriod } from './account.ts'
import { fxList, type Line, newLine, rateLine, type StatementHold, totalOf } from './line.ts'
import { earlierOf } from './measure.ts'
import { overrideVersion, type Version } from './plans-in-force.ts'
import type { CompiledOverride } from './rules.ts'
import { type FundedLine, type OverridesOf, type Settlement, stateBefore } from './settlement.ts'
import { baseStep, fundedStep, type SourceLine, sourcesStep, unitsStep } from './steps.ts'
import { type Fx, factsOf, fxOf } from './sums.ts'
import type { Measure } from './tiers.ts'
import type { Trace } from './trace.ts'

/** The modifiers of overrides remember nothing, and recoup no rule. */
const NO_MEMORY = { state: { carries: new Map(), deficits: new Map() }, once: [] }

/** The overrides of one version of an upline in a period. */
interface Upline {
  readonly settlement: Settlement
  readonly account: InPeriod
  readonly upline: string
  readonly version: Version
}

/** Makes the override lines of all affiliates in a period, and those that affiliates below fund. */
export function settleOverrides(settlement: Settlement, period: Period): OverridesOf[] {
  const account = { ...settlement.account, period }
  return settlement.affiliates.flatMap((upline) => {
    const version = overrideVersion(account.inForce, upline, period.last)
    return version?.period === period.kind
      ? [overridesOf({ settlement, account, upline, version })]
      : []
  })
}

function overridesOf(of: Upline): OverridesOf {
  const { settlement, account, upline, version } = of
  const { period } = account
  const before = stateBefore(settlement, upline, version.plan, period)
  const measures = new Map(Object.entries(before.state.measures))
  const result = {
    affiliate: upline,
    period,
    version,
    lines: [] as Line[],
    funded: [] as FundedLine[],
    measures: [] as OverridesOf['measures'][number][],
    holds: [] as OverridesOf['holds'][number][],
  }
  for (const rule of version.rules) {
    if (rule.kind !== 'override') continue
    const { sources, holds } = sourcesOf(of, rule)
    for (const hold of holds) result.holds.push({ affiliate: upline, version, hold })
    const earlier = earlierOf(measures, version, rule, period)
    const brought = sumRatios(sources.map(({ quantity }) => quantity))
    result.measures.push({ rule, quantity: brought })
    const total = addRatio(earlier, brought)
    // As it is explained, what the period adds makes up the total with the 12 places that a line has.
    const own = subtractRatio(ratio(roundRatio(total, PLACES)), earlier)
    const measure = { earlier, own, network: NOTHING, total }
    const lines = rateSources(version, rule, sources, measure)
    for (const line of rule.source.funded_by === 'downline'
      ? fund(account, upline, lines, result)
      : lines) {
      result.lines.push(line)
    }
  }
  return result
}

/** Returns the lines of an affiliate in statements whose period ends within the period. */
const linesWithin = ({ own }: Settlement, affiliate: string, period: Period): SourceLine[] =>
  endingWithin(period).flatMap(({ id }) =>
    [...(own.get(id)?.get(affiliate)?.values() ?? [])].flatMap(({ lines }) =>
      lines.map((line) => ({ line, period: id })),
    ),
  )

/** Applies rate or tiers, rounding and `max` to what the affiliates below bring. */
function rateSources(
  version: Version,
  rule: CompiledOverride,
  sources: readonly OverrideSource[],
  measure: Measure,
): Line[] {
  let before = measure.earlier
  const lines = sources.map(({ scope, trace, base, units, quantity, fx }) => {
    const head = { rule, version, scope, trace, base, units, fx }
    const line = rateLine(head, { quantity, measure, before })
    before = addRatio(before, quantity)
    return line
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
  { inForce, rates }: Pick<Account, 'inForce' | 'rates'>,
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
  account: InPeriod,
  upline: string,
  lines: readonly Line[],
  result: { funded: FundedLine[]; holds: OverridesOf['holds'][number][] },
): Line[] {
  const { rates, period } = account
  return lines.filter((line) => {
    const { version: earning, rule, amount: earned } = line
    const affiliate = line.scope.slice('affiliate:'.length)
    const payer = payerOf(account, earning, affiliate, period.last)
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
        () => fundedStep(account, upline, line, { version, converted }),
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
  of: Upline,
  rule: CompiledOverride,
): { sources: OverrideSource[]; holds: StatementHold[] } {
  const { account, upline } = of
  const sources: OverrideSource[] = []
  const holds: StatementHold[] = []
  const affiliates = [...account.tree.below(upline, rule.source.level, account.period.last)]
  for (const below of affiliates.sort(compareText)) {
    const scope = `affiliate:${below}`
    const trace: Trace = []
    const quantity = quantityOf(of, rule, below, { trace, holds })
    if (quantity) sources.push({ scope, trace, ...quantity })
  }
  return { sources, holds }
}

/** A negative sum of an affiliate counts 0, unless the rule has `negative: "offset"` (§16.25). */
function floor(value: Decimal, rule: CompiledOverride, trace: Trace): Decimal {
  if (rule.source.negative === 'offset' || !isNegative(value)) return value
  trace.push(() => ({ step: 'floor', before: plainText(value), after: '0' }))
  return ZERO
}

/** Whether an override pays for a line of an affiliate below. It counts no `once` line beyond `max_count`. */
function paysFor({ of }: CompiledOverride, { rule, counted }: Line): boolean {
  if ('lines' in of) return of.lines.has(rule.kind)
  return 'once' in of && rule.kind === 'once' && rule.id === of.once && !counted?.beyondCount
}

type Quantity = Pick<OverrideSource, 'base' | 'units' | 'quantity' | 'fx'>

/** How the quantity of a source comes about, and what it waits for. */
interface Noted {
  readonly trace: Trace
  readonly holds: StatementHold[]
}

function quantityOf(
  { settlement, account, upline, version }: Upline,
  rule: CompiledOverride,
  below: string,
  { trace, holds }: Noted,
): Quantity | null {
  const { of } = rule
  const { period } = account
  if ('once' in of || 'lines' in of) {
    const used = linesWithin(settlement, below, period).filter(({ line }) => paysFor(rule, line))
    trace.push(() => sourcesStep(account, below, used, 'once' in of ? null : version.currency))
    if ('once' in of) {
      const count = used.length
      const counted = { records: count, customers: count }
      trace.push(() => unitsStep(of, counted, integer(count), rule.each))
      return count === 0 ? null : ofUnits(rule, integer(count))
    }
    const { fx, waiting } = convertSums(account, version, used)
    for (const hold of waiting) holds.push({ rule: rule.id, version: version.version, ...hold })
    if (fx.size === 0) return null
    const converted = sum([...fx.values()].map((one) => one.converted))
    return ofBase(floor(converted, rule, trace), fxList(fx))
  }
  const sums = settlement.sums.get(period.id)?.get(upline)
  const from = sums?.overrides.get(rule)?.get(below)
  if (!from || from.total.facts === 0) return null
  const { total } = from
  const facts = factsOf(from, '')
  if ('unit' in of) {
    const units = floor(total.units, rule, trace)
    trace.push(() => unitsStep(of.unit.source, facts, units, rule.each))
    return ofUnits(rule, units)
  }
  const { base } = of
  trace.push(() => baseStep(account, { base, to: version.currency, withFixed: true }, facts))
  return ofBase(floor(add(total.base, base.fixed), rule, trace), fxList(fxOf(facts)))
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
  { rates, period }: InPeriod,
  { currency: to }: Version,
  used: readonly SourceLine[],
): { fx: Map<string, Fx>; waiting: Omit<StatementHold, 'rule' | 'version'>[] } {
  const fx = new Map<string, Fx>()
  const waiting: Omit<StatementHold, 'rule' | 'version'>[] = []
  for (const [currency, group] of Map.groupBy(used, ({ line }) => line.version.currency)) {
    const amount = totalOf(group.map(({ line }) => line))
    const converted = convertAmount(amount, currency, to, period.last, rates)
    if (typeof converted === 'string') {
      waiting.push({ reason: converted, currency, count: group.length, sum: amount })
    } else fx.set(currency, { amount, converted })
  }
  return { fx, waiting }
}
