import { insertDeliverySql, type Policy } from './classify-sql.ts'
import type { RecordTable } from './record-table.ts'
import {
  columnList,
  DELIVERY_ROW,
  JSON_EACH,
  OWN_DELIVERY_ROW,
  rowValue,
  type SqlFragments,
  sqlFragments,
  unionOfChunks,
} from './sql-fragments.ts'

/** The statements that store one request on a table; those of a chunk take it as `?4`. */
export interface DeliveryStatements {
  /** What of a record the short chunks hold, behind its index. */
  readonly lookupColumns: readonly string[]
  readonly insertDelivery: (policy: Policy, chunks: number, odds: number, still: boolean) => string
  /** Tells what an earlier try of ours wrote, for a later one. */
  readonly selectEarlierWrites: string
  /** Stores records that move: their indexed columns change. To `upsert` they say nothing new then. */
  readonly upsertMoved: string
  readonly upsert: string
  /** Stores records whose key was there before in the same request, one after the other. */
  readonly upsertRepeated: string
  /** Follows `upsert` where it is to tell which records it wrote. */
  readonly returningOutcome: string
  /** Counts what `upsert` wrote, and what of it is held. */
  readonly countWritten: string
  readonly countHeld: (chunks: number) => string
  /** Releases what waited for the records of a chunk, and adds it to the total of its list. */
  readonly releases: readonly { readonly release: string; readonly addReleased: string }[]
  /** Adds to the total of the resource's list (`?4`) what became of records in a chunk (`?5`). */
  readonly addToTotal: string
  readonly subtractFromTotal: string
  readonly recountTotal: string
  /** Counts and tells what a dry run would write of a chunk. */
  readonly countDryRun: string
  readonly selectDryRun: string
}

const known = new WeakMap<RecordTable, { said: string; statements: DeliveryStatements }>()

/**
 * The statements of a table, for records of which each says some of these columns, and none says any
 * other. They are written once: feeds say the same each time.
 */
export function buildStatements(
  recordTable: RecordTable,
  said: readonly string[],
): DeliveryStatements {
  const found = known.get(recordTable)
  if (found?.said === said.join()) return found.statements
  const statements = write(recordTable, sqlFragments(recordTable, said))
  known.set(recordTable, { said: said.join(), statements })
  return statements
}

/** Adds to the total of a list, by a line of the log. */
const adding = (number: string, line: string) => `
      insert into totals (account, resource, total) select ?1, ?4, ${number} from ${line}
      on conflict (account, resource) do update set total = total + excluded.total`

