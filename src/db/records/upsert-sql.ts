import { logOf, type Policy } from './classify-sql.ts'
import type { RecordTable } from './record-table.ts'
import {
  commas,
  EACH,
  LINE,
  OWN_LINE,
  type Phrases,
  phrasesOf,
  row,
  union,
} from './sql-fragments.ts'

/** The statements that store one request on a shelf; those of a chunk take it as `?4`. */
export interface Statements {
  /** What of a record the short chunks hold, behind its index. */
  readonly short: readonly string[]
  readonly log: (policy: Policy, chunks: number, odds: number, still: boolean) => string
  /** Tells what an earlier try of ours wrote, for a later one. */
  readonly writtenBefore: string
  /** Stores records that move: their indexed columns change. To `upsert` they say nothing new then. */
  readonly upsertMoved: string
  readonly upsert: string
  /** Stores records whose key was there before in the same request, one after the other. */
  readonly upsertLater: string
  /** Follows `upsert` where it is to tell which records it wrote. */
  readonly returning: string
  /** Counts what `upsert` wrote, and what of it is held. */
  readonly count: string
  readonly countHeld: (chunks: number) => string
  /** Releases what waited for the records of a chunk, and adds it to the total of its list. */
  readonly releases: readonly { readonly release: string; readonly addReleased: string }[]
  /** Adds to the total of the resource's list (`?4`) what became of records in a chunk (`?5`). */
  readonly addListed: string
  readonly subtractListed: string
  readonly recountListed: string
  /** Counts and tells what a dry run would write of a chunk. */
  readonly dryCount: string
  readonly dryRows: string
}

const known = new WeakMap<RecordTable, { said: string; statements: Statements }>()

/**
 * The statements of a shelf, for records of which each says some of these columns, and none says any
 * other. They are written once: feeds say the same each time.
 */
export function statementsOf(shelf: RecordTable, said: readonly string[]): Statements {
  const found = known.get(shelf)
  if (found?.said === said.join()) return found.statements
  const statements = write(shelf, phrasesOf(shelf, said))
  known.set(shelf, { said: said.join(), statements })
  return statements
}

/** Adds to the total of a list, by a line of the log. */
const adding = (number: string, line: string) => `
      insert into totals (account, resource, total) select ?1, ?4, ${number} from ${line}
      on conflict (account, resource) do update set total = total + excluded.total`

