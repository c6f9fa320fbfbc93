import { env } from 'cloudflare:workers'
import { type ArchivePlace, archiveStep, STEP_LIMITS } from '../../src/archive/archive-month.ts'
import { OBJECT_LIMITS } from '../../src/archive/object.ts'
import { restoreStep } from '../../src/archive/restore-month.ts'
import type { Month } from '../../src/db/archive/months.ts'
import type { ArchivedResource } from '../../src/db/archive/tables.ts'
import { dayNumber } from '../../src/db/column-types.ts'
import { formOf, readTotals } from '../../src/db/records/totals.ts'
import { resourcesOf } from '../../src/verticals.ts'

/** The database and the bucket of the tests. */
export const place: ArchivePlace = { db: env.DB, bucket: env.ARCHIVE }

const usual = [{ ...OBJECT_LIMITS }, { ...STEP_LIMITS }]

/** Makes objects and steps so small that a month has several of each. */
export function takeSmallSteps() {
  Object.assign(OBJECT_LIMITS, { records: 9, group: 4 })
  Object.assign(STEP_LIMITS, { page: 3, dropped: 7 })
}

/** Makes objects and steps as large as they are otherwise. */
export function takeUsualSteps() {
  Object.assign(OBJECT_LIMITS, usual[0])
  Object.assign(STEP_LIMITS, usual[1])
}

/** Returns a month of a resource of an account. */
export function monthOf(account: string, resource: ArchivedResource, month = '2026-10'): Month {
  const [year, number] = month.split('-').map(Number) as [number, number]
  const last_day = Date.UTC(year, number, 1) / 86_400_000 - 1
  return { account, resource, first_day: dayNumber(`${month}-01`), last_day }
}

/** Returns the form of the control totals of a resource. */
export const formOfResource = (resource: ArchivedResource) =>
  formOf(
    [...resourcesOf('forex'), ...resourcesOf('igaming')].find(({ name }) => name === resource)!,
  )

/** Has kept totals look as if they were kept an hour ago. */
export const ageTotals = () =>
  env.DB.prepare('update day_totals set checked_at = checked_at - 3600000').run()

/** Keeps the control totals of all days of an account. */
export async function keepTotals(account: string, vertical: string, from: string, to: string) {
  const session = env.DB.withSession()
  await readTotals(session, resourcesOf(vertical), account, from, to, () => Promise.resolve())
  await ageTotals()
}

/** Makes all steps of an archiving. Returns their number. */
export async function archive(month: Month, now = Date.now(), from = place): Promise<number> {
  const task = { month, form: formOfResource(month.resource) }
  for (let steps = 1; ; steps++) if (!(await archiveStep(from, task, now))) return steps
}

/** Makes all steps of a restoration. */
export async function restore(month: Month, from = place): Promise<void> {
  while (await restoreStep(from, month)) {
    // The next step goes on.
  }
}
