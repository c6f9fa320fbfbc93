import { ATTRIBUTION } from '../../ingest/db/changed.ts'
import { first, only } from '../../platform/db/query.ts'
import type { fraudProgress } from '../../platform/db/schema.ts'
import { ABORT } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'

// How far the fraud rules of an account were evaluated. Marks tell which days change afterwards.

type Row = typeof fraudProgress.$inferSelect

/** How far the rules of an account were evaluated. Days are in days since 1970. */
export type Progress = Omit<Row, 'account'>

const READ = compileStatement(`
  select through, position, first, last, cursor from fraud_progress
  where account = :account`)

/** Returns how far the rules of an account were evaluated; null if they never were. */
export const readProgress = (db: D1Database, account: string): Promise<Progress | null> =>
  first<Progress>(db, READ, { account })

const CHANGED_FROM = compileStatement(`
  select min(day) as day from changed
  where account = :account and resource not in ('', '${ATTRIBUTION}') and seq > :position`)

/** Returns the first day that was marked behind a position, in days since 1970; Infinity if none was. */
export const readChangedFrom = async (
  db: D1Database,
  account: string,
  position: number,
): Promise<number> =>
  (await only<{ day: number | null }>(db, CHANGED_FROM, { account, position })).day ??
  Number.POSITIVE_INFINITY

const BEGIN = compileStatement(`
  insert into fraud_progress (account, through, position, first, last)
  select :account, :through, :position, :first, :last
  where exists (select 1 from fraud_rule_versions where account = :account)
  on conflict (account) do update set through = excluded.through, position = excluded.position,
    first = excluded.first, last = excluded.last, cursor = ''
  where (through, position, first) is (:was_through, :was_position, null)`)

/** What an evaluation begins with. */
export interface Beginning extends Pick<Row, 'through' | 'position'> {
  readonly first: number
  readonly last: number
}

/**
 * Begins the evaluation of some days. Changes behind its position count for the next one. Does nothing if the
 * progress is not that which was read.
 */
export async function beginEvaluation(
  db: D1Database,
  account: string,
  was: Progress | null,
  begin: Beginning,
): Promise<void> {
  const values = {
    account,
    ...begin,
    was_through: was?.through ?? null,
    was_position: was?.position ?? null,
  }
  await writeBatch(db, [bindStatement(db, BEGIN, values)])
}

const CHECK = compileStatement(`
  select iif((select (first, last, cursor) is (:first, :last, :cursor) from fraud_progress
    where account = :account), null, ${ABORT})`)

const ADVANCE = compileStatement(`
  update fraud_progress set cursor = :next where account = :account`)

const FINISH = compileStatement(`
  update fraud_progress set through = last, first = null, last = null, cursor = ''
  where account = :account`)

const EXPIRE = compileStatement(`
  update fraud_cases indexed by fraud_cases_open set status = 'expired'
  where account = :account and status = 'open' and action = 'flag' and last_day < :expired_before`)

/** The place of an evaluation: its days, and the last rule that is done. */
export type Place = { readonly first: number; readonly last: number; readonly cursor: string }

/** Returns the statement that fails unless the evaluation is at a place. */
export const checkPlace = (db: D1Database, account: string, place: Place) =>
  bindStatement(db, CHECK, { account, ...place })

/** Moves an evaluation behind a rule. Fails if it is at another place. */
export async function advance(
  db: D1Database,
  account: string,
  place: Place,
  next: string,
): Promise<void> {
  const statements = [checkPlace(db, account, place), bindStatement(db, ADVANCE, { account, next })]
  await writeBatch(db, statements)
}

/** Ends the evaluation of the days, and flags without new records since a day. */
export async function finishEvaluation(
  db: D1Database,
  account: string,
  place: Place,
  expired_before: number,
): Promise<void> {
  const values = { account, expired_before }
  const statements = [
    checkPlace(db, account, place),
    bindStatement(db, EXPIRE, values),
    bindStatement(db, FINISH, values),
  ]
  await writeBatch(db, statements)
}
