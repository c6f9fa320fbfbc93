import { type Decimal, decimal, isZero, plainText } from './decimal.ts'
import { compareText } from './facts.ts'

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
}

/** The state before the first period. */
export const NO_STATE: PlanState = {
  closing: '0',
  carries: {},
  deficits: {},
  fences: {},
}

/** A state while a period is settled. */
export interface OpenState {
  readonly carries: Map<string, Decimal>
  readonly deficits: Map<string, Decimal>
  readonly fences: Map<string, Map<string, Decimal>>
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
  }
}
