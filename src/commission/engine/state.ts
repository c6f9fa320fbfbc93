import { compareText } from '../../platform/compare-text.ts'
import { quarterOf } from '../../platform/money/calendar.ts'
import { type Decimal, decimal, isZero, plainText } from '../../platform/money/decimal.ts'
import { addRatio, exactText, NOTHING, parseRatio, type Ratio } from '../../platform/money/ratio.ts'
import type { CompiledTiers } from './rules.ts'

/**
 * What a statement leaves to the next period of its affiliate and plan. Amounts are decimal text. The
 * keys of `carries`, `deficits` and `fences` are JSON of `[rule, version or 0, scope]`.
 */
export interface PlanState {
  readonly closing: string
  readonly carries: Readonly<Record<string, string>>
  readonly deficits: Readonly<Record<string, string>>
  /** What each customer still has to pay back, by customer. */
  readonly fences: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** By JSON of `[rule, version]`: the measures of earlier periods, for tiers with a `window`. */
  readonly measures: Readonly<Record<string, WindowMeasure>>
}

/** The measure of a quarter so far, and of all periods so far. */
export interface WindowMeasure {
  readonly quarter: number
  readonly inQuarter: string
  readonly lifetime: string
}

/** The state before the first period. */
export const NO_STATE: PlanState = {
  closing: '0',
  carries: {},
  deficits: {},
  fences: {},
  measures: {},
}

/** A state while a period is settled. */
export interface OpenState {
  readonly carries: Map<string, Decimal>
  readonly deficits: Map<string, Decimal>
  readonly fences: Map<string, Map<string, Decimal>>
  readonly measures: Map<string, WindowMeasure>
}

const decimals = (record: Readonly<Record<string, string>>): Map<string, Decimal> =>
  new Map(Object.entries(record).map(([key, text]) => [key, decimal(text)]))

/** Opens a state, so that a period can change it. */
export const openState = (state: PlanState): OpenState => ({
  carries: decimals(state.carries),
  deficits: decimals(state.deficits),
  fences: new Map(
    Object.entries(state.fences).map(([key, toPayBack]) => [key, decimals(toPayBack)]),
  ),
  measures: new Map(Object.entries(state.measures)),
})

const sorted = <T>(entries: Iterable<readonly [string, T]>): Record<string, T> =>
  Object.fromEntries([...entries].sort(([a], [b]) => compareText(a, b)))

const texts = (map: ReadonlyMap<string, Decimal>): Record<string, string> =>
  sorted(
    [...map].filter(([, value]) => !isZero(value)).map(([key, value]) => [key, plainText(value)]),
  )

/** Returns the state that the next period starts from. What is 0 is left out. */
export function closeState(open: OpenState, closing: Decimal): PlanState {
  const fences = [...open.fences]
    .map(([key, toPayBack]) => [key, texts(toPayBack)] as const)
    .filter(([, toPayBack]) => Object.keys(toPayBack).length > 0)
  return {
    closing: plainText(closing),
    carries: texts(open.carries),
    deficits: texts(open.deficits),
    fences: sorted(fences),
    measures: sorted(open.measures),
  }
}

/** The key of the measures of a rule of a version. */
export const measureKey = (rule: string, version: number): string => JSON.stringify([rule, version])

/** Returns the measures of earlier periods that a tier's window includes. */
export function earlierMeasure(
  earlier: WindowMeasure | undefined,
  window: CompiledTiers['window'],
  lastDay: number,
): Ratio {
  if (earlier === undefined || window === 'period') return NOTHING
  if (window === 'lifetime') return parseRatio(earlier.lifetime)
  return earlier.quarter === quarterOf(lastDay) ? parseRatio(earlier.inQuarter) : NOTHING
}

/** Adds the measure of a period, which ends on a day, to those before it. */
export function addMeasure(
  earlier: WindowMeasure | undefined,
  measure: Ratio,
  lastDay: number,
): WindowMeasure {
  return {
    quarter: quarterOf(lastDay),
    inQuarter: exactText(addRatio(earlierMeasure(earlier, 'quarter', lastDay), measure)),
    lifetime: exactText(addRatio(earlierMeasure(earlier, 'lifetime', lastDay), measure)),
  }
}