function write(shelf: RecordTable, phrases: Phrases): Statements {
  const { table, key, columns, indexed, silent, merge, undated, holds } = shelf
  const { short, inShort, inFull, kept, born, matches, isUnknown, isMoved, isWanted, isOlder } =
    phrases
  const heldColumn = holds ? 'held, ' : ''
  const heldValue = holds ? `${isUnknown(OWN_LINE)}, ` : ''
  // SET must not name an indexed column: its index would be written, even if the value is equal.
  const content = columns.filter(
    (name) => !key.includes(name) && !indexed.includes(name) && name !== 'first_day',
  )
  const compared = content.filter((name) => !silent.includes(name))
  const excluded = (name: string) => `excluded.${name}`
  const stored = (name: string) => `t.${name}`
  const next = (name: string) => merge(name, excluded)
  const toNext = (name: string) => `${name} = ${next(name)}`
  const toExcluded = (name: string) => `${name} = ${excluded(name)}`
  const differs = `${row(compared, next)} is not ${row(compared, stored)}`
  const into = `insert into ${table} as t
      (account, ${commas(columns)}, ${heldColumn}delivery, idx, revision)`
  const written = `delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1`
  const listedOf = `select count(*) from ${EACH}(?5) cross join ${table} t on ${matches(inShort)}
        where t.held = 0`
  const onConflict = `on conflict (account, ${commas(key)}) do update set`

  return {
    short,
    log: logOf(shelf, phrases),

    writtenBefore: `
      select t.idx as idx, t.revision as revision
      from ${EACH}(?4) cross join ${table} t on ${matches(inShort)}
      where t.delivery = ?2 and ?3 > 1`,

    upsert: `
      ${into}
      select ?1, ${commas(columns, born(OWN_LINE))}, ${heldValue}?2, value ->> 0, 1
      from ${EACH}(?4) where ${isWanted(OWN_LINE)}
      ${onConflict} ${commas(content, toNext)}, ${written}
      where ${differs} and not ${isOlder(excluded)}`,

    upsertLater: anywhere('true'),
    upsertMoved: anywhere(isMoved(LINE)),
    returning: ' returning idx, revision',

    count: `
      update deliveries set written = written + changes()
      where changes() > 0 and account = ?1 and id = ?2 and attempt = ?3`,

    // To update a held record is no update for the sender: it stays held.
    countHeld: (chunks) => `
      update deliveries set held_written = held_written + (
        select count(*) from (${union(chunks, 4)}) cross join ${table} t on ${matches(inShort)}
        where t.held = 1 and t.delivery = ?2)
      where unknown_at is not null and refused = 0
        and account = ?1 and id = ?2 and attempt = ?3`,

    releases: shelf.releases.map(({ table: waiting, key: waitingKey, resource }) => ({
      // By the index of what is held: left to itself the planner walks all that the account has.
      release: `
        update ${waiting} set held = 0
        where (select created from ${OWN_LINE} and refused = 0) > 0
          and (account, ${commas(waitingKey)}) in (
            select w.account, ${commas(waitingKey, (name) => `w.${name}`)}
            from ${EACH}(?4) cross join ${waiting} w indexed by ${waiting}_held
              on w.account = ?1 and w.held = 1 and w.customer_id = ${inShort('customer_id')}
            where exists (select 1 from customers c
              where c.account = ?1 and c.customer_id = w.customer_id))`,
      addReleased: `
        insert into totals (account, resource, total)
        select ?1, '${resource}', changes() where changes() > 0
        on conflict (account, resource) do update set total = total + excluded.total`,
    })),

    addListed: adding('listed', `${OWN_LINE} and refused = 0 and listed <> 0`),
    // Where a key is there twice, the list has grown by what it holds after less what it held before.
    subtractListed: adding(`-(${listedOf})`, `${OWN_LINE} and refused = 0`),
    recountListed: adding(`(${listedOf})`, `${OWN_LINE} and refused = 0`),

    dryCount: `
      update deliveries set
        written = deliveries.written + would.written,
        held_written = deliveries.held_written + would.held
      from (
        select count(*) as written,
          count(*) filter (where ${holds ? isUnknown(LINE) : 'false'}) as held
        from (${wouldWrite('value')})
      ) as would
      where account = ?1 and id = ?2 and attempt = ?3`,

    dryRows: wouldWrite('value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision'),
  }

  /** Stores records of which what is indexed may change: it is set, too. */
  function anywhere(isMeant: string) {
    const value = (name: string) =>
      undated && name === 'day'
        ? `coalesce(${merge('day', inFull)}, ${inFull('first_day')})`
        : kept(OWN_LINE)(name)
    return `
      ${into}
      select ?1, ${commas(columns, value)}, ${heldValue}?2, value ->> 0, 1
      from ${EACH}(?4) left join ${table} t on ${matches(inFull)}
      where ${isMeant} and ${isWanted(OWN_LINE)}
      ${onConflict} ${commas(content, toNext)},
        ${commas([...indexed, ...(holds ? ['held'] : [])], toExcluded)}, ${written}
      where ${differs} or ${row(indexed, excluded)} is not ${row(indexed, stored)}`
  }

  /** What `upsert` would write, of which nothing is written. */
  function wouldWrite(shown: string) {
    const said = columns.filter(
      (name) => !key.includes(name) && !silent.includes(name) && name !== 'first_day',
    )
    const become = (name: string) => merge(name, kept(LINE))
    return `
      select ${shown} from ${EACH}(?4) left join ${table} t on ${matches(inFull)}
      where ${isWanted(LINE)} and not ${isOlder(inFull)}
        and (t.account is null or ${row(said, become)} is not ${row(said, stored)})`
  }
}
