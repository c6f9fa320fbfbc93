import type { RecordTable } from './record-table.ts'
import {
  chunkNames,
  columnList,
  JSON_EACH,
  OWN_DELIVERY_ROW,
  type SqlFragments,
  unionOfChunks,
} from './sql-fragments.ts'

/** Has a statement that counts return the counts so far. */
export const RETURNING_COUNTS = 'returning written, held_written'

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

/** Releases the records of another table that wait for the customers of a chunk. */
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
            where c.account = :account and c.customer_id = w.customer_id))`

/** Adds the records that the statement before released to the total of their resource. */
export const addReleasedSql = (resource: string) => `
      insert into totals (account, resource, total)
      select :account, '${resource}', changes() where changes() > 0
      on conflict (account, resource) do update set total = total + excluded.total`

/**
 * Subtracts from the resource's total, or adds to it, the records of a chunk's keys that are stored
 * and not held. Where a key stands twice in a request, the total grows by the count after the upserts
 * less the count before.
 */
export const recountTotalSql = (
  table: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
  sign: '-' | '',
) =>
  `
      insert into totals (account, resource, total)
      select :account, :resource, ${sign}(select count(*) from ${JSON_EACH}(:rows)
        cross join ${table.table} t on ${keyMatches(fromLookup)} where t.held = 0)
      from ${OWN_DELIVERY_ROW} and refused = 0
      on conflict (account, resource) do update set total = total + excluded.total`
