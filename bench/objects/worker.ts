import { resourcesOf } from '../../src/app.ts'
import { archiveStep } from '../../src/archive/archive-month.ts'
import { restoreStep } from '../../src/archive/restore-month.ts'
import type { Month } from '../../src/db/archive/months.ts'
import type { ArchivedResource } from '../../src/db/archive/tables.ts'
import { formOf, readTotals } from '../../src/db/records/totals.ts'
import { required } from '../../src/db/statement.ts'
import { HOUR_MS } from '../../src/durations.ts'
import type { ExportJob } from '../../src/exports/job.ts'
import { runExport } from '../../src/exports/run.ts'
import { withMeter } from '../cost/meter.ts'
import { ACCOUNT, DAYS, VERTICAL, type Work } from './work.ts'

// What crons do with an account in the background: a request does one of it to its end.

interface Own {
  readonly DB: D1Database
  readonly ARCHIVE: R2Bucket
}

const views = resourcesOf(VERTICAL)

const monthOf = (resource: ArchivedResource): Month => {
  const [first_day, last_day] = DAYS.map((day) => Date.parse(day) / (24 * HOUR_MS)) as [
    number,
    number,
  ]
  return { account: ACCOUNT, resource, first_day, last_day }
}

/** Keeps the control totals of all days, and lets them look as if that were an hour ago. */
async function keepTotals({ DB }: Own) {
  const [from, to] = DAYS
  await readTotals(DB.withSession(), views, ACCOUNT, from, to, () => Promise.resolve())
  await DB.prepare('update day_totals set checked_at = checked_at - ?').bind(HOUR_MS).run()
}

/** Writes the files of an export, as many messages as it takes. */
async function exportAll(own: Own) {
  let next: ExportJob | undefined = { job: 'export', at: Date.now(), account: ACCOUNT }
  const send = async (job: ExportJob) => {
    next = job
  }
  const env = { ...own, ACCOUNT_JOBS: { send } } as unknown as Env
  while (next) {
    const job: ExportJob = next
    next = undefined
    await runExport(env, job, () => views)
  }
}

const placeOf = ({ DB, ARCHIVE }: Own) => ({ db: DB, bucket: ARCHIVE })

async function archive(own: Own, resource: ArchivedResource) {
  const view = required(
    views.find(({ name }) => name === resource),
    'resource',
  )
  const task = { month: monthOf(resource), form: formOf(view) }
  while (await archiveStep(placeOf(own), task, Date.now()));
}

async function restore(own: Own, resource: ArchivedResource) {
  while (await restoreStep(placeOf(own), monthOf(resource)));
}

const WORKS: Record<Work['work'], (own: Own, resource: ArchivedResource) => Promise<void>> = {
  keepTotals,
  exportAll,
  archive,
  restore,
}

export default withMeter({
  async fetch(request, env) {
    const { work, resource = 'transactions' } = await request.json<Work>()
    await WORKS[work](env as Own, resource)
    return new Response('done') as never
  },
})
