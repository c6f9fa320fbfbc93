import type { Connection } from '../../platform/db/database.ts'
import { BEGINNING } from '../../platform/db/history.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, writeBatch } from '../../platform/db/statement.ts'

// Which days of an account have changed. Whoever writes, moves, releases or deletes a record marks its day in the same
// batch; who keeps something of a day notes a position, and counts again what was marked behind it. An account has a
// number. A mark gets the present one, and is written once as long as that stays. A reader raises the number before it
// reads, and notes the one before as its position. So a mark that is not written again is one that each reader will
// still see. A mark too many is work; a mark that is missing is lost money.

/** The number of the account is the mark of no resource. */
const OWN_NUMBER = `account = :account and resource = '' and day = 0`

/** The present number of an account, as SQL. */
export const NUMBER = `ifnull((select seq from changed where ${OWN_NUMBER}), 0)`

/** Raises the number of an account, and returns the position from which its caller now reads. */
export const RAISE_NUMBER = compileStatement(`
  insert into changed (account, resource, day, seq) values (:account, '', 0, 1)
  on conflict (account, resource, day) do update set seq = seq + 1
  returning seq - 1 as position`)

/**
 * Returns the position from which a reader that begins now reads marks the next time. What was marked before can be
 * read afterwards.
 */
export const raisePosition = async (db: Connection, account: string): Promise<number> => {
  const raise = bindStatement(db, RAISE_NUMBER, { account })
  const [[raised]] = await writeBatch<[[{ position: number }]]>(db, [raise])
  return raised.position
}

/** The position of a reader whose batch has raised the number before. */
export const POSITION = `(select seq - 1 from changed where ${OWN_NUMBER})`

/** Returns the SQL that marks days of a resource; `days` is a query with a column `day`, in which null is left out. */
export const markSql = (resource: string, days: string): string => `
  insert into changed (account, resource, day, seq)
  select distinct :account, ${resource}, day, ${NUMBER}
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
 * The resource of marks of what counts beside the records: the day from which the signup, a field, a refusal or an affiliate
 * of a customer counts, a parent of an affiliate, or an assignment.
 */
export const CUSTOMER_CHANGES = 'customer-changes'

/** The first day of a customer `c`, as SQL: of the signup, or of an event that waited. */
export const FIRST_DAY = 'min(c.day, ifnull(c.first_seen_day, c.day))'

const MARK_SIGNUPS = compileStatement(
  markSql(
    `'${CUSTOMER_CHANGES}'`,
    `select ${FIRST_DAY} as day from ${JSON_EACH}(:ids) i
      cross join customers c on c.account = :account and c.customer_id = i.value`,
  ),
)

/**
 * The resource of marks of affiliates that hold from the beginning. Their day is the first of the calendar: of a customer
 * who was of no affiliate, nobody knows whether records are before the signup.
 */
export const ATTRIBUTION = 'attribution'

const MARK_ATTRIBUTION = compileStatement(markSql(`'${ATTRIBUTION}'`, `select ${BEGINNING} as day`))

const MARK_OWNED = compileStatement(
  markSql(
    `'${ATTRIBUTION}'`,
    `select ${BEGINNING} as day from ${JSON_EACH}(:affiliates) a
      cross join customer_owners o on o.account = :account and o.owner = a.value`,
  ),
)

/** Marks that customers had named affiliates before these were added. */
export const markOwned = (db: Connection, account: string, affiliates: readonly string[]) =>
  bindStatement(db, MARK_OWNED, { account, affiliates: JSON.stringify(affiliates) })

/** Marks the signups of customers: what changed of them counts from there on. `ids` are stored ids. */
export const markSignups = (db: Connection, account: string, ids: readonly unknown[]) =>
  bindStatement(db, MARK_SIGNUPS, { account, ids: JSON.stringify(ids) })

/** Marks that affiliates of customers hold from the beginning. `ids` are stored ids. */
export const markAttribution = (db: Connection, account: string, ids: readonly unknown[]) => [
  markSignups(db, account, ids),
  bindStatement(db, MARK_ATTRIBUTION, { account }),
]

/** Marks days (since 1970) from which something beside the records counts. */
export const markChanges = (db: Connection, account: string, days: readonly number[]) =>
  bindStatement(db, MARK_DAYS, { account, resource: CUSTOMER_CHANGES, days: JSON.stringify(days) })
