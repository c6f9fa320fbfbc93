import { readFileSync } from 'node:fs'

/** The month that is computed, and its first and last day. */
export const PERIOD = '2026-03'
export const FIRST_DAY = `${PERIOD}-01`
export const LAST_DAY = `${PERIOD}-31`

/** A plan as it is sent. */
export type PlanBody = Record<string, unknown>

const example = (name: string): PlanBody => ({
  ...JSON.parse(readFileSync(`examples/plans/${name}.json`, 'utf8')),
  effective_from: FIRST_DAY,
})

/** A share of what trading earns, instead of the events of the example, which are a brand's. */
function tradingShare(): PlanBody {
  const plan = example('revenue-share')
  const [rule] = plan.rules as PlanBody[]
  const base = [
    { name: 'spread', activity: 'spread_cost' },
    { name: 'fees', activity: 'commission' },
    { of: ['spread', 'fees'], times: '-0.18', name: 'platform' },
    { activity: 'pnl', times: '-0.1', name: 'risk' },
  ]
  return { ...plan, rules: [{ ...rule, base }] }
}

/** The plans by name. Affiliate n has the plan n % 5. */
export const PLANS: ReadonlyMap<string, PlanBody> = new Map([
  ['cpa', example('cpa')],
  ['hybrid', example('hybrid')],
  ['ib-per-lot', example('ib-per-lot')],
  ['revenue-share', tradingShare()],
  ['master-ib', example('master-ib')],
])

/** The names of the plans, in the order of the affiliates. */
export const PLAN_NAMES = [...PLANS.keys()]

/** Returns the id of an affiliate. */
export const affiliateId = (n: number): string => `IB-${String(n).padStart(4, '0')}`

/**
 * Returns the parent of an affiliate. Of ten affiliates the fifth is a master, with the tenth and, except
 * in the first ten, the first three below; the sixth and the seventh are below the tenth.
 */
export function parentOf(n: number): string | null {
  const [first, place] = [n - (n % 10), n % 10]
  if (place === 9 || (place < 3 && n >= 10)) return affiliateId(first + 4)
  return place === 5 || place === 6 ? affiliateId(first + 9) : null
}
