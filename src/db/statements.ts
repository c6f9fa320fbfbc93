import { logOf } from './log-statement.ts'
import { commas, EACH, LINE, OWN_LINE, type Phrases, phrasesOf, row, union } from './phrases.ts'
import type { Shelf } from './shelf.ts'

/** The statements that store one request on a shelf; those of a chunk take it as `?4`. */
export interface Statements {
  /** What of a record the short chunks hold, behind its index. */
  readonly short: readonly string[]
  readonly log: (chunks: number, strays: number) => string
  /** Tells what an earlier try of ours wrote, for a later one. */
  readonly writtenBefore: string
  /** Adds to the total of the resource's list; `?4` is the resource. */
  readonly addListed: string
  /** Moves records whose indexed columns change; null where none can. */
  readonly move: string | null
  readonly upsert: string
  /** Follows `upsert` where it is to tell which records it wrote. */
  readonly returning: string
  /** Counts what `upsert` wrote, and what of it is held. */
  readonly count: string
  readonly countHeld: (chunks: number) => string
  /** Releases what waited for the records of a chunk, and adds it to the total of its list. */
  readonly releases: readonly { readonly release: string; readonly addReleased: string }[]
  /** Counts and tells what a dry run would write. */
  readonly dryCount: (chunks: number) => string
  readonly dryRows: (chunks: number) => string
}

const known = new WeakMap<Shelf, Statements>()

/** The statements of a shelf, written once. */
export function statementsOf(shelf: Shelf): Statements {
  const found = known.get(shelf) ?? write(shelf, phrasesOf(shelf))
  known.set(shelf, found)
  return found
}

function write(shelf: Shelf, phrases: Phrases): Statements {
  const { table, key, columns, indexed, holds } = shelf
  const { short, inShort, inFull, matches, isUnknown, isWanted, isOlder } = phrases
  const heldColumn = holds ? 'held, ' : ''
  const heldValue = holds ? `${isUnknown(OWN_LINE)}, ` : ''
  // SET must not name an indexed column: its index would be written, even if the value is equal.
  const content = columns.filter((name) => !key.includes(name) && !indexed.includes(name))
  const excluded = (name: string) => `excluded.${name}`
  const stored = (name: string) => `t.${name}`
  const fromExcluded = (name: string) => `${name} = excluded.${name}`

  return {
    short,
    log: logOf(shelf, phrases),

    writtenBefore: `
      select t.idx as idx, t.revision as revision
      from ${EACH}(?4) cross join ${table} t on ${matches(inShort)}
      where t.delivery = ?2 and ?3 > 1`,

    addListed: `
      insert into totals (account, resource, total)
      select ?1, ?4, listed from ${OWN_LINE} and refused = 0 and listed <> 0
      on conflict (account, resource) do update set total = total + excluded.total`,

    // An insert that always conflicts: an update would look for its values record by record.
    move: indexed.length
      ? `
      insert into ${table} (account, ${commas(columns)}, ${heldColumn}delivery, idx, revision)
      select t.account,
        ${commas(columns, (name) => (indexed.includes(name) ? inShort : stored)(name))},
        ${heldValue}'', t.idx, t.revision
      from ${EACH}(?4) cross join ${table} t on ${matches(inShort)}
        and value ->> 0 in (select value from json_each((select moved from ${LINE})))
      where (select moved from ${OWN_LINE} and refused = 0) is not null
      on conflict (account, ${commas(key)}) do update set
        ${commas([...indexed, ...(holds ? ['held'] : []), 'delivery'], fromExcluded)}`
      : null,

    // A record that has moved is written in any case: its delivery is empty.
    upsert: `
      insert into ${table} as t (account, ${commas(columns)}, ${heldColumn}delivery, idx, revision)
      select ?1, ${commas(columns, inFull)}, ${heldValue}?2, value ->> 0, 1
      from ${EACH}(?4) where ${isWanted(OWN_LINE)}
      on conflict (account, ${commas(key)}) do update set
        ${commas(content, fromExcluded)},
        delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
      where (${row(content, excluded)} is not ${row(content, stored)} or t.delivery = '')
        and not ${isOlder(excluded)}`,
    returning: ' returning idx, revision',

    count: `
      update deliveries set written = written + changes()
      where changes() > 0 and account = ?1 and id = ?2 and attempt = ?3`,

    // To update a held record is no update for the sender: it stays held.
    countHeld: (chunks) => `
      update deliveries set held_written = (
        select count(*) from (${union(chunks, 4)}) cross join ${table} t on ${matches(inShort)}
        where t.held = 1 and t.delivery = ?2)
      where unknown_at is not null and refused = 0
        and account = ?1 and id = ?2 and attempt = ?3`,

    releases: shelf.releases.map(({ table: waiting, resource }) => ({
      release: `
        update ${waiting} set held = 0
        where account = ?1 and held = 1 and (select created from ${OWN_LINE} and refused = 0) > 0
          and customer_id in (select ${inShort('customer_id')} from ${EACH}(?4))
          and exists (select 1 from customers c
            where c.account = ?1 and c.customer_id = ${waiting}.customer_id)`,
      addReleased: `
        insert into totals (account, resource, total)
        select ?1, '${resource}', changes() where changes() > 0
        on conflict (account, resource) do update set total = total + excluded.total`,
    })),

    dryCount: (chunks) => `
      update deliveries set written = would.written, held_written = would.held
      from (
        select count(*) as written,
          count(*) filter (where ${holds ? isUnknown(LINE) : 'false'}) as held
        from (${wouldWrite(chunks, 'value')})
      ) as would
      where account = ?1 and id = ?2 and attempt = ?3`,

    dryRows: (chunks) =>
      wouldWrite(chunks, 'value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision'),
  }

  /** What `upsert` would write, of which nothing is written. */
  function wouldWrite(chunks: number, shown: string) {
    const said = columns.filter((name) => !key.includes(name))
    return `
      select ${shown} from (${union(chunks, 4)}) left join ${table} t on ${matches(inFull)}
      where ${isWanted(LINE)} and not ${isOlder(inFull)}
        and (t.account is null or ${row(said, stored)} is not ${row(said, inFull)})`
  }
}
