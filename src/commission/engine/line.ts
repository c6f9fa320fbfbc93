import {
  add,
  amountAt,
  type Decimal,
  fixedText,
  greatest,
  isZero,
  least,
  plainText,
  subtract,
  sum,
  ZERO,
} from './decimal.ts'
import { compareText } from './facts.ts'
import type { LineJson, Part } from './line-json.ts'
import type { OnceState } from './once.ts'
import type { Version } from './plans-in-force.ts'
import { type Ratio, roundRatio } from './ratio.ts'
import type { CompiledRule, CompiledShare } from './rules.ts'
import { type OpenState, stateKey } from './state.ts'
import type { Fx } from './tally.ts'
import { exactly, moneyText, type Trace } from './trace.ts'

/** What a rule pays an affiliate in a period, for one scope. Money is in the plan's currency. */
export interface Line {
  readonly rule: CompiledRule
  readonly version: Version
  /** `affiliate`, `customer:…`, `product:…` or, of an override, `affiliate:…`. */
  readonly scope: string
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  readonly amount: Decimal
  readonly carriedIn: Decimal
  readonly carriedOut: Decimal
  readonly capped: Decimal
  readonly recouped: Decimal
  readonly deficit: Decimal
  /** `base` is before the fence; `base` of the line is after it. */
  readonly fence: {
    readonly base: Decimal
    readonly paidBack: Decimal
    readonly fenced: Decimal
  } | null
  readonly fx: readonly ({ readonly currency: string } & Fx)[]
  /** The qualification of a `once` line. */
  readonly once: OnceState | null
  /** Whether `max_count` took the line's amount. */
  readonly beyondCount: boolean
  /** How its amount came about. */
  readonly trace: Trace
}

/** Returns a line without caps and carries. */
export const newLine = (
  line: Pick<Line, 'rule' | 'version' | 'scope' | 'amount' | 'trace'> & Partial<Line>,
): Line => ({
  base: null,
  units: null,
  measure: null,
  step: null,
  rate: null,
  carriedIn: ZERO,
  carriedOut: ZERO,
  capped: ZERO,
  recouped: ZERO,
  deficit: ZERO,
  fence: null,
  fx: [],
  once: null,
  beyondCount: false,
  ...line,
})

/** Lists amounts by currency, in order of its code. */
export const fxList = (byCurrency: ReadonlyMap<string, Fx> | undefined): Line['fx'] =>
  [...(byCurrency ?? [])]
    .map(([currency, fx]) => ({ currency, ...fx }))
    .sort((a, b) => compareText(a.currency, b.currency))

const plainOrNull = (value: Decimal | null): string | null =>
  value === null ? null : plainText(value)

/** Writes a line: money with the minor digits of its currency, other decimals without trailing zeros. */
export function lineJson(line: Line, digits: number): LineJson {
  const money = (value: Decimal): string => fixedText(value, digits)
  const { fence } = line
  return {
    rule: line.rule.id,
    version: line.version.version,
    kind: line.rule.kind,
    scope: line.scope,
    base: plainOrNull(line.base),
    units: plainOrNull(line.units),
    measure: line.measure,
    step: line.step,
    rate: line.rate,
    amount: money(line.amount),
    carried_in: money(line.carriedIn),
    carried_out: money(line.carriedOut),
    capped: money(line.capped),
    recouped: money(line.recouped),
    deficit: money(line.deficit),
    fence: fence && {
      base: plainText(fence.base),
      paid_back: plainText(fence.paidBack),
      fenced: plainText(fence.fenced),
    },
    fx: line.fx.map(({ currency, amount, converted }) => ({
      currency,
      amount: plainText(amount),
      converted: plainText(converted),
    })),
  }
}

/**
 * Applies `max` to the lines of one rule id, which are in order. What exceeds it is cut from the last
 * lines backwards; each line keeps at least 0. The limit of the last version with lines applies.
 */
