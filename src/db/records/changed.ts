import { compileStatement } from '../statement.ts'
import { JSON_EACH } from './sql-fragments.ts'

// Which days of an account have changed. Whoever writes, moves, releases or deletes a record marks its day in the same
// batch; who keeps something of a day notes a position, and counts again what was marked behind it. An account has a
// number. A mark gets the present one, and is written once as long as that stays. A reader raises the number before it
// reads, and notes the one before as its position. So a mark that is not written again is one that each reader will
// still see. A mark too many is work; a mark that is missing is lost money.

/** The number of the account is the mark of no resource. */
const OWN_NUMBER = `account = :account and resource = '' and day = 0`

/** Raises the number of an account, and returns the position from which its caller now reads. */
export const RAISE_NUMBER = compileStatement(`
  insert into changed (account, resource, day, seq) values (:account, '', 0, 1)
  on conflict (account, resource, day) do update set seq = seq + 1
  returning seq - 1 as position`)

/** The position of a reader whose batch has raised the number before. */
export const POSITION = `(select seq - 1 from changed where ${OWN_NUMBER})`

/** Returns the SQL that marks days of a resource; `days` is a query with a column `day`, in which null is left out. */
export const markSql = (resource: string, days: string): string => `
  insert into changed (account, resource, day, seq)
  select distinct :account, ${resource}, day, ifnull((select seq from changed where ${OWN_NUMBER}), 0)
  from (${days}) where day is not null
  on conflict (account, resource, day) do update set seq = excluded.seq where seq < excluded.seq`

/** Marks the days of `:days`, a JSON array. */
export const MARK_DAYS = compileStatement(
  markSql(':resource', `select value as day from ${JSON_EACH}(:days)`),
)

/** Returns the condition that a day has no mark behind a position; the arguments are SQL. */
export const isUnchanged = (resource: string, day: string, position: string): string => `
  not exists (select 1 from changed c where c.account = :account and c.resource = ${resource}
    and c.day = ${day} and c.seq > ${position})`

/**
 * The resource of marks for the fraud review: days of signups, fields and affiliates of customers whose records stay where
 * they are.
 */
export const CUSTOMER_CHANGES = 'customer-changes'

/**
 * Returns the SQL that notes customers of whom something became known that counts from their first record on; `ids` is a
 * query with a column `customer_id`. The fraud review then looks for that record.
 */
export const noteCustomersSql = (ids: string): string => `
  insert into fraud_changed_customers (account, customer_id)
  select :account, customer_id from (${ids}) where true
  on conflict do nothing`

/** Notes the customers of `:ids`, a JSON array of stored ids. */
export const NOTE_CUSTOMERS = compileStatement(
  noteCustomersSql(`select value as customer_id from ${JSON_EACH}(:ids)`),
)
