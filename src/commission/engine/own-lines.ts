import { compareText } from '../../platform/compare-text.ts'
import { nextPeriod, type Period, type PeriodKind } from '../../platform/money/calendar.ts'
import { ZERO } from '../../platform/money/decimal.ts'
import { booksOf } from './books.ts'
import type { Plan } from './plans-in-force.ts'
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
  const { plans, assignmentsOf } = account.inForce
  const names = new Set(assignmentsOf(affiliate).map(({ plan }) => plan))
  for (const name of plans.keys()) {
    const isLeft = stateOf(settlement, affiliate, name) !== NO_STATE
    if (isLeft || booksOf(books, affiliate, name) !== null) names.add(name)
  }
  return [...names].sort(compareText).flatMap((name) => {
    const plan = plans.get(name)
    return plan && plan.first.period === kind ? [plan] : []
  })
}