function write(recordTable: RecordTable, fragments: SqlFragments): DeliveryStatements {
  const { table, key, columns, indexedColumns, ignoredInComparison, merge, dayOptional, canHold } =
    recordTable
  const {
    lookupColumns,
    fromLookup,
    fromRecord,
    storedValue,
    initialValue,
    keyMatches,
    hasUnknownReference,
    hasMoved,
    mayBeStored,
    isOlder,
  } = fragments
  const heldColumn = canHold ? 'held, ' : ''
  const heldValue = canHold ? `${hasUnknownReference(OWN_DELIVERY_ROW)}, ` : ''
  // SET must not name an indexed column: its index would be written, even if the value is equal.
  const content = columns.filter(
    (name) => !key.includes(name) && !indexedColumns.includes(name) && name !== 'first_day',
  )
  const compared = content.filter((name) => !ignoredInComparison.includes(name))
  const excluded = (name: string) => `excluded.${name}`
  const stored = (name: string) => `t.${name}`
  const next = (name: string) => merge(name, excluded)
  const toNext = (name: string) => `${name} = ${next(name)}`
  const toExcluded = (name: string) => `${name} = ${excluded(name)}`
  const differs = `${rowValue(compared, next)} is not ${rowValue(compared, stored)}`
  const into = `insert into ${table} as t
      (account, ${columnList(columns)}, ${heldColumn}delivery, idx, revision)`
  const written = `delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1`
  const listedOf = `select count(*) from ${JSON_EACH}(?5) cross join ${table} t on ${keyMatches(fromLookup)}
        where t.held = 0`
  const onConflict = `on conflict (account, ${columnList(key)}) do update set`

  return {
    lookupColumns,
    insertDelivery: insertDeliverySql(recordTable, fragments),

    selectEarlierWrites: `
      select t.idx as idx, t.revision as revision
      from ${JSON_EACH}(?4) cross join ${table} t on ${keyMatches(fromLookup)}
      where t.delivery = ?2 and ?3 > 1`,

    upsert: `
      ${into}
      select ?1, ${columnList(columns, initialValue(OWN_DELIVERY_ROW))}, ${heldValue}?2, value ->> 0, 1
      from ${JSON_EACH}(?4) where ${mayBeStored(OWN_DELIVERY_ROW)}
      ${onConflict} ${columnList(content, toNext)}, ${written}
      where ${differs} and not ${isOlder(excluded)}`,

    upsertRepeated: anywhere('true'),
    upsertMoved: anywhere(hasMoved(DELIVERY_ROW)),
    returningOutcome: ' returning idx, revision',

    countWritten: `
      update deliveries set written = written + changes()
      where changes() > 0 and account = ?1 and id = ?2 and attempt = ?3`,

    // To update a held record is no update for the sender: it stays held.
    countHeld: (chunks) => `
      update deliveries set held_written = held_written + (
        select count(*) from (${unionOfChunks(chunks, 4)}) cross join ${table} t on ${keyMatches(fromLookup)}
        where t.held = 1 and t.delivery = ?2)
      where unknown_at is not null and refused = 0
        and account = ?1 and id = ?2 and attempt = ?3`,

    releases: recordTable.releases.map(({ table: waiting, key: waitingKey, resource }) => ({
      // By the index of what is held: left to itself the planner walks all that the account has.
      release: `
        update ${waiting} set held = 0
        where (select created from ${OWN_DELIVERY_ROW} and refused = 0) > 0
          and (account, ${columnList(waitingKey)}) in (
            select w.account, ${columnList(waitingKey, (name) => `w.${name}`)}
            from ${JSON_EACH}(?4) cross join ${waiting} w indexed by ${waiting}_held
              on w.account = ?1 and w.held = 1 and w.customer_id = ${fromLookup('customer_id')}
            where exists (select 1 from customers c
              where c.account = ?1 and c.customer_id = w.customer_id))`,
      addReleased: `
        insert into totals (account, resource, total)
        select ?1, '${resource}', changes() where changes() > 0
        on conflict (account, resource) do update set total = total + excluded.total`,
    })),

    addToTotal: adding('listed', `${OWN_DELIVERY_ROW} and refused = 0 and listed <> 0`),
    // Where a key is there twice, the list has grown by what it holds after less what it held before.
    subtractFromTotal: adding(`-(${listedOf})`, `${OWN_DELIVERY_ROW} and refused = 0`),
    recountTotal: adding(`(${listedOf})`, `${OWN_DELIVERY_ROW} and refused = 0`),

    countDryRun: `
      update deliveries set
        written = deliveries.written + would.written,
        held_written = deliveries.held_written + would.held
      from (
        select count(*) as written,
          count(*) filter (where ${canHold ? hasUnknownReference(DELIVERY_ROW) : 'false'}) as held
        from (${wouldWrite('value')})
      ) as would
      where account = ?1 and id = ?2 and attempt = ?3`,

    selectDryRun: wouldWrite('value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision'),
  }

  /** Stores records of which what is indexed may change: it is set, too. */
  function anywhere(isMeant: string) {
    const value = (name: string) =>
      dayOptional && name === 'day'
        ? `coalesce(${merge('day', fromRecord)}, ${fromRecord('first_day')})`
        : storedValue(OWN_DELIVERY_ROW)(name)
    return `
      ${into}
      select ?1, ${columnList(columns, value)}, ${heldValue}?2, value ->> 0, 1
      from ${JSON_EACH}(?4) left join ${table} t on ${keyMatches(fromRecord)}
      where ${isMeant} and ${mayBeStored(OWN_DELIVERY_ROW)}
      ${onConflict} ${columnList(content, toNext)},
        ${columnList([...indexedColumns, ...(canHold ? ['held'] : [])], toExcluded)}, ${written}
      where ${differs} or ${rowValue(indexedColumns, excluded)} is not ${rowValue(indexedColumns, stored)}`
  }

  /** What `upsert` would write, of which nothing is written. */
  function wouldWrite(shown: string) {
    const said = columns.filter(
      (name) => !key.includes(name) && !ignoredInComparison.includes(name) && name !== 'first_day',
    )
    const become = (name: string) => merge(name, storedValue(DELIVERY_ROW))
    return `
      select ${shown} from ${JSON_EACH}(?4) left join ${table} t on ${keyMatches(fromRecord)}
      where ${mayBeStored(DELIVERY_ROW)} and not ${isOlder(fromRecord)}
        and (t.account is null or ${rowValue(said, become)} is not ${rowValue(said, stored)})`
  }
}
