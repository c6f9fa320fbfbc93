import * as v from 'valibot'
import {
  addMonths,
  dayNumber,
  parsePeriod,
  periodOf,
  storedPeriod,
} from '../../commission/engine/calendar.ts'
import { readStoredPlans } from '../../commission/plans/stored-plans.ts'
import { lastUnread, openComputation } from '../../commission/statements/compute.ts'
import { settledAffiliates } from '../../commission/statements/run.ts'
import { openSource } from '../../commission/statements/source.ts'
import { readStoredRules } from '../../fraud/stored-rules.ts'
import { formOf, keepTotals } from '../../ingest/db/totals.ts'
import { resourcesOf } from '../../ingest/verticals.ts'
import { ARCHIVED_RESOURCES, type ArchivedResource } from '../../platform/db/archive-tables.ts'
import { monthText } from '../../platform/db/archived.ts'
import { accountDatabase, jurisdictionOf, resolveDatabase } from '../../platform/db/database.ts'
import type { Account } from '../../platform/db/schema.ts'
import type { Step } from '../../platform/db/steps.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { ApiError } from '../../platform/errors.ts'
import { type AccountCall, accountList, accountOperation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { sendJobs } from '../../platform/jobs.ts'
import { resolveBucket } from '../../platform/parquet/bucket.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { described, named } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { todayOf } from '../../platform/zone.ts'
import { refuseWhileMoving } from '../move/moves.ts'
import { longestWindow } from './archive-windows.ts'
import { readMonthState } from './candidates.ts'
import {
  beginLoad,
  beginMonth,
  type ListedMonth,
  listArchivedMonths,
  type Month,
  movingMonths,
  readMonth,
} from './months.ts'
import { archiveStep } from './steps.ts'

/** The resource of an account of which months are archived. */
const viewOf = ({ vertical }: Account) => {
  const view = resourcesOf(vertical).find(({ name }) =>
    ARCHIVED_RESOURCES.some((one) => one === name),
  )
  if (!view) throw new Error(`No resource of ${vertical} is archived.`)
  return view
}

/** Returns a month of an account. */
function monthOf(account: Account, name: string): Month {
  const { first: first_day, last: last_day } = storedPeriod(name)
  const resource = viewOf(account).name as ArchivedResource
  return { account: account.id, resource, first_day, last_day }
}

const stays = (detail: string) => new ApiError('conflict', { detail })

/** A month is archived at the earliest so many months after its end. */
const LEAST_MONTHS = 13

/**
 * Says what keeps a month in the database.
 *
 * @throws ApiError `conflict`
 */
async function admitMonth({ env, account, db }: AccountCall, month: Month): Promise<void> {
  const { id, exports } = account
  if (exports === 'off') throw stays('The account has no exports: set `exports` first.')
  await refuseWhileMoving(env, id)
  const [{ versions }, rules] = await Promise.all([
    readStoredPlans(db, id),
    readStoredRules(db, id),
  ])
  const today = dayNumber(todayOf(account))
  const days = longestWindow(versions, rules, today)
  if (days === Number.POSITIVE_INFINITY) {
    throw stays(
      'A `once` rule of a plan names such records: whether a customer has qualified may follow from those of any day.',
    )
  }
  const from = Math.min(addMonths(today, -LEAST_MONTHS), today - days)
  if (month.last_day >= from) {
    throw stays(
      `Months from ${monthText(from)} on stay: a month is archived after ${LEAST_MONTHS} months, and plans and fraud rules look back ${days} days.`,
    )
  }
  if (month.last_day > (await lastUnreadOf(env, account, db, today))) {
    throw stays('Open statements read its records: approve them, and wait for the next run.')
  }
  const view = viewOf(account)
  const session = db.withSession('first-primary')
  await keepTotals(session, [view], id, month.first_day, month.last_day)
  const { held, exported, unsummed } = await readMonthState(db, month, formOf(view))
  if (held === 1) throw stays('Records wait for their customers.')
  if (exported !== 1) throw stays('Its present records are not exported: run `exports start`.')
  if (unsummed === 1) throw stays('The control totals of its days are not kept.')
}

/** Returns the last day whose records no statement of an account reads, in days since 1970. */
async function lastUnreadOf(
  env: Env,
  account: Account,
  db: D1Database,
  today: number,
): Promise<number> {
  const source = await openSource(env, account, db)
  const days = source.periodKinds.map(async (kind) => {
    const computation = await openComputation(source, periodOf(today, kind))
    return lastUnread(computation, await settledAffiliates(computation))
  })
  return Math.min(...(await Promise.all(days)))
}

/** Has the steps of the database made now: otherwise a cron makes them within a minute. */
const goOn = (env: Env, binding: string) =>
  sendJobs(env, [{ job: 'steps', binding, round: 2, at: Date.now() }])

/** Returns the months of a database that leave or come back. */
export async function pendingMonths(env: Env, binding: string): Promise<Step[]> {
  const months = await movingMonths(resolveDatabase(env, binding))
  return months.map(({ account: id, first_day }) => {
    const db = accountDatabase(env, { id, binding })
    return archiveStep({ db, bucket: resolveBucket(env, jurisdictionOf(binding)) }, id, first_day)
  })
}

const monthName = member(
  v.pipe(
    f.text,
    v.regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'pattern a month of the calendar such as 2024-03'),
  ),
  said('The month of the calendar.', '2024-03'),
)

