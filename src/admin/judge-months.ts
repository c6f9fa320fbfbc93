import { dayNumber, storedPeriod } from '../commission/engine/calendar.ts'
import { readStoredPlans } from '../commission/plans/stored-plans.ts'
import {
  ARCHIVED_RESOURCES,
  type CandidateMonth,
  listCandidates,
  type PlanPeriods,
  readPlanPeriods,
} from '../db/archive/candidates.ts'
import type { Month } from '../db/archive/months.ts'
import { resolveDatabase } from '../db/database.ts'
import type { Account } from '../db/schema.ts'
import { readStoredRules } from '../fraud/stored-rules.ts'
import { todayOf } from '../zone.ts'
import { type KeptDays, keptDaysOf, longestWindow } from './archive-windows.ts'

/** Why a month stays in the database, in a sentence for people. */
export type Obstacle = string

/** A month of a resource with records in the database that is old enough for the archive. */
export interface OldMonth extends Month {
  /** Null if the month may be archived. */
  readonly obstacle: Obstacle | null
}

/** Returns from which day on the records of an account stay in its database; null: all stay. */
export async function readKeptDays(env: Env, account: Account): Promise<KeptDays | null> {
  if (account.archive_after === null) return null
  const db = resolveDatabase(env, account.binding)
  const [{ versions }, rules] = await Promise.all([
    readStoredPlans(db, account.id),
    readStoredRules(db, account.id),
  ])
  const day = dayNumber(todayOf(account))
  return keptDaysOf(account.archive_after, longestWindow(versions, rules, day), day)
}

/**
 * Returns the months of an account that end before a day (since 1970), by first day, each with what keeps it in the
 * database. If somebody asks for a month to leave, it may although its records came back a short time ago.
 */
export async function judgeMonths(
  env: Env,
  { id, binding }: Account,
  before: number,
  { isAsked }: { readonly isAsked: boolean },
): Promise<OldMonth[]> {
  const db = resolveDatabase(env, binding)
  const now = Date.now()
  const [periods, ...lists] = await Promise.all([
    readPlanPeriods(db, id),
    ...ARCHIVED_RESOURCES.map((resource) => listCandidates(db, id, resource, { before, now })),
  ])
  return lists
    .flatMap((months, i) =>
      months.map((month): OldMonth => {
        const resource = ARCHIVED_RESOURCES[i] ?? 'transactions'
        const { first_day, last_day } = month
        const obstacle = obstacleOf(month, periods, isAsked)
        return { account: id, resource, first_day, last_day, obstacle }
      }),
    )
    .sort((a, b) => a.first_day - b.first_day)
}

function obstacleOf(
  month: CandidateMonth,
  periods: readonly PlanPeriods[],
  isAsked: boolean,
): Obstacle | null {
  const open = periods.find((one) => isOpen(one, month))
  if (open) {
    return `The plan ${open.plan} has statements of this month or an earlier one that are not approved.`
  }
  if (month.held === 1) return 'Records wait for their customers.'
  if (month.restored === 1 && !isAsked) return 'Its records came back less than 30 days ago.'
  if (month.read === 1) {
    return 'Statements still read its records: wait for the next run of statements. A year with records on fewer than 40 days stays.'
  }
  return null
}

/**
 * Whether a plan has an open period that the month has days of, or that is earlier. A month before the first
 * statement of a plan is closed, and so is one behind its last.
 */
function isOpen(
  { first_open, first_approved, last_approved }: PlanPeriods,
  { last_day }: CandidateMonth,
): boolean {
  if (first_open === null) return false
  if (storedPeriod(first_open).first <= last_day) return true
  const begins = first_approved !== null && storedPeriod(first_approved).first <= last_day
  return begins && (last_approved === null || storedPeriod(last_approved).last < last_day)
}
