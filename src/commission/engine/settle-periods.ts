import type { Period } from '../../platform/money/calendar.ts'
import type { Account } from './account.ts'
import { settleOverrides } from './override.ts'
import { settleOwn } from './own-lines.ts'
import { settleStatements } from './settle-statements.ts'
import type { Beginning, PlanResult, Settlement } from './settlement.ts'
import type { PeriodSums } from './sums.ts'
import { sentBefore } from './transfer.ts'

/** What is settled: affiliates with all that they depend on, and the periods of all kinds from the first day on. */
export interface Settled {
  readonly affiliates: readonly string[]
  readonly periods: readonly Period[]
}

/**
 * Settles periods in the order of their ends: the lines of an affiliate's own customers, then overrides, then statements.
 * A month and a week that end on the same day need the lines of each other.
 *
 * @returns The results by the id of the period, in order of affiliate and plan.
 */
export function settlePeriods(
  account: Account,
  beginning: Beginning,
  sums: ReadonlyMap<string, PeriodSums>,
  { affiliates, periods }: Settled,
): ReadonlyMap<string, readonly PlanResult[]> {
  const sent = sentBefore(account, beginning, affiliates)
  const progress = { sent, own: new Map(), overrides: new Map(), results: new Map() }
  const settlement: Settlement = { ...beginning, account, sums, affiliates, ...progress }
  const { own, overrides, results } = settlement
  const inOrder = periods.toSorted((a, b) => a.last - b.last)
  for (const ending of Map.groupBy(inOrder, ({ last }) => last).values()) {
    for (const period of ending) own.set(period.id, settleOwn(settlement, period))
    for (const period of ending) overrides.set(period.id, settleOverrides(settlement, period))
    for (const period of ending) {
      const found = settleStatements(settlement, period)
      results.set(period.id, found)
      sent.push(...[...found.values()].filter(({ transfer }) => transfer !== null))
    }
  }
  return new Map([...results].map(([id, found]) => [id, [...found.values()]]))
}
