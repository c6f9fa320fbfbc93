import { ApiError } from '../../errors.ts'
import { dayText } from '../column-types.ts'
import type { Connection } from '../database.ts'
import { all } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { compileStatement } from '../statement.ts'
import { AWAY, type NeededMonth } from './touched.ts'

/** Every minute, a cron restores the months that are needed. */
const RESTORE_SECONDS = 60

const monthText = (first_day: number) => dayText(first_day).slice(0, 'YYYY-MM'.length)

/** Returns the error of a request that needs the records of months that are archived. */
export function recordsAreArchived(needed: readonly NeededMonth[], result = ''): ApiError {
  const months = [...new Set(needed.map(({ first_day }) => monthText(first_day)))].sort().join(', ')
  const fault = needed.find((one) => one.fault !== null)?.fault
  const progress = fault
    ? `An object of the archive is damaged: \`${fault}\`. The integrations team must repair it.`
    : 'They are being restored.'
  const detail = `Records of ${months} are archived. ${progress}${result} Repeat the same request after ${RESTORE_SECONDS} seconds.`
  return new ApiError('unavailable', {
    detail,
    headers: { 'Retry-After': String(RESTORE_SECONDS) },
  })
}

const WANT = compileStatement(`
  update archived_months set wanted_at = coalesce(wanted_at, :now)
  where account = :account and resource = :resource and state in ${AWAY}
    and exists (select 1 from ${JSON_EACH}(:days) d where d.value between first_day and last_day)
  returning first_day, fault`)

/** Days of a resource whose records are needed. */
export interface NeededDays {
  readonly resource: string
  /** In days since 1970. */
  readonly days: readonly number[]
}

/** Has the archived months of some days restored. Returns the error of the request that needs them. */
export async function restoreDays(
  db: Connection,
  account: string,
  needed: readonly NeededDays[],
): Promise<ApiError> {
  const now = Date.now()
  const months: NeededMonth[] = []
  for (const { resource, days } of needed) {
    const values = { account, resource, days: JSON.stringify(days), now }
    months.push(...(await all<NeededMonth>(db, WANT, values)))
  }
  return recordsAreArchived(months)
}
