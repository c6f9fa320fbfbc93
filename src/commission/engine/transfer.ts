import { compareText } from '../../platform/compare-text.ts'
import {
  nextPeriod,
  type Period,
  type PeriodKind,
  periodOf,
  storedPeriod,
} from '../../platform/money/calendar.ts'
import type { Account } from './account.ts'
import { booksOf, firstOpen, receivedKey } from './books.ts'
import { assignmentsOf, type Plan, planKey } from './plans-in-force.ts'
import type { Beginning, SentBalance, Settlement } from './settlement.ts'
import type { PlanExit, ReceivedBalance } from './transferred-balance.ts'

/**
 * Returns the departure of an affiliate from a plan by the end of a period; null if the plan can still
 * govern facts of the day after. An affiliate leaves a plan when an assignment for all customers names
 * another plan, and neither it nor a later one names this plan.
 */
export function departureFrom(
  { account: { inForce }, books }: Settlement,
  affiliate: string,
  plan: Plan,
  period: Period,
): PlanExit | null {
  const begun = assignmentsOf(inForce, affiliate).filter(({ from }) => from <= period.last + 1)
  const replacing = begun.findLastIndex(({ customers }) => customers === 'all')
  const successor = begun[replacing]
  if (successor === undefined) return null
  if (begun.slice(replacing).some((one) => one.plan === plan.plan)) return null
  const next = inForce.plans.get(successor.plan)?.first
  if (next?.currency !== plan.first.currency) return { target: null }
  const target = firstOpen(
    booksOf(books, affiliate, successor.plan),
    firstAfter(period, next.period),
  )
  return { target: { to: successor.plan, period: target.id } }
}

/** Returns the first period of a kind that begins after a period ends. */
const firstAfter = ({ last }: Period, kind: PeriodKind): Period =>
  nextPeriod(periodOf(last, kind), 1)

/** Returns what statements of closed periods before the first that is computed transferred, in order of period. */
export const sentBefore = (
  { inForce }: Account,
  { books, firstDay }: Beginning,
  affiliates: readonly string[],
): SentBalance[] =>
  affiliates
    .flatMap((affiliate) =>
      [...inForce.plans.values()].flatMap((plan) =>
        [...(booksOf(books, affiliate, plan.plan)?.statements ?? [])].map(([id, { transfer }]) => ({
          affiliate,
          plan,
          period: storedPeriod(id),
          transfer,
        })),
      ),
    )
    .filter(({ transfer, period: { last } }) => transfer && last < firstDay)
    .sort((a, b) => a.period.first - b.period.first)

/** Returns the balances that plans receive in a period, by `planKey`, in order of plan and period. */
export function receivedIn(
  settlement: Settlement,
  period: Period,
): ReadonlyMap<string, readonly ReceivedBalance[]> {
  const { books, sent, firstDay } = settlement
  const byReceiver = new Map<string, ReceivedBalance[]>()
  for (const { affiliate, plan, period: from, transfer } of sent) {
    // All earlier ones count, since a closing moves to the first open period of the other plan.
    if (transfer === null || from.last >= Math.max(firstDay, period.first)) continue
    const own = booksOf(books, affiliate, transfer.to)
    if (own?.received.has(receivedKey(plan.plan, from.id))) continue
    if (firstOpen(own, storedPeriod(transfer.period)).id !== period.id) continue
    const key = planKey(affiliate, transfer.to)
    const received = byReceiver.get(key) ?? []
    byReceiver.set(key, received)
    received.push({ from: plan.plan, period: from.id, amount: transfer.amount })
  }
  for (const received of byReceiver.values()) {
    // The periods of one plan are in order already.
    received.sort((a, b) => compareText(a.from, b.from))
  }
  return byReceiver
}
