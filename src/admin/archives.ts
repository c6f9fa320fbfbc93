import * as v from 'valibot'
import { presentArchiveTotals } from '../archive/control-totals.ts'
import { parsePeriod } from '../commission/engine/calendar.ts'
import { isExported } from '../db/archive/candidates.ts'
import { archivedOfMonth, type ListedMonth, listArchivedMonths } from '../db/archive/list.ts'
import { type ArchivedMonth, abandoned, clearFault } from '../db/archive/months.ts'
import { restoreMonths } from '../db/archive/needed.ts'
import { dayText } from '../db/column-types.ts'
import { resolveDatabase } from '../db/database.ts'
import { BEFORE_SWITCH, findActiveMove } from '../db/directory/account-moves.ts'
import { withAudit } from '../db/directory/audit.ts'
import type { RecordView } from '../db/records/list.ts'
import { findWork } from '../db/records/moving.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { accountList, accountOperation } from '../http/operation.ts'
import { notFound } from '../http/read-fields.ts'
import { count, time } from '../validation/answer-fields.ts'
import { described, named } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'
import { resourcesOf } from '../verticals.ts'
import { archivedMonth } from './archive-fields.ts'
import type { KeptDays } from './archive-windows.ts'
import { sendJobs } from './jobs.ts'
import { judgeMonths, type OldMonth, readKeptDays } from './judge-months.ts'

const monthOf = (day: number): string => dayText(day).slice(0, 'YYYY-MM'.length)

/** Returns what becomes of a month, in the words of the API. */
function stateOf({
  state,
  wanted_at,
}: Pick<ArchivedMonth, 'state' | 'wanted_at'>): 'being_archived' | 'archived' | 'being_restored' {
  if (state === 'ended' || state === 'restoring') return 'being_restored'
  if (wanted_at !== null) return 'being_restored'
  return state === 'archived' ? 'archived' : 'being_archived'
}

/** Returns the control totals of a month; null if they are too large. */
function totalsOf({ resource, totals }: ListedMonth, views: readonly RecordView[]) {
  const parts: (string | null)[] = totals === null ? [] : JSON.parse(totals)
  const { wire } = views.find(({ name }) => name === resource) ?? {}
  return presentArchiveTotals(
    parts.map((one) => ({ totals: one })),
    wire,
  )
}

const timeText = (time: number) => new Date(time).toISOString()

/** Returns an archived month as the administration API shows it. */
const presentMonth = (month: ListedMonth, views: readonly RecordView[]) => ({
  month: monthOf(month.first_day),
  resource: month.resource,
  state: stateOf(month),
  records: month.records,
  bytes: month.bytes,
  objects: (JSON.parse(month.objects) as [string, number, number][]).map(
    ([sha256, bytes, records]) => ({ key: `${month.prefix}/${sha256}`, sha256, bytes, records }),
  ),
  totals: totalsOf(month, views),
  first_delivery_id: month.first_delivery,
  last_delivery_id: month.last_delivery,
  begun_at: timeText(month.begun_at),
  archived_at: month.archived_at === null ? null : timeText(month.archived_at),
  wanted_at: month.wanted_at ? timeText(month.wanted_at) : null,
  damaged_object: month.fault,
})

/**
 * Returns the resources of a month that can be archived; none if all of them are archived already.
 *
 * @throws ApiError `conflict` with what keeps the month in the database.
 */
async function admitMonth(env: Env, account: Account, month: string) {
  const first_day = parsePeriod(month)?.first ?? 0
  const last_day = parsePeriod(month)?.last ?? 0
  const db = resolveDatabase(env, account.binding)
  await refuseDuringWork(env, account)
  const kept = await readKeptDays(env, account)
  if (kept === null) {
    throw stays('The account keeps all months in its database: set `archive_after` first.')
  }
  if (last_day >= kept.from) throw stays(tooYoung(kept, account))
  const found = await judgeMonths(env, account, kept.from, { isAsked: true })
  const months = found.filter((one) => one.first_day === first_day)
  if (months.length === 0 && (await archivedOfMonth(db, account.id, first_day)).length === 0) {
    throw stays(`The account has no records of ${month}.`)
  }
  const obstacle = months.find((one) => one.obstacle !== null)?.obstacle
  if (obstacle) throw stays(obstacle)
  await refuseUnlessExported(db, account, months)
  return { first_day, resources: months.map(({ resource }) => resource) }
}

