import { fromOf, type Since, toDay } from '../../platform/db/history.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'
import { markSignups } from './changed.ts'

/** A customer who earns nothing from a day on. */
export interface Refusal extends Since {
  readonly reason: string
  /** When it was decided. */
  readonly refused_at: string
}

/** A row of `SELECT_REFUSALS`. */
export interface RefusalRow {
  customer_id: string
  day: number
  reason: string
  refused_at: string
}

/** Reads the refusals of customers; `:ids` is a JSON array of stored ids. */
export const SELECT_REFUSALS: Statement = compileStatement(`
  select r.customer_id, r.day, r.reason, r.refused_at
  from ${JSON_EACH}(:ids) i
  cross join customer_refusals r on r.account = :account and r.customer_id = i.value`)

/** Returns a refusal from its row. */
export const toRefusal = ({ day, reason, refused_at }: RefusalRow): Refusal => ({
  from: fromOf(day),
  reason,
  refused_at,
})

const PUT_REFUSAL = compileStatement(`
  insert into customer_refusals (account, customer_id, day, reason, refused_at)
  values (:account, :customer_id, :day, :reason, :refused_at)
  on conflict (account, customer_id) do update set day = excluded.day, reason = excluded.reason,
    refused_at = excluded.refused_at
  where (day, reason) is not (excluded.day, excluded.reason)`)

/** Refuses a customer, or changes the refusal. The same one again changes nothing. */
export const putRefusal = (
  db: D1Database,
  account: string,
  customer_id: string,
  { from, reason, refused_at }: Refusal,
): D1PreparedStatement[] => [
  markSignups(db, account, [customer_id]),
  bindStatement(db, PUT_REFUSAL, { account, customer_id, day: toDay(from), reason, refused_at }),
]

const DELETE_REFUSAL = compileStatement(`
  delete from customer_refusals where account = :account and customer_id = :customer_id`)

/** Ends the refusal of a customer. */
export const deleteRefusal = (
  db: D1Database,
  account: string,
  customer_id: string,
): D1PreparedStatement[] => [
  markSignups(db, account, [customer_id]),
  bindStatement(db, DELETE_REFUSAL, { account, customer_id }),
]
