import { POSITION, RAISE_NUMBER } from '../../ingest/db/changed.ts'
import type { Connection } from '../../platform/db/database.ts'
import { first } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import type { exportRuns } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'

/** How far the export of an account is. */
export type ExportRun = Omit<typeof exportRuns.$inferSelect, 'account'>

const FIND_RUN = compileStatement(`
  select run, begun_at, ended_at, since, position, since_position, form from export_runs where account = :account`)

/** Returns how far the export of an account is; null if it was never begun. */
export const findExportRun = (db: Connection, account: string): Promise<ExportRun | null> =>
  first(db, FIND_RUN, { account })

const BEGIN_RUN = compileStatement(`
  insert into export_runs (account, run, begun_at, position, form)
  values (:account, :run, :begun_at, ${POSITION}, :form)
  on conflict (account) do update set run = excluded.run, begun_at = excluded.begun_at,
    position = excluded.position, ended_at = null, form = excluded.form,
    since = iif(form = excluded.form, since, null)`)

/** Begins a run. Messages of an earlier one do nothing from now on. */
export const beginExportRun = async (
  db: D1Database,
  account: string,
  run: Pick<ExportRun, 'run' | 'begun_at' | 'form'>,
): Promise<void> => {
  const values = { account, ...run }
  await withD1Retry(() =>
    db.batch([RAISE_NUMBER, BEGIN_RUN].map((one) => bindStatement(db, one, values))),
  )
}

const END_RUN = compileStatement(`
  update export_runs set ended_at = :now, since = begun_at, since_position = position
  where account = :account and run = :run and ended_at is null`)

/** Ends a run. */
export const endExportRun = async (db: D1Database, account: string, run: string): Promise<void> => {
  const values = { account, run, now: Date.now() }
  await writeBatch(db, [bindStatement(db, END_RUN, values)])
}

const DROP_FILES = compileStatement('delete from exports where account = :account')

/** Forgets all files of an account: the next run writes them again. */
export const dropExports = async (db: D1Database, account: string): Promise<void> => {
  await writeBatch(db, [bindStatement(db, DROP_FILES, { account })])
}

const FIND_RESET = compileStatement('select 1 as found from resets where account = :account')

/** Returns whether the account is reset: it is not exported meanwhile. */
export const isReset = async (db: Connection, account: string): Promise<boolean> =>
  (await first(db, FIND_RESET, { account })) !== null
