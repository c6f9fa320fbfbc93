import {
  readSettled,
  readSettledPeriods,
  type SettledPeriod,
  type SettledStatement,
} from '../../db/commission/books/settled-at.ts'
import { planKey } from '../engine/plans-in-force.ts'
import type { AccountSource } from '../facts/source.ts'
import type { CorrectedLine } from './cause.ts'

/** The last approval of a closed period. */
export interface LastSettled {
  /** When its computation began to read, in milliseconds: it includes what was stored before. */
  readonly since: number
  /** When the period was first approved, in milliseconds: the rates known then apply to it. */
  readonly closedAt: number
  /** The currencies of records that waited in the period. */
  readonly waiting: readonly string[]
}

/** Returns the last approval that covers a line. */
export type LastSettledOf = (
  line: Pick<CorrectedLine, 'affiliate_id' | 'plan' | 'period'>,
) => LastSettled

/**
 * Reads when closed periods were last computed and approved. The approval of a statement also approves
 * the corrections of all periods before it, so the latest approval counts.
 */
export async function lastSettled(
  { db, account }: AccountSource,
  affiliates: readonly string[],
): Promise<LastSettledOf> {
  const [statements, periods] = await Promise.all([
    readSettled(db, account.id, affiliates),
    readSettledPeriods(db, account.id, affiliates),
  ])
  const byKey = Map.groupBy(statements, ({ affiliate_id, plan }) => planKey(affiliate_id, plan))
  const byPlan = Map.groupBy(periods, ({ plan }) => plan)
  return ({ affiliate_id, plan, period }) => {
    const own = byKey.get(planKey(affiliate_id, plan)) ?? []
    const closed = (byPlan.get(plan) ?? []).filter(({ open }) => !open.includes(affiliate_id))
    return lastOf(own, closed, period)
  }
}

function lastOf(
  statements: readonly SettledStatement[],
  periods: readonly SettledPeriod[],
  period: string,
): LastSettled {
  const withStatement = new Set(statements.map((one) => one.period))
  const covers = (one: { readonly period: string }): boolean => one.period >= period
  const times = [
    ...statements,
    // Where a period has a statement, its own computation counts, not a later run.
    ...periods.filter((one) => !withStatement.has(one.period)),
  ].flatMap((one) => (covers(one) ? [one.read_at] : []))
  const closings = [...statements, ...periods].filter(covers).map((one) => one.closed_at)
  const own = statements.find((one) => one.period === period)
  const currencies: (string | null)[] = own ? JSON.parse(own.currencies) : []
  const closedAt = Math.min(...closings)
  return {
    since: Math.max(0, ...times),
    closedAt,
    waiting: currencies.filter((one) => one !== null),
  }
}
