import { type Decimal, decimal, fixedText, isZero, subtract, sum, ZERO } from '../engine/decimal.ts'
import { compareText } from '../engine/facts.ts'
import { planKey } from '../engine/plans-in-force.ts'
import type { SimulatedPage } from './compute-page.ts'
import type { Amounts, Comparison } from './present.ts'

/** The sums of an affiliate and plan, or of a currency, before and after. */
interface Sums {
  readonly affiliate: string
  readonly plan: string
  readonly currency: string
  readonly digits: number
  readonly current: Earned
  readonly simulated: Earned
}

interface Earned {
  readonly lines: Decimal
  readonly payable: Decimal
}

const NOTHING: Earned = { lines: ZERO, payable: ZERO }

const sumEarned = (all: readonly Earned[]): Earned => ({
  lines: sum(all.map(({ lines }) => lines)),
  payable: sum(all.map(({ payable }) => payable)),
})

/**
 * Compares what affiliates earn under the versions in force and simulated, in all compared periods
 * together.
 *
 * @param all Whether rows without a difference are listed, too.
 */
export function comparePage(page: SimulatedPage, all: boolean): Comparison {
  const rows = new Map<string, Sums>()
  for (const side of ['current', 'simulated'] as const) {
    for (const { affiliate, plan, statement } of page[side]) {
      if (statement === null) continue
      const key = planKey(affiliate, plan.plan)
      const { currency, digits } = plan.first
      const known = rows.get(key) ?? {
        affiliate,
        plan: plan.plan,
        currency,
        digits,
        current: NOTHING,
        simulated: NOTHING,
      }
      const { lines_sum, payable } = statement
      const earned = { lines: decimal(lines_sum), payable: decimal(payable) }
      rows.set(key, { ...known, [side]: sumEarned([known[side], earned]) })
    }
  }
  const ordered = [...rows.values()].sort(
    (a, b) => compareText(a.affiliate, b.affiliate) || compareText(a.plan, b.plan),
  )
  const changed = ordered.filter(isChanged)
  return {
    data: (all ? ordered : changed).map((row) => ({
      affiliate_id: row.affiliate,
      plan: row.plan,
      ...amountsOf(row),
    })),
    total: totalsOf(ordered),
    unchanged: page.affiliates.length - new Set(changed.map(({ affiliate }) => affiliate)).size,
  }
}

const isChanged = ({ current, simulated }: Sums): boolean =>
  !isZero(subtract(simulated.lines, current.lines)) ||
  !isZero(subtract(simulated.payable, current.payable))

function totalsOf(rows: readonly Sums[]): Amounts[] {
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency)
  return [...byCurrency.values()]
    .flatMap(([first, ...others]) => {
      if (!first) return []
      const all = [first, ...others]
      const current = sumEarned(all.map((row) => row.current))
      const simulated = sumEarned(all.map((row) => row.simulated))
      return [amountsOf({ ...first, current, simulated })]
    })
    .sort((a, b) => compareText(a.currency, b.currency))
}

function amountsOf({ currency, digits, current, simulated }: Sums): Amounts {
  const money = (value: Decimal): string => fixedText(value, digits)
  return {
    currency,
    current: money(current.lines),
    simulated: money(simulated.lines),
    difference: money(subtract(simulated.lines, current.lines)),
    payable_current: money(current.payable),
    payable_simulated: money(simulated.payable),
  }
}
