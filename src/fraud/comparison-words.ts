import { fixedText, ZERO } from '../commission/engine/decimal.ts'
import { counted, listed, money } from '../commission/engine/reasons.ts'
import { minorDigits } from '../commission/minor-digits.ts'
import type { HeldSum, SimulatedPage } from './simulated-page.ts'

/** Says that a back-test counts no drafts, in one sentence. */
export const WITHOUT_DRAFTS = 'Statements that nobody has approved yet are not counted.'

/**
 * Returns what a back-test found beside what the version in force would have found, in one sentence; null if none
 * is compared.
 */
export function comparisonWords({
  data,
  would_hold,
  compared_with,
}: Pick<SimulatedPage, 'data' | 'would_hold' | 'compared_with'>): string | null {
  if (!compared_with) return null
  const { version, cases, same } = compared_with
  const parts = [
    `${counted(data.length, 'case')} instead of ${cases}`,
    ...(data.length > 0 && cases > 0 ? [sameWords(same)] : []),
    heldWords(would_hold, compared_with.would_hold),
  ]
  return `Compared with version ${version}, which is in force: ${parts.join('; ')}.`
}

const sameWords = (same: number): string => {
  if (same === 0) return 'none is the same'
  return `${same} ${same === 1 ? 'is' : 'are'} the same`
}

function heldWords(now: readonly HeldSum[], before: readonly HeldSum[]): string {
  const currencies = [...new Set([...now, ...before].map(({ currency }) => currency))].sort()
  if (currencies.length === 0) return 'both would have held nothing'
  const held = (sums: readonly HeldSum[], currency: string) =>
    money(
      sums.find((one) => one.currency === currency)?.amount ??
        fixedText(ZERO, minorDigits(currency)),
      currency,
    )
  return `${listed(currencies.map((one) => `${held(now, one)} held instead of ${held(before, one)}`))}`
}
