import { type Closings, readClosings } from '../../db/commission/books/closings.ts'
import { parsePeriod } from '../engine/calendar.ts'
import { type PlansInForce, planKey } from '../engine/plans-in-force.ts'
import type { AccountSource } from '../facts/source.ts'

/** The closing of a period, and of all periods before it, for an affiliate and plan. */
export interface Closing {
  /** The last day of the period, in days since 1970. */
  readonly last: number
  /** When it was closed, in milliseconds. */
  readonly at: number
}

/** Returns the closings of an affiliate and plan, in order of their last days. */
export type ClosingsOf = (affiliate: string, plan: string) => readonly Closing[]

/**
 * Returns the closings of affiliates and plans, by `planKey`: approved statements and closed periods.
 *
 * @param entered The affiliates and plans with manual entries, which closed periods concern without an
 * assignment, too.
 */
export function closingsIn(
  inForce: PlansInForce,
  affiliates: readonly string[],
  { statements, periods }: Closings,
  entered: ReadonlySet<string>,
): ReadonlyMap<string, readonly Closing[]> {
  const found = new Map<string, Closing[]>()
  const add = (key: string, period: string, at: number): void => {
    const own = found.get(key) ?? []
    found.set(key, own)
    own.push({ last: parsePeriod(period)?.last ?? Number.NEGATIVE_INFINITY, at })
  }
  for (const { affiliate_id, plan, period, approved_at } of statements) {
    add(planKey(affiliate_id, plan), period, approved_at)
  }
  for (const affiliate of affiliates) {
    const plans = new Set(inForce.assignmentsOf(affiliate).map(({ plan }) => plan))
    for (const { plan, period, closed_at, open } of periods) {
      const key = planKey(affiliate, plan)
      const concerns = plans.has(plan) || found.has(key) || entered.has(key)
      if (concerns && !open.includes(affiliate)) add(key, period, closed_at)
    }
  }
  for (const own of found.values()) own.sort((a, b) => a.last - b.last || a.at - b.at)
  return found
}

/** Reads when periods of some affiliates were closed. */
export async function readClosingsOf(
  { db, account, inForce }: Pick<AccountSource, 'db' | 'account' | 'inForce'>,
  affiliates: readonly string[],
): Promise<ClosingsOf> {
  const found = closingsIn(
    inForce,
    affiliates,
    await readClosings(db, account.id, affiliates),
    new Set(),
  )
  return (affiliate, plan) => found.get(planKey(affiliate, plan)) ?? []
}
