import type { PlanResult, SettlementInput } from './account-input.ts'
import { type Book, type Plan, planKey } from './book.ts'
import { endingWithin, nextPeriod, type Period, type PeriodKind, periodOf } from './calendar.ts'
import type { Decimal } from './decimal.ts'
import { compareText } from './facts.ts'
import { plansOf } from './own-lines.ts'

/** A balance that moves to another plan, and the period of that plan which starts with it. */
export interface Transfer {
  readonly to: string
  readonly period: string
  readonly amount: Decimal
}

/** A balance that came from the statement of another plan. */
export interface Arrival {
  readonly from: string
  readonly period: string
  readonly amount: Decimal
}

/** The end of an affiliate's time under a plan (§16.6). */
export interface Departure {
  /** Where balances go; null if the currencies differ. */
  readonly target: Omit<Transfer, 'amount'> | null
}

/**
 * Returns the departure of an affiliate from a plan by the end of a period; null if the plan can still
 * govern facts of the day after. An affiliate leaves a plan when an assignment for all customers names
 * another plan, and neither it nor a later one names this plan.
 */
export function departureFrom(
  book: Book,
  affiliate: string,
  plan: Plan,
  period: Period,
): Departure | null {
  const begun = book.assignmentsOf(affiliate).filter(({ from }) => from <= period.last + 1)
  const replacing = begun.findLastIndex(({ customers }) => customers === 'all')
  const successor = begun[replacing]
  if (successor === undefined) return null
  if (begun.slice(replacing).some((one) => one.plan === plan.plan)) return null
  const next = book.plans.get(successor.plan)?.first
  if (next?.currency !== plan.first.currency) return { target: null }
  return { target: { to: successor.plan, period: firstAfter(period, next.period).id } }
}

/** Returns the first period of a kind that begins after a period ends. */
const firstAfter = ({ last }: Period, kind: PeriodKind): Period =>
  nextPeriod(periodOf(last, kind), 1)

/**
 * Returns the periods whose transfers a period can start with: those that end within the period before
 * it. Periods of the other kind are left out if no affiliate can transfer from them, so that they need
 * not be computed, and so are periods before the first.
 */
export function transferringInto(input: SettlementInput, period: Period): Period[] {
  const crossesKinds = input.affiliates.some((affiliate) =>
    canCrossInto(input, affiliate, period.kind),
  )
  return endingWithin(nextPeriod(period, -1)).filter(
    ({ kind, last }) => last >= input.firstDay[kind] && (kind === period.kind || crossesKinds),
  )
}

/** Whether an affiliate can transfer from a plan of the other kind to a plan of a kind. */
function canCrossInto(input: SettlementInput, affiliate: string, kind: PeriodKind): boolean {
  const currencies = new Set(
    plansOf(input, affiliate, kind === 'month' ? 'week' : 'month').map(
      ({ first }) => first.currency,
    ),
  )
  return input.book.assignmentsOf(affiliate).some(({ customers, plan }) => {
    const first = input.book.plans.get(plan)?.first
    return customers === 'all' && first?.period === kind && currencies.has(first.currency)
  })
}

/**
 * Returns a function that finds what a plan receives, in order of plan and period.
 *
 * @param transferring The results of the periods that `transferringInto` returns.
 */
export function arrivalsFrom(
  transferring: readonly PlanResult[],
): (affiliate: string, plan: string) => readonly Arrival[] {
  const byReceiver = new Map<string, Arrival[]>()
  for (const { affiliate, plan, period, transfer } of transferring) {
    if (transfer === null) continue
    const key = planKey(affiliate, transfer.to)
    const arrivals = byReceiver.get(key) ?? []
    byReceiver.set(key, arrivals)
    arrivals.push({ from: plan.plan, period: period.id, amount: transfer.amount })
  }
  for (const arrivals of byReceiver.values()) {
    // The periods of one plan stand in order already.
    arrivals.sort((a, b) => compareText(a.from, b.from))
  }
  return (affiliate, plan) => byReceiver.get(planKey(affiliate, plan)) ?? []
}
