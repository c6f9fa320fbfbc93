import { compareText } from '../../platform/compare-text.ts'
import { nextPeriod, type Period, type PeriodKind } from '../../platform/money/calendar.ts'
import { ZERO } from '../../platform/money/decimal.ts'
import { booksOf } from './books.ts'
import { assignedPlans, type Plan } from './plans-in-force.ts'
import { settlePlan } from './settle.ts'
import { countQualified } from './settle-plan.ts'
import { type OwnResult, type OwnResults, type Settlement, stateOf } from './settlement.ts'
import { closeState, NO_STATE, openState } from './state.ts'
import { sumsOf } from './sums.ts'

/** Makes the lines of each affiliate's own facts, without overrides. */
export function settleOwn(settlement: Settlement, period: Period): OwnResults {
  const account = { ...settlement.account, period }
  const before = settlement.own.get(nextPeriod(period, -1).id)
  const ofPeriod = settlement.sums.get(period.id) ?? new Map()
  const results = new Map<string, ReadonlyMap<string, OwnResult>>()
  for (const affiliate of settlement.affiliates) {
    const byPlan = new Map<string, OwnResult>()
    results.set(affiliate, byPlan)
    const sums = sumsOf(ofPeriod, affiliate)
    for (const plan of plansOf(settlement, affiliate, period.kind)) {
      const left = before?.get(affiliate)?.get(plan.plan)?.state
      const state = openState(left ?? stateOf(settlement, affiliate, plan.plan))
      const qualified = countQualified(plan, sums.once)
      const lines = settlePlan({ settlement, account, affiliate, plan, sums, state, qualified })
      byPlan.set(plan.plan, { plan, lines, state: closeState(state, ZERO) })
    }
  }
  return results
}

/** Returns the plans with periods of a kind under which an affiliate can have lines. */
function plansOf(settlement: Settlement, affiliate: string, kind: PeriodKind): Plan[] {
  const { account, books } = settlement
  const assigned = assignedPlans(account.inForce, affiliate)
  const isLeft = ({ plan }: Plan) =>
    stateOf(settlement, affiliate, plan) !== NO_STATE || booksOf(books, affiliate, plan) !== null
  return [...account.inForce.plans.values()]
    .filter((one) => one.first.period === kind && (assigned.includes(one) || isLeft(one)))
    .sort((a, b) => compareText(a.plan, b.plan))
}
