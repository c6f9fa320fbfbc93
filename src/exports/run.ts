import type { RecordView } from '../ingest/db/list.ts'
import { accountDatabase } from '../platform/db/database.ts'
import { limitQueries } from '../platform/db/query-limit.ts'
import type { Account } from '../platform/db/schema.ts'
import { required } from '../platform/db/statement.ts'
import { makeSteps } from '../platform/db/steps.ts'
import { ulid } from '../platform/db/ulid.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import type { ExportJob, ExportPlace } from '../platform/export-job.ts'
import { putObject } from '../platform/parquet/bucket.ts'
import type { Dataset, DatasetMonth } from './dataset.ts'
import { datasetsOf } from './datasets.ts'
import {
  addPending,
  dropPending,
  type ExportedMonth,
  listExportedMonths,
  replaceMonth,
} from './db/files.ts'
import { countErased } from './db/record-rows.ts'
import { beginExportRun, type ExportRun, endExportRun, findExportRun, isReset } from './db/runs.ts'
import { COLUMNS_VERSION, EXPORT_LIMITS } from './limits.ts'
import { bucketOf, deleteExports, deleteReplaced, keyOf } from './objects.ts'
import { writeFile } from './write-file.ts'

/** The account of a message, and what its export has. */
interface Exported {
  readonly env: Env
  readonly account: Account
  readonly db: D1Database
  readonly datasets: readonly Dataset[]
  readonly withPersonalData: boolean
}

/**
 * Writes files of an account's export, as many as fit into one invocation; the next message goes on. An export
 * that was turned off is deleted. A message that arrives twice writes the same files.
 */
export async function runExport(
  env: Env,
  job: ExportJob,
  viewsOf: (vertical: string) => readonly RecordView[],
): Promise<void> {
  const account = await findAccount(env.DB, job.account)
  if (!account || account.disabled === 1) return
  if (account.exports === 'off') return deleteExports(env, account)
  const used = { queries: 0 }
  const counted = limitQueries(env, Number.POSITIVE_INFINITY, () => {}, used)
  const exported: Exported = {
    env: counted,
    account,
    db: accountDatabase(counted, account),
    datasets: datasetsOf(account.vertical, viewsOf(account.vertical)),
    withPersonalData: account.exports === 'with_personal_data',
  }
  const place = job.place ? await findPlace(exported, job.place) : await begin(exported, job)
  if (place === null) return
  let next = place
  const write = async () => {
    if (next.todo.length > 0) next = await writeNext(exported, next)
    return next.todo.length === 0
  }
  let files = 0
  const mayBegin = () => files++ === 0 || used.queries < EXPORT_LIMITS.queries
  const isDone = await makeSteps([write], mayBegin)
  await (isDone ? end(exported, next) : env.ACCOUNT_JOBS.send({ ...job, place: next }))
}

/** Returns the place of a message; null if its run has ended, or another one has begun. */
async function findPlace({ db, account }: Exported, place: ExportPlace) {
  const found = await findExportRun(db, account.id)
  return found?.run === place.run && found.ended_at === null ? place : null
}

/** What an export depends on besides its rows. If it changes, every month is written anew. */
const formOf = ({ exports, book_zone, time_zone, vertical }: Account): string =>
  JSON.stringify([COLUMNS_VERSION, exports, book_zone, time_zone, vertical])

/** Begins a run. Returns null while the account is reset: the next morning exports it. */
async function begin(exported: Exported, job: ExportJob): Promise<ExportPlace | null> {
  const { env, account, db } = exported
  const now = Date.now()
  if (await isReset(db, account.id)) return null
  await deleteReplaced(env, account, now - EXPORT_LIMITS.keptMs)
  const form = formOf(account)
  const last = await findExportRun(db, account.id)
  const since = last?.form === form ? last.since : null
  const isWhole = job.isWhole === true || since === null
  const erased = await countErased(db, account.id, new Date(since ?? 0).toISOString())
  const run: Pick<ExportRun, 'run' | 'begun_at' | 'form'> = {
    run: ulid(now),
    // An erasure that goes on still changes records: the next run reads these again.
    begun_at: Math.min(now, erased.unfinished_at ? Date.parse(erased.unfinished_at) : now),
    form,
  }
  await beginExportRun(db, account.id, run)
  const scope = {
    position: last?.since_position ?? 0,
    hasErasures: exported.withPersonalData && erased.erased > 0,
  }
  const todo = await changedMonths(exported, isWhole, scope)
  return { run: run.run, todo, part: 1, after: null }
}

