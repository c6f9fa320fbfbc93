import type { RecordTable } from './record-table.ts'
import { SIGNUP, SIGNUP_DAY } from './signup.ts'
import { IDX, JSON_EACH, type SqlFragments } from './sql-fragments.ts'

/** Something about the signup of a record's customer, by the position of the record. */
export interface SignupWarning {
  readonly idx: number
  /**
   * The stored signup of the customer, if the record lies before it; the time can be unknown. Null if the
   * record is a customer without a signup.
   */
  readonly signup_day: number | null
  readonly signup: number | null
}

/**
 * Returns the query for the records of a chunk that get a warning about a signup; null if no record of
 * the table does.
 * - Of transactions and activity: the records before the signup of their customer. Each customer is read
 *   once, with their first record, and the records are compared only with customers who signed up after it.
 * - Of brands' customers: those who are stored without the time of the signup.
 */
export function signupWarningsSql(table: RecordTable, fragments: SqlFragments): string | null {
  const { fromRecord } = fragments
  if (table.reference?.table === 'customers') {
    return beforeSignupSql(fromRecord(table.reference.column), {
      day: fromRecord(table.dayColumn),
      time: table.instantOf(fromRecord),
    })
  }
  if (!table.dayOptional) return null
  return `
      select ${IDX} as idx, null as signup_day, null as signup
      from ${JSON_EACH}(:rows) left join customers t on ${fragments.keyMatches(fromRecord)}
      where ifnull(${fromRecord('signup_date')}, t.signup_date) is null`
}

const beforeSignupSql = (customer: string, record: { day: string; time: string }) => `
      with first as (
        select ${customer} as customer, min(${record.day}) as day, min(${record.time}) as time
        from ${JSON_EACH}(:rows) group by 1
      ),
      later as materialized (
        select c.customer_id as customer, ${SIGNUP_DAY} as signup_day, ${SIGNUP} as signup
        from first cross join customers c on c.account = :account and c.customer_id = first.customer
        where first.day < signup_day or (first.day = signup_day and first.time < signup)
      )
      select ${IDX} as idx, signup_day, signup
      from later cross join ${JSON_EACH}(:rows) on ${customer} = later.customer
      where ${record.day} < signup_day or (${record.day} = signup_day and ${record.time} < signup)`
