import { compareText } from '../../platform/compare-text.ts'
import { type Decimal, fixedText, plainText, sum, ZERO } from '../../platform/money/decimal.ts'
import { exactly, type Ratio, roundRatio } from '../../platform/money/ratio.ts'
import type { Fenced } from '../plans/modifiers/fence.ts'
import type { ModifiedLine } from '../plans/modifiers/modifier.ts'
import type { Rule } from '../plans/types.ts'
import type { LineJson, Part } from '../shapes/line-json.ts'
import type { HoldReason } from '../shapes/reasons.ts'
import type { OnceState } from './once.ts'
import type { Version } from './plans-in-force.ts'
import type { CompiledRule } from './rules.ts'
import type { Fx } from './sums.ts'
import { applyRate, type Priced } from './tiers.ts'
import type { Trace } from './trace.ts'

/** What a rule pays an affiliate in a period, for one scope. Money is in the plan's currency. */
export interface Line extends ModifiedLine<Rule> {
  readonly rule: CompiledRule
  readonly version: Version
  readonly base: Decimal | null
  readonly units: Decimal | null
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  /** What the fence of its rule set apart: `base` is before it, that of the line after it. */
  readonly fence: Pick<Fenced, 'before' | 'paidBack' | 'fenced'> | null
  readonly fx: readonly ({ readonly currency: string } & Fx)[]
  /** The qualification of a `once` line. */
  readonly once: OnceState | null
  readonly trace: Trace
}

/** Facts or lines of a rule that wait, as a statement lists them. */
export interface StatementHold {
  readonly rule: string
  readonly version: number
  readonly reason: HoldReason
  readonly currency: string | null
  readonly count: number
  readonly sum: Decimal
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
  counted: null,
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
      base: plainText(fence.before),
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

/** Applies the rate of its rule, or tiers, to a line, and rounds it. */
export function rateLine(
  line: Pick<Line, 'rule' | 'version' | 'scope' | 'trace'> & Partial<Line>,
  priced: Priced,
): Line {
  const { paid, ...rated } = applyRate(line.rule, priced, line.trace)
  return newLine({ ...line, ...rated, amount: rounded(paid, line.version, line.trace) })
}

/** Sums the amounts of lines. */
export const totalOf = (lines: readonly Line[]): Decimal => sum(lines.map(({ amount }) => amount))
