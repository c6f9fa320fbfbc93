import { customersPerBatch, type FactQuery } from '../../db/commission/fact-queries.ts'
import { KEPT_LIMITS } from '../../db/commission/kept-facts.ts'
import { memoize } from '../engine/memoize.ts'
import { type KeptDaysInUse, openDays } from './kept-days-in-use.ts'

/** Returns how many customers one batch reads: fewer if more is kept per customer. */
export function customersPerKeptBatch(
  { usable }: KeptDaysInUse,
  queries: readonly FactQuery[],
): number {
  const isOpen = openDays(usable)
  const ofOpenDays = queries.map((one) => ({ ...one, days: one.days.filter(isOpen) }))
  const mean = usable.reduce((sum, days) => sum + days.mean, 0)
  const fitting = Math.floor(KEPT_LIMITS.facts / Math.max(1, 2 * mean))
  return Math.max(1, Math.min(customersPerBatch(ofOpenDays), fitting))
}

/**
 * Returns how much a fact of a day counts towards a limit of facts: 1 on an open day, `keptWeight` on a
 * kept day, whose facts are read faster.
 */
export function factWeightByDay(
  kept: KeptDaysInUse | null,
  keptWeight: number,
): (day: number) => number {
  if (kept === null || kept.usable.length === 0) return () => 1
  const isOpen = memoize(openDays(kept.usable))
  return (day) => (isOpen(day) ? 1 : keptWeight)
}