export function applyMax(lines: readonly Line[]): Line[] {
  const [first] = lines
  const latest = lines.reduce<Line | undefined>(
    (a, b) => (a && a.version.effectiveFrom >= b.version.effectiveFrom ? a : b),
    first,
  )
  const most = latest?.rule.max ?? null
  if (most === null) return [...lines]
  let excess = subtract(totalOf(lines), most)
  const capped = lines.toReversed().map((line) => {
    const cut = greatest(least(excess, line.amount), ZERO)
    const after = subtract(line.amount, cut)
    line.trace.push(() => ({
      step: 'max',
      max: moneyText(line.version, most),
      before: moneyText(line.version, line.amount),
      capped: moneyText(line.version, cut),
      after: moneyText(line.version, after),
    }))
    if (isZero(cut)) return line
    excess = subtract(excess, cut)
    return cutLine(line, cut)
  })
  return capped.reverse()
}

/** Takes an amount from a line. */
export const cutLine = (line: Line, cut: Decimal): Line => ({
  ...line,
  amount: subtract(line.amount, cut),
  capped: add(line.capped, cut),
})

/** Applies `max_per_customer` to one line. */
export function limitLine(line: Line, most: Decimal | null): Line {
  if (most === null) return line
  const after = least(line.amount, most)
  const capped = subtract(line.amount, after)
  line.trace.push(() => ({
    step: 'max_per_customer',
    max: moneyText(line.version, most),
    before: moneyText(line.version, line.amount),
    capped: moneyText(line.version, capped),
    after: moneyText(line.version, after),
  }))
  return isZero(capped) ? line : cutLine(line, capped)
}

/** Rounds an amount to the minor unit of the plan's currency, half to even. */
export function rounded(paid: Ratio, version: Version, trace: Trace): Decimal {
  const { digits } = version
  const amount = roundRatio(paid, digits)
  trace.push(() => ({
    step: 'rounding',
    digits,
    before: exactly(paid).text,
    after: fixedText(amount, digits),
  }))
  return amount
}

/** Sums the amounts of lines. */
export const totalOf = (lines: readonly Line[]): Decimal => sum(lines.map(({ amount }) => amount))

/**
 * Returns what the `once` rule that a share recoups paid: under the same version, or under `current`
 * under any, since a deficit passes on to later versions.
 */
export const recoupedBy = (rule: CompiledShare, version: Version, once: readonly Line[]): Decimal =>
  totalOf(
    once.filter(
      (one) =>
        one.rule.id === rule.recoups && (version.terms === 'current' || one.version === version),
    ),
  )

/**
 * Recoups what a `once` rule paid from a share (§12 "Advance"): it pays max(0, s − o − deficit), and
 * the new deficit is max(0, deficit + o − s).
 *
 * @param state Its deficits are changed.
 * @param once The lines of all `once` rules of the plan in the period, after caps.
 */
export function applyAdvance(state: OpenState, line: Line, once: readonly Line[]): Line {
  const { rule, version } = line
  if (rule.kind !== 'share' || rule.recoups === null) return line
  const key = stateKey(rule.id, version, line.scope)
  const paidOnce = recoupedBy(rule, version, once)
  const share = line.amount
  const deficitIn = amountAt(state.deficits, key)
  const due = subtract(subtract(share, paidOnce), deficitIn)
  const amount = greatest(due, ZERO)
  const deficit = greatest(subtract(ZERO, due), ZERO)
  const recouped = subtract(greatest(share, ZERO), amount)
  const { recoups } = rule
  line.trace.push(() => ({
    step: 'advance',
    recoups,
    before: moneyText(line.version, share),
    paid_once: moneyText(line.version, paidOnce),
    deficit_in: moneyText(line.version, deficitIn),
    recouped: moneyText(line.version, recouped),
    deficit_out: moneyText(line.version, deficit),
    after: moneyText(line.version, amount),
  }))
  state.deficits.set(key, deficit)
  return { ...line, amount, recouped, deficit }
}