const stays = (detail: string) => new ApiError('conflict', { detail })

function tooYoung({ from, by }: KeptDays, { archive_after }: Account): string {
  const first = `Months from ${monthOf(from)} on stay in the database`
  if (by === null) return `${first}: \`archive_after\` is ${archive_after} months.`
  const what = by.plan === null ? `the fraud rule ${by.fraud_rule}` : `the plan ${by.plan}`
  return `${first}: ${what} looks back ${by.days} days.`
}

/**
 * Refuses to archive a month while the account moves, or its records are read or deleted.
 *
 * @throws ApiError `conflict`
 */
async function refuseDuringWork(env: Env, { id, binding }: Account): Promise<void> {
  const move = await findActiveMove(env.DB, id)
  if (move && BEFORE_SWITCH.includes(move.status)) {
    throw stays(`The account is being moved to ${move.target}. Archive the month after that.`)
  }
  const work = await findWork(resolveDatabase(env, binding), id)
  if (work === 'run') throw stays('A statement run goes on. Archive the month after that.')
  if (work !== null && work !== 'archive') {
    throw stays('Records of the account are being deleted or erased.')
  }
}

/** Throws `conflict` if the account is exported, and the files do not have the records of these months. */
async function refuseUnlessExported(
  db: D1Database,
  { exports }: Account,
  months: readonly OldMonth[],
): Promise<void> {
  if (exports === 'off') return
  for (const month of months) {
    if (await isExported(db, month)) continue
    throw stays(
      'The files for the warehouse do not have its present records. They are written each morning, or with `exports start`.',
    )
  }
}

const month = member(v.string(), said('The month of the calendar, such as `2024-03`.', '2024-03'))
const resource = described(() =>
  member(v.picklist(['transactions', 'trading-activity', 'activities']), 'The resource.'),
)

const listedMonth = described(() =>
  named(
    'ArchivedMonth',
    v.object({
      month,
      resource,
      state: member(
        v.picklist(['being_archived', 'archived', 'being_restored']),
        '`being_archived`: its records are written to objects, and leave the database. `archived`: they have left it. `being_restored`: they come back.',
      ),
      records: v.nullable(
        member(count, 'The number of its records. Null while the objects are written.'),
      ),
      bytes: member(count, 'The size of its objects together.'),
      objects: member(
        v.array(
          v.object({
            key: member(v.string(), 'The key of the object in the bucket.'),
            sha256: member(v.string(), 'The SHA-256 of its bytes.'),
            bytes: member(count, 'Its size.'),
            records: member(count, 'The number of its records.'),
          }),
        ),
        'The Parquet objects in the bucket `ARCHIVE`, in the order of days.',
      ),
      totals: v.nullable(
        member(
          v.array(
            v.looseObject({
              count: member(count, 'The number of records.'),
              sums: member(
                v.record(v.string(), v.string()),
                'The exact sums as decimal text, by column.',
              ),
            }),
          ),
          'Its control totals: for each group of records their number and their sums, as `GET …/totals` has them for days. Null while no object is written, and if they are too large.',
        ),
      ),
      first_delivery_id: v.nullable(
        member(
          v.string(),
          'The first delivery that wrote one of these records. Null without objects.',
        ),
      ),
      last_delivery_id: v.nullable(
        member(
          v.string(),
          'The last delivery that wrote one of these records. Null without objects.',
        ),
      ),
      begun_at: member(time, 'When the first object was begun.'),
      archived_at: v.nullable(member(time, 'When all objects were complete. Null before.')),
      wanted_at: v.nullable(
        member(time, 'When the records were first needed again. Null if they are not.'),
      ),
      damaged_object: v.nullable(
        member(
          v.string(),
          'The key of an object that is damaged or missing, so that the records cannot come back. Null if there is none.',
        ),
      ),
    }),
  ),
)

const requested = described(() =>
  named(
    'ArchiveRequest',
    v.object({
      month,
      resources: member(
        v.array(v.string()),
        'The resources whose records leave or come back; empty if there are none.',
      ),
    }),
  ),
)

const ofArchives = { topic: 'accounts', path: '/archives' } as const

