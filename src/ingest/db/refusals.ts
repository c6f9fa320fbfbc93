import { fromOf, type Since, toDay } from '../../platform/db/history.ts'
import { ABORT } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'
import { markSignups } from './changed.ts'

/** A customer who earns nothing from a day on. */
export interface Refusal extends Since {
  readonly reason: string
  /** When it was decided. */
  readonly refused_at: string
}

/** Returns a refusal as it is stored. */
export const toRefusal = ({
  day,
  ...refusal
}: Omit<Refusal, 'from'> & { readonly day: number }): Refusal => ({ from: fromOf(day), ...refusal })

/** The SQL of the id of a customer, which aborts its batch if the customer is gone. */
export const KNOWN_CUSTOMER = `iif(exists (
    select 1 from customers where account = :account and customer_id = :customer_id), :customer_id, ${ABORT})`

const PUT_REFUSAL = compileStatement(`
  insert into customer_refusals (account, customer_id, day, reason, refused_at)
  values (:account, ${KNOWN_CUSTOMER}, :day, :reason, :refused_at)
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

/** Ends the refusal of a customer. The batch fails if there is none. */
export const deleteRefusal = (
  db: D1Database,
  account: string,
  customer_id: string,
): D1PreparedStatement[] => [
  markSignups(db, account, [customer_id]),
  ...requiredChange(db, DELETE_REFUSAL, { account, customer_id }),
]