const timeText = (at: number) => new Date(at).toISOString()

/** Returns an archived month as the administration API shows it. */
const presentMonth = ({ first_day, resource, state, records, bytes, ...month }: ListedMonth) => ({
  month: monthText(first_day),
  resource,
  state,
  records,
  bytes,
  begun_at: timeText(month.begun_at),
  archived_at: month.archived_at === null ? null : timeText(month.archived_at),
})

const ofArchives = { topic: 'accounts', path: '/archives' } as const

export const listArchives = accountList({
  ...ofArchives,
  id: 'listArchives',
  role: 'viewer',
  words: described(() => ({
    description:
      'Lists the months whose trading activity or daily events have left the database, or leave it or come back, the first one first.',
    answer: named(
      'ArchivedMonth',
      v.object({
        month: member(v.string(), said('The month.', '2024-03')),
        resource: member(v.picklist(ARCHIVED_RESOURCES), 'The resource.'),
        state: member(
          v.picklist(['leaving', 'archived', 'loading']),
          '`leaving`: the records leave the database. `archived`: none is left. `loading`: they come back. In each state nothing is written to the month, and nothing computed from it.',
        ),
        records: member(count, 'The number of archived records.'),
        bytes: member(count, 'The bytes of its objects.'),
        begun_at: member(time, 'When the records began to leave.'),
        archived_at: v.nullable(member(time, 'When the last of them had left. Null before.')),
      }),
    ),
    command: {
      name: 'archive list',
      columns: ['month', 'resource', 'state', 'records', 'bytes', 'archived_at'],
    },
  })),
  async list({ db, account }, _, page) {
    const found = await listArchivedMonths(db, account.id, page)
    return { ...found, data: found.data.map(presentMonth) }
  },
})

export const archiveMonth = accountOperation({
  ...ofArchives,
  id: 'archiveMonth',
  method: 'POST',
  role: 'manager',
  body: { month: monthName },
  status: 202,
  words: described(() => ({
    description:
      'Has the trading activity or the daily events of a month leave the database: of a closed and exported month that ended 13 months ago. 409 says what keeps it. Then nothing is written to the month, and nothing is computed from its records, until it is loaded. A month that is archived stays as it is.',
    answer: v.object({ month: v.string() }),
    errors: ['conflict'],
    command: { name: 'archive month', argument: 'month' },
  })),
  async run(call, { month: name }) {
    const { env, actor, account, db } = call
    const month = monthOf(account, name)
    if (!(await readMonth(db, account.id, month.first_day))) {
      await admitMonth(call, month)
      const entry = {
        actor,
        action: 'archive.start',
        account: account.id,
        details: { month: name },
      }
      await withAudit(db, entry, [beginMonth(db, month, Date.now())])
      if (!(await readMonth(db, account.id, month.first_day))) throw stays(OTHER_WORK)
    }
    await goOn(env, account.binding)
    return { month: name }
  },
})

const OTHER_WORK =
  'The account has no such records of this month, or a statement run, a reset or an erasure goes on.'

export const loadMonth = accountOperation({
  topic: 'accounts',
  path: '/archives/{month}/load',
  id: 'loadMonth',
  method: 'POST',
  role: 'manager',
  params: { month: member(v.string(), said('The month of the calendar.', '2024-03')) },
  status: 202,
  words: described(() => ({
    description:
      'Has the records of an archived month come back to the database. They stay until somebody archives the month again.',
    answer: v.object({ month: v.string() }),
    errors: ['conflict'],
    command: { name: 'archive load' },
  })),
  async run({ env, actor, account: { id: account, binding }, db }, { month: name }) {
    const first_day = parsePeriod(name)?.first
    const month = first_day === undefined ? null : await readMonth(db, account, first_day)
    if (!month) throw notFound('month', name)
    if (month.state !== 'loading') {
      const entry = { actor, action: 'archive.load', account, details: { month: name } }
      await withAudit(db, entry, [beginLoad(db, account, month.first_day)])
      const begun = await readMonth(db, account, month.first_day)
      if (begun?.state !== 'loading') throw stays('A statement run, a reset or an erasure goes on.')
    }
    await goOn(env, binding)
    return { month: name }
  },
})

/** The operations on the months of an account that have left its database. */
export const ARCHIVE_OPERATIONS = [listArchives, archiveMonth, loadMonth]
