import {
  type AssignmentChange,
  type ClosedTerms,
  findClosedTerms,
} from '../../db/commission/books/closed-terms.ts'
import type { StoredAssignment } from '../../db/commission/plans.ts'
import { ApiError } from '../../errors.ts'
import { quote } from '../../validation/quote.ts'
import { dayNumber, dayText, parsePeriod, periodOf } from '../engine/calendar.ts'

/** Returns a change of an assignment with the periods in which its first day lies. */
export function toChange(
  { affiliate_id, from_day, plan, customers }: StoredAssignment,
  isDeleted: boolean,
): AssignmentChange {
  const day = dayNumber(from_day)
  const [month, week] = (['month', 'week'] as const).map((kind) => periodOf(day, kind).id)
  return {
    affiliate_id,
    from_day,
    plan,
    customers: isDeleted ? null : customers,
    month: month ?? '',
    week: week ?? '',
  }
}

/**
 * Checks that assignments begin after the closed periods of their affiliates (§16.7).
 *
 * @throws ApiError `conflict`
 */
export async function checkClosedTerms(
  db: D1Database,
  account: string,
  changes: readonly AssignmentChange[],
): Promise<void> {
  const found = await findClosedTerms(db, account, changes)
  if (found.length > 0) throw closedTerms(found, changes)
}

const lastDayOf = ({ period }: ClosedTerms) => parsePeriod(period)?.last ?? 0

function closedTerms(found: readonly ClosedTerms[], changes: readonly AssignmentChange[]) {
  const [last] = found.toSorted((a, b) => lastDayOf(b) - lastDayOf(a))
  if (!last) return new ApiError('conflict')
  const { affiliate_id, from_day, plan, period } = last
  const whose =
    affiliate_id === '*' ? 'an affiliate that `*` covers' : `affiliate ${quote(affiliate_id)}`
  const index = changes.findIndex(
    (one) => one.affiliate_id === affiliate_id && one.from_day === from_day,
  )
  const at = changes.length > 1 ? ` at \`/${index}\`,` : ''
  const first = dayText(lastDayOf(last) + 1)
  return new ApiError('conflict', {
    detail: `The assignment${at} from ${from_day} on would change the period ${period} of the plan ${quote(plan)}, which is closed for ${whose}. Assign from ${first} or a later day. Nothing was changed.`,
  })
}
