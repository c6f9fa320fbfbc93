import type { RecordTable } from './record-table.ts'
import {
  chunkNames,
  columnList,
  flagIn,
  JSON_EACH,
  OWN_DELIVERY_ROW,
  type SqlFragments,
  unionOfChunks,
} from './sql-fragments.ts'

/** The RETURNING clause of a statement that counts: the counts so far, and the events that changed. */
export const RETURNING_COUNTS = 'returning written, held_written, changed_events'

/** Counts what the statement before wrote. */
export const COUNT_WRITTEN = `
      update deliveries set written = written + changes()
      where changes() > 0 and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/**
 * Counts the held records that were written. A held record is reported as `held` even when it is
 * updated, so it is subtracted from `written`.
 */
export const countHeldSql = (table: RecordTable, fragments: SqlFragments, chunks: number) => `
      update deliveries set held_written = held_written + (
        select count(*) from (${unionOfChunks(chunkNames('lookup', chunks))})
        cross join ${table.table} t on ${fragments.keyMatches(fragments.fromLookup)}
        where t.held = 1 and t.delivery = :delivery)
      where unknown_at is not null and refused = 0
        and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** Counts the records that were merged into a record which was written. */
export const countRepeatedSql = (
  { table, canHold }: RecordTable,
  { lookupColumns, fromLookup, keyMatches }: SqlFragments,
  chunks: number,
) => `
      update deliveries set written = deliveries.written + n.written,
        held_written = deliveries.held_written + n.held
      from (select count(*) as written,
          ${canHold ? 'count(*) filter (where t.held = 1)' : '0'} as held
        from (${unionOfChunks(chunkNames('flagged', chunks))})
        cross join ${table} t on ${keyMatches(fromLookup)}
        where ${flagIn(lookupColumns)} is 'repeated' and t.delivery = :delivery) n
      where refused = 0 and account = :account and id = :delivery and attempt = :attempt
      ${RETURNING_COUNTS}`

/** The stored day 2000-01-01. A time before it is a mistake, and no customer signed up then. */
export const FIRST_PLAUSIBLE_DAY = 10_957

/**
 * Sets the signup of the new customers of a chunk who were sent without a time: the earliest time of the
 * events that wait for them, if that is earlier than now. Reads nothing if no event waits; else each customer
 * with one entry of the index, and the events of that day. An event without a time counts from the beginning
 * of its day.
 */
export const signUpSql = ({ fromLookup }: SqlFragments) => `
      with waiting as materialized (
        select 1 from totals
        where account = :account and resource = 'activities' and held > 0
          and (select created from ${OWN_DELIVERY_ROW} and refused = 0) > 0
      ),
      first as materialized (
        select c.account, c.customer_id, w.day,
          iif(count(*) = count(w.createtime), min(w.createtime), null) as time
        from waiting cross join ${JSON_EACH}(:rows)
        cross join customers c on c.account = :account and c.customer_id = ${fromLookup('customer_id')}
          and c.delivery = :delivery and c.revision = 1 and c.signup_date is null
        cross join events w indexed by events_held
          on w.account = :account and w.held = 1 and w.customer_id = c.customer_id
        where w.day = (select e.day from events e indexed by events_held
            where e.account = :account and e.held = 1 and e.customer_id = c.customer_id
              and e.day >= ${FIRST_PLAUSIBLE_DAY} order by e.day limit 1)
        group by c.customer_id
        having w.day < c.day or (w.day = c.day and ifnull(time < c.first_seen_at, true))
      )
      update customers set first_seen_day = f.day, first_seen_at = f.time
      from first f
      where customers.account = f.account and customers.customer_id = f.customer_id`

/**
 * Releases records of another table that wait for the customers of a chunk, at most `:max_released`, so
 * that the statement's time does not grow with the number of held records.
 */
export const releaseSql = (
  { fromLookup }: SqlFragments,
  { table, key }: RecordTable['releases'][number],
) =>
  // `indexed by`: left to itself the planner walks all records of the account.
  `
      update ${table} set held = 0
      where (select created from ${OWN_DELIVERY_ROW} and refused = 0) > 0
        and (account, ${columnList(key)}) in (
          select w.account, ${columnList(key, (name) => `w.${name}`)}
          from ${JSON_EACH}(:rows) cross join ${table} w indexed by ${table}_held
            on w.account = :account and w.held = 1 and w.customer_id = ${fromLookup('customer_id')}
          where exists (select 1 from customers c
            where c.account = :account and c.customer_id = w.customer_id)
          limit :max_released)`

/**
 * Moves the records that the statement before released from the held ones of their resource to its
 * total. If it released as many as one statement may, and records are still held, the release is not
 * finished: `releasing` then names this delivery.
 */
export const addReleasedSql = ({ table, resource }: RecordTable['releases'][number]) => `
      insert into totals (account, resource, total, held, releasing)
      select :account, '${resource}', changes(), -changes(), iif(changes() >= :max_released and exists (
          select 1 from ${table} indexed by ${table}_held where account = :account and held = 1
        ), :delivery, null)
      where changes() > 0
      on conflict (account, resource) do update set total = total + excluded.total,
        held = held + excluded.held, releasing = coalesce(excluded.releasing, releasing)
      returning releasing is :delivery as releasing`

/** Selects whether records of an account are still to be released, for an attempt after a lost response. */
export const SELECT_RELEASING = `
      select 1 as releasing from totals where account = :account and releasing is not null limit 1`
