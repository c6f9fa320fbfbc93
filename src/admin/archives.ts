import { type Context, Hono } from 'hono'
import { presentArchiveTotals } from '../archive/control-totals.ts'
import type { AppEnv } from '../auth/authorize.ts'
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
import { readQuery } from '../http/query.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import type { ResourcesOf } from '../ingest/resource.ts'
import { findRouteAccount } from './accounts.ts'
import { archivedMonth } from './archive-fields.ts'
import type { KeptDays } from './archive-windows.ts'
import { sendJobs } from './jobs.ts'
import { judgeMonths, type OldMonth, readKeptDays } from './judge-months.ts'
import { respondWithList } from './list-route.ts'

const monthOf = (day: number): string => dayText(day).slice(0, 'YYYY-MM'.length)

/** Returns what becomes of a month, in the words of the API. */
function stateOf({ state, wanted_at }: Pick<ArchivedMonth, 'state' | 'wanted_at'>): string {
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

/** Returns the routes for the months of an account that have left its database. */
export const archives = (resourcesOf: ResourcesOf) =>
  new Hono<AppEnv>()
    .get('/', (c) =>
      respondWithList(c, 'archives', async (account, page, db) => {
        const list = await listArchivedMonths(db, account.id, page)
        return {
          ...list,
          data: list.data.map((one) => presentMonth(one, resourcesOf(account.vertical))),
        }
      }),
    )

    .get('/kept', async (c) => {
      readQuery(c.req.url)
      const account = await findRouteAccount(c)
      const kept = await readKeptDays(c.env, account)
      const months = kept ? await judgeMonths(c.env, account, kept.from, { isAsked: false }) : []
      return c.json({
        archive_after: account.archive_after,
        first_month: kept && monthOf(kept.from),
        kept_for: kept?.by ?? null,
        data: months.map((one) => ({
          month: monthOf(one.first_day),
          resource: one.resource,
          reason: one.obstacle,
        })),
      })
    })

    .post('/', async (c) => {
      readQuery(c.req.url)
      const account = await findRouteAccount(c)
      const { month } = await readFields(c, archivedMonth)
      const { first_day, resources } = await admitMonth(c.env, account, month)
      if (resources.length > 0) {
        const details = { month, resources }
        await withAudit(
          resolveDatabase(c.env, account.binding),
          entryOf(c, 'start', account, details),
          [],
        )
        const job = { job: 'old-months', account: account.id, at: Date.now(), round: 1 } as const
        await sendJobs(c.env, [{ ...job, first_day }])
      }
      return c.json({ month, resources }, 202)
    })

    .post('/:month/restore', async (c) => {
      readQuery(c.req.url)
      const account = await findRouteAccount(c)
      const text = c.req.param('month')
      const period = parsePeriod(text)
      if (period?.kind !== 'month') throw notFound('month', text)
      await readFields(c, {})
      const db = resolveDatabase(c.env, account.binding)
      const found = await archivedOfMonth(db, account.id, period.first)
      const resources = found.map(({ resource }) => resource)
      // Whoever asks again has repaired what was damaged. If not, the next attempt notes it again.
      for (const { fault } of found) if (fault !== null) await clearFault(db, account.id, fault)
      const stays = found.filter((one) => stateOf(one) !== 'being_restored')
      if (stays.length > 0) {
        const details = { month: text, resources }
        await withAudit(db, entryOf(c, 'restore', account, details), [
          restoreMonths(db, account.id, stays),
          ...stays.map((one) => abandoned(db, { ...one, account: account.id })),
        ])
      }
      return c.json({ month: text, resources }, 202)
    })

const entryOf = (c: Context<AppEnv>, action: string, { id }: Account, details: object) => ({
  ...{ actor: c.var.actor, action: `archive.${action}`, account: id, details: { ...details } },
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
