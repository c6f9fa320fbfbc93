import type { PlanResult, SettlementInput } from './account-input.ts'
import { firstOpen, receivedKey } from './books.ts'
import { nextPeriod, type Period, type PeriodKind, periodOf, storedPeriod } from './calendar.ts'
import { compareText } from './facts.ts'
import { type Plan, type PlansInForce, planKey } from './plans-in-force.ts'
import type { PlanExit, ReceivedBalance } from './transferred-balance.ts'

/**
 * Returns the departure of an affiliate from a plan by the end of a period; null if the plan can still
 * govern facts of the day after. An affiliate leaves a plan when an assignment for all customers names
 * another plan, and neither it nor a later one names this plan.
 */
export function departureFrom(
  { inForce, booksOf }: Pick<SettlementInput, 'inForce' | 'booksOf'>,
  affiliate: string,
  plan: Plan,
  period: Period,
): PlanExit | null {
  const begun = inForce.assignmentsOf(affiliate).filter(({ from }) => from <= period.last + 1)
  const replacing = begun.findLastIndex(({ customers }) => customers === 'all')
  const successor = begun[replacing]
  if (successor === undefined) return null
  if (begun.slice(replacing).some((one) => one.plan === plan.plan)) return null
  const next = inForce.plans.get(successor.plan)?.first
  if (next?.currency !== plan.first.currency) return { target: null }
  const target = firstOpen(booksOf(affiliate, successor.plan), firstAfter(period, next.period))
  return { target: { to: successor.plan, period: target.id } }
}

/** Returns the first period of a kind that begins after a period ends. */
const firstAfter = ({ last }: Period, kind: PeriodKind): Period =>
  nextPeriod(periodOf(last, kind), 1)

/**
 * Returns the periods whose transfers a period can start with: all before it, since a closing moves to the first open
 * period of the other plan. None if no affiliate comes to a plan of its kind with all of its customers.
 */
export function transferringInto(input: SettlementInput, { first, kind }: Period): Period[] {
  const { inForce, affiliates, firstDay } = input
  const receives = affiliates.some((affiliate) =>
    inForce
      .assignmentsOf(affiliate)
      .some(({ customers, plan }) => customers === 'all' && kindOf(inForce, plan) === kind),
  )
  if (!receives) return []
  const kinds = new Set([...inForce.plans.values()].map((plan) => plan.first.period))
  return [...kinds].flatMap((own) => {
    const periods: Period[] = []
    for (let one = periodOf(firstDay[own], own); one.last < first; one = nextPeriod(one, 1)) {
      periods.push(one)
    }
    return periods
  })
}

const kindOf = ({ plans }: PlansInForce, plan: string): PeriodKind | undefined =>
  plans.get(plan)?.first.period

/** A balance that a statement transferred. */
export type SentBalance = Pick<PlanResult, 'affiliate' | 'plan' | 'period' | 'transfer'>

/** Returns what closed periods before the first that is computed transferred, in order of period. */
export const transferredBefore = (input: SettlementInput): SentBalance[] =>
  input.affiliates
    .flatMap((affiliate) =>
      [...input.inForce.plans.values()].flatMap((plan) =>
        [...(input.booksOf(affiliate, plan.plan)?.statements ?? [])].map(([id, { transfer }]) => ({
          affiliate,
          plan,
          period: storedPeriod(id),
          transfer,
        })),
      ),
    )
    .filter(({ transfer, period: { kind, last } }) => transfer && last < input.firstDay[kind])
    .sort((a, b) => a.period.first - b.period.first)

/** Returns a function that returns the balances that a plan receives in a period, by plan and period. */
export function balancesReceivedIn(
  { booksOf }: Pick<SettlementInput, 'booksOf'>,
  { id }: Period,
  earlier: readonly SentBalance[],
): (affiliate: string, plan: string) => readonly ReceivedBalance[] {
  const byReceiver = new Map<string, ReceivedBalance[]>()
  for (const { affiliate, plan, period, transfer } of earlier) {
    if (transfer === null) continue
    const books = booksOf(affiliate, transfer.to)
    if (books?.received.has(receivedKey(plan.plan, period.id))) continue
    if (firstOpen(books, storedPeriod(transfer.period)).id !== id) continue
    const key = planKey(affiliate, transfer.to)
    const received = byReceiver.get(key) ?? []
    byReceiver.set(key, received)
    received.push({ from: plan.plan, period: period.id, amount: transfer.amount })
  }
  for (const received of byReceiver.values()) {
    // The periods of one plan are in order already.
    received.sort((a, b) => compareText(a.from, b.from))
  }
  return (affiliate, plan) => byReceiver.get(planKey(affiliate, plan)) ?? []
}
