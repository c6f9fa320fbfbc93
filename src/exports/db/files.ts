import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import type { exports } from '../../platform/db/schema.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'

/** A file of an export. */
export type ExportFile = Omit<typeof exports.$inferSelect, 'account' | 'replaced_at'>

const COLUMNS = [
  'resource',
  'month',
  'part',
  'id',
  'sha256',
  'bytes',
  'records',
  'sign',
  'sums',
  'version',
  'written_at',
] as const

/** The files that lists have: not those of months that are being written, nor those that were replaced. */
const IS_CURRENT = 'part > 0 and replaced_at is null'

/** By what the list of files is narrowed. */
export interface FileFilter {
  readonly resource?: string
  readonly month?: string
}

/** Reads one page of the files of an account, by resource, month and part. */
export const listFiles = (
  db: D1DatabaseSession,
  account: string,
  filter: FileFilter,
  page: Page,
): Promise<FoundPage<ExportFile>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: `exports where account = :account and ${IS_CURRENT}${Object.keys(filter)
        .map((name) => ` and ${name} = :${name}`)
        .join('')}`,
      key: ['resource', 'month', 'part', 'id'],
      values: { account, ...filter },
    },
    page,
  )

const FIND_FILE = compileStatement(`
  select ${COLUMNS.join()} from exports indexed by exports_id
  where account = :account and id = :id and part > 0`)

/** Returns a file of an account, also one that was replaced and is not deleted yet; null if there is none. */
export const findFile = (db: Connection, account: string, id: string): Promise<ExportFile | null> =>
  first(db, FIND_FILE, { account, id })

/** The state of a month: that of its first part. */
export type ExportedMonth = Pick<ExportFile, 'resource' | 'month' | 'sign'>

const LIST_MONTHS = compileStatement(`
  select resource, month, sign from exports
  where account = :account and part = 1 and replaced_at is null`)

/** Returns the months that an account has files of. */
export const listExportedMonths = (db: Connection, account: string): Promise<ExportedMonth[]> =>
  all(db, LIST_MONTHS, { account })

const HAS_FILES = compileStatement(`
  select 1 as found from exports where account = :account limit 1`)

/** Returns whether an account has files, of any state. */
export const hasFiles = async (db: Connection, account: string): Promise<boolean> =>
  (await first(db, HAS_FILES, { account })) !== null

/** Which month of a resource is written. */
export interface WrittenMonth {
  readonly account: string
  readonly resource: string
  readonly month: string
}

const OF_MONTH = 'account = :account and resource = :resource and month = :month'

/** Has files that an attempt has written count as replaced. Those that are there in part remain as they are. */
const REPLACE_PENDING = compileStatement(`
  update or ignore exports set part = -part, replaced_at = :now where ${OF_MONTH} and part < 0`)

const DROP_PENDING = compileStatement(`delete from exports where ${OF_MONTH} and part < 0`)

/** Drops the files of a month that an earlier attempt has written. */
export const dropPending = async (
  db: D1Database,
  month: WrittenMonth,
  now: number,
): Promise<void> => {
  const drop = [REPLACE_PENDING, DROP_PENDING]
  await withD1Retry(() => db.batch(drop.map((one) => bindStatement(db, one, { ...month, now }))))
}

const INSERT_PENDING = compileStatement(`
  insert into exports (account, ${COLUMNS.join()})
  values (:account, ${COLUMNS.map((name) => (name === 'part' ? '-:part' : `:${name}`)).join()})
  on conflict do nothing`)

/** Notes a file of a month that is being written. */
export const addPending = async (
  db: D1Database,
  account: string,
  file: ExportFile,
): Promise<void> => {
  await writeBatch(db, [bindStatement(db, INSERT_PENDING, { account, ...file })])
}

/** Files of equal bytes stay as they are, with the time at which they were written. */
const PUT_CURRENT = compileStatement(`
  insert into exports (account, ${COLUMNS.join()})
  select account, ${COLUMNS.map((name) => (name === 'part' ? '-part' : name)).join()}
  from exports where ${OF_MONTH} and part < 0
  on conflict (account, resource, month, part, id) do update
    set sign = excluded.sign, replaced_at = null`)

const REPLACE_OTHERS = compileStatement(`
  update exports set replaced_at = :now
  where ${OF_MONTH} and ${IS_CURRENT} and id not in (
    select id from exports where ${OF_MONTH} and part < 0)`)

/** Puts the files that were written of a month in the place of the present ones. */
export const replaceMonth = async (
  db: D1Database,
  month: WrittenMonth,
  now: number,
): Promise<void> => {
  const values = { ...month, now }
  await withD1Retry(() =>
    db.batch(
      [PUT_CURRENT, REPLACE_OTHERS, DROP_PENDING].map((one) => bindStatement(db, one, values)),
    ),
  )
}

const LIST_REPLACED = compileStatement(`
  select resource, month, part, id, sha256 from exports
  where account = :account and replaced_at is not null and replaced_at <= :before limit :limit`)

const DROP_REPLACED = compileStatement(`
  delete from exports where account = :account and replaced_at is not null
    and replaced_at <= :before and id in (select value from json_each(:ids))`)

/** A file whose object is to be deleted. */
export type ReplacedFile = Pick<ExportFile, 'resource' | 'month' | 'part' | 'id' | 'sha256'>

/** Returns files that were replaced up to a time, in milliseconds. */
export const listReplaced = (
  db: Connection,
  account: string,
  before: number,
  limit: number,
): Promise<ReplacedFile[]> => all(db, LIST_REPLACED, { account, before, limit })

/** Forgets these files, if they are still replaced. */
export const dropReplaced = async (
  db: D1Database,
  account: string,
  before: number,
  files: readonly ReplacedFile[],
): Promise<void> => {
  const ids = JSON.stringify(files.map(({ id }) => id))
  await writeBatch(db, [bindStatement(db, DROP_REPLACED, { account, before, ids })])
}
