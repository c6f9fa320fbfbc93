import { type Decimal, fixedText, plainText, ZERO } from './decimal.ts'
import { compareText } from './facts.ts'
import type { OnceState } from './once.ts'
import type { Version } from './plans-in-force.ts'
import type { CompiledRule } from './rules.ts'
import type { Fx } from './tally.ts'
import type { Part } from './tiers.ts'

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
  /** What the rate made of the base or units, rounded to the minor unit, before caps and carries. */
  readonly rated: Decimal
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
}

/** Returns a line without caps and carries. */
export const newLine = (
  line: Pick<Line, 'rule' | 'version' | 'scope' | 'amount'> & Partial<Line>,
): Line => ({
  base: null,
  units: null,
  measure: null,
  step: null,
  rate: null,
  rated: line.amount,
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

/** A line on the wire, without its id (§13). */
export interface LineJson {
  readonly rule: string
  readonly version: number
  readonly kind: CompiledRule['kind']
  readonly scope: string
  readonly base: string | null
  readonly units: string | null
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  readonly amount: string
  readonly carried_in: string
  readonly carried_out: string
  readonly capped: string
  readonly recouped: string
  readonly deficit: string
  /** `base` is before the fence; `base` of the line is after it. */
  readonly fence: {
    readonly base: string
    readonly paid_back: string
    readonly fenced: string
  } | null
  readonly fx: readonly {
    readonly currency: string
    readonly amount: string
    readonly converted: string
  }[]
}

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