const monthKey = (resource: string, month: string) => `${resource} ${month}`

/** What may have changed since the last run. */
interface ChangeScope {
  /** From where marks of changed days are read. */
  readonly position: number
  readonly hasErasures: boolean
}

/** Returns the months that may have changed, and those whose rows are gone. */
async function changedMonths(
  exported: Exported,
  isWhole: boolean,
  scope: ChangeScope,
): Promise<ExportPlace['todo']> {
  const { account, db, datasets } = exported
  const exportedMonths = await listExportedMonths(db, account.id)
  const files = new Map(exportedMonths.map((one) => [monthKey(one.resource, one.month), one]))
  const todo: ExportPlace['todo'][number][] = []
  for (const dataset of datasets) {
    for (const month of await dataset.months({ db, account: account.id, ...scope })) {
      const key = monthKey(dataset.name, month.month)
      const file = files.get(key)
      files.delete(key)
      if (!isWhole && !hasChanged(month, file)) continue
      todo.push({ ...month, resource: dataset.name })
    }
  }
  const gone = [...files.values()].map(({ resource, month }) => ({ resource, month, sign: '' }))
  return [...todo, ...gone]
}

const hasChanged = (
  { sign, mayHaveChanged }: DatasetMonth,
  file: ExportedMonth | undefined,
): boolean => mayHaveChanged === true || file?.sign !== sign

/** Writes the next file of a month. Returns where the one behind it begins; null after the last. */
async function writePart(
  exported: Exported,
  place: ExportPlace,
  one: ExportPlace['todo'][number],
): Promise<string | null> {
  const { env, account, db, datasets, withPersonalData } = exported
  const { resource, month, sign } = one
  const dataset = datasets.find(({ name }) => name === resource)
  if (!dataset) return null
  const scope = { account: account.id, month, db, withPersonalData }
  const found = await writeFile(dataset, scope, place)
  if (found.file) {
    const { data, ...contents } = found.file
    const file = { ...contents, resource, month, part: place.part, sign }
    const version = COLUMNS_VERSION
    // Before its object: one of an attempt that is stopped is then known, and deleted in time.
    await addPending(db, account.id, { ...file, version, written_at: Date.now() })
    const object = { key: keyOf(account.id, file), sha256: file.sha256 }
    await putObject(bucketOf(env, account), object, data)
  }
  return found.next
}

/** Writes the next file of the first month that is left. */
async function writeNext(exported: Exported, place: ExportPlace): Promise<ExportPlace> {
  const { account, db } = exported
  const [first, ...others] = place.todo
  const one = required(first, 'month')
  const { resource, month } = one
  const written = { account: account.id, resource, month }
  if (place.part === 1) await dropPending(db, written, Date.now())
  const next = await writePart(exported, place, one)
  if (next !== null) return { ...place, part: place.part + 1, after: next }
  await replaceMonth(db, written, Date.now())
  return { ...place, todo: others, part: 1, after: null }
}

/** Ends a run. Files that had personal data of erased customers are deleted at once. */
async function end(
  { env, account, db, withPersonalData }: Exported,
  place: ExportPlace,
): Promise<void> {
  const found = await findExportRun(db, account.id)
  const now = Date.now()
  if (withPersonalData) {
    const { erased } = await countErased(db, account.id, new Date(found?.since ?? 0).toISOString())
    if (erased > 0) await deleteReplaced(env, account, now)
  }
  await endExportRun(db, account.id, place.run)
}