export const listArchives = accountList({
  ...ofArchives,
  id: 'listArchives',
  role: 'viewer',
  words: described(() => ({
    description:
      'Lists the months whose records have left the database for Parquet objects, or leave it or come back, the first one first. A month that is back is not listed.',
    answer: listedMonth,
    command: {
      name: 'archive list',
      columns: ['month', 'resource', 'state', 'records', 'bytes', 'archived_at', 'damaged_object'],
    },
  })),
  async list({ db, account }, _, page) {
    const found = await listArchivedMonths(db, account.id, page)
    const views = resourcesOf(account.vertical)
    return { ...found, data: found.data.map((one) => presentMonth(one, views)) }
  },
})

export const getKeptMonths = accountOperation({
  topic: 'accounts',
  path: '/archives/kept',
  id: 'getKeptMonths',
  method: 'GET',
  role: 'viewer',
  words: described(() => ({
    description:
      'Returns the first month that is too young for the archive, and each older one that is in the database with the reason.',
    answer: named(
      'KeptMonths',
      v.object({
        archive_after: v.nullable(member(count, 'The setting of the account. Null: never.')),
        first_month: v.nullable(
          member(v.string(), 'The first month that stays in the database. Null: all stay.'),
        ),
        kept_for: v.nullable(
          member(
            v.object({
              days: member(count, 'The days that it looks back.'),
              plan: v.nullable(member(v.string(), 'The plan. Null if it is a fraud rule.')),
              fraud_rule: v.nullable(member(v.string(), 'The fraud rule. Null if it is a plan.')),
            }),
            'What reads records of more days than the setting keeps. Null if nothing does.',
          ),
        ),
        data: member(
          v.array(
            v.object({
              month,
              resource,
              reason: v.nullable(
                member(
                  v.string(),
                  'Why the month is not archived, in a sentence. Null: it is archived soon, some months a day.',
                ),
              ),
            }),
          ),
          'The months before that one which are in the database.',
        ),
      }),
    ),
    command: { name: 'archive kept' },
  })),
  async run({ env, account }) {
    const kept = await readKeptDays(env, account)
    const months = kept ? await judgeMonths(env, account, kept.from, { isAsked: false }) : []
    return {
      archive_after: account.archive_after,
      first_month: kept && monthOf(kept.from),
      kept_for: kept?.by ?? null,
      data: months.map((one) => ({
        month: monthOf(one.first_day),
        resource: one.resource,
        reason: one.obstacle,
      })),
    }
  },
})

export const archiveMonth = accountOperation({
  ...ofArchives,
  id: 'archiveMonth',
  method: 'POST',
  role: 'manager',
  body: archivedMonth,
  status: 202,
  words: described(() => ({
    description:
      'Has the records of a month leave the database now; every day this happens by itself to some months that are old enough. 409 says what keeps the month in the database. A month that is archived already stays as it is.',
    answer: requested,
    errors: ['conflict'],
  })),
  async run({ env, actor, account, db }, { month }) {
    const { first_day, resources } = await admitMonth(env, account, month)
    if (resources.length > 0) {
      const details = { month, resources }
      await withAudit(db, { actor, action: 'archive.start', account: account.id, details }, [])
      const job = { job: 'old-months', account: account.id, at: Date.now(), round: 1 } as const
      await sendJobs(env, [{ ...job, first_day }])
    }
    return { month, resources }
  },
})

export const restoreMonth = accountOperation({
  topic: 'accounts',
  path: '/archives/{month}/restore',
  id: 'restoreMonth',
  method: 'POST',
  role: 'manager',
  params: { month },
  status: 202,
  words: described(() => ({
    description:
      'Has the records of a month come back to the database. They stay for 30 days, unless somebody archives the month. Records that a request needs come back by themselves.',
    answer: requested,
  })),
  async run({ actor, account: { id: account }, db }, { month }) {
    const period = parsePeriod(month)
    if (period?.kind !== 'month') throw notFound('month', month)
    const found = await archivedOfMonth(db, account, period.first)
    const resources = found.map(({ resource }) => resource)
    // Whoever asks again has repaired what was damaged. If not, the next attempt notes it again.
    for (const { fault } of found) if (fault !== null) await clearFault(db, account, fault)
    const stays = found.filter((one) => stateOf(one) !== 'being_restored')
    if (stays.length > 0) {
      const details = { month, resources }
      await withAudit(db, { actor, action: 'archive.restore', account, details }, [
        restoreMonths(db, account, stays),
        ...stays.map((one) => abandoned(db, { ...one, account })),
      ])
    }
    return { month, resources }
  },
})

/** The operations on the months of an account that have left its database. */
export const ARCHIVE_OPERATIONS = [listArchives, getKeptMonths, archiveMonth, restoreMonth]
