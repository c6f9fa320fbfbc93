import { env } from 'cloudflare:workers'
import { beginLoad, beginMonth, type Month } from '../../src/accounts/archive/months.ts'
import { OBJECT_LIMITS } from '../../src/accounts/archive/object.ts'
import { type ArchivePlace, archiveStep, STEP_LIMITS } from '../../src/accounts/archive/steps.ts'
import type { ArchivedResource } from '../../src/platform/db/archive-tables.ts'
import { dayNumber } from '../../src/platform/db/column-types.ts'
import { makeSteps } from '../../src/platform/db/steps.ts'

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

/** Returns October 2026 of an account. */
export const october = (account: string, resource: ArchivedResource): Month => ({
  ...{ account, resource },
  ...{ first_day: dayNumber('2026-10-01'), last_day: dayNumber('2026-10-31') },
})

/** Makes the steps that are left of a month. */
export async function goOn({ account, first_day }: Month, from = place): Promise<void> {
  await makeSteps([archiveStep(from, account, first_day)], () => true)
}

/** Archives a month without asking whether it may go. */
export async function archive(month: Month, from = place): Promise<void> {
  await beginMonth(from.db, month, Date.now()).run()
  await goOn(month, from)
}

/** Loads a month. */
export async function load(month: Month, from = place): Promise<void> {
  await beginLoad(from.db, month.account, month.first_day).all()
  await goOn(month, from)
}
