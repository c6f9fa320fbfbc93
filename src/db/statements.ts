import { logOf } from './log-statement.ts'
import { commas, EACH, OURS, type Phrases, phrasesOf, row, union } from './phrases.ts'
import type { Shelf } from './shelf.ts'

/** The statements that store one request on a shelf; those of chunks take theirs as `?3`. */
export interface Statements {
  /** What of a record the short chunks hold, behind its index. */
  readonly short: readonly string[]
  readonly log: (chunks: number) => string
  /** Tells what an earlier try of ours has written: asked before `upsert`, by a later try. */
  readonly writtenBefore: string
  /** Adds to the total of the resource's list, once; `?3` is the resource, `?4` the attempt. */
  readonly list: string
  /** Moves records whose indexed columns change; null where none can. */
  readonly move: string | null
  readonly upsert: string
  /** Follows `upsert` where it is to tell which records it wrote. */
  readonly returning: string
  /** Counts what `upsert` wrote, and what of it is held. */
  readonly count: string
  readonly countHeld: (chunks: number) => string
  /** Releases what waited for these records. */
  readonly release: readonly string[]
  /** Counts and tells what a dry run would write. */
  readonly foresee: (chunks: number) => string
  readonly foreseen: (chunks: number) => string
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
  const { short, inShort, inFull, matches, isUnknown, may, isOlder } = phrases
  const flag = holds ? 'held, ' : ''
  const isHeld = holds ? `${isUnknown}, ` : ''
  // SET must not name an indexed column: its index would be written, even if the value is equal.
  const content = columns.filter((name) => !key.includes(name) && !indexed.includes(name))
  const excluded = (name: string) => `excluded.${name}`
  const stored = (name: string) => `t.${name}`

  return {
    short,
    log: logOf(shelf, phrases),

    writtenBefore: `
      select t.idx as idx, t.revision as revision
      from ${EACH}(?3) cross join ${table} t on ${matches(inShort)}
      where t.delivery = ?2`,

    list: `
      insert into totals (account, resource, total)
      select ?1, ?3, listed from ${OURS} and attempt = ?4 and refused = 0 and listed <> 0
      on conflict (account, resource) do update set total = total + excluded.total`,

    // An insert that always conflicts: an update would look for its values record by record.
    move: indexed.length
      ? `
      insert into ${table} (account, ${commas(columns)}, ${flag}delivery, idx, revision)
      select t.account,
        ${commas(columns, (name) => (indexed.includes(name) ? inShort : stored)(name))},
        ${isHeld}'', t.idx, t.revision
      from ${EACH}(?3) cross join ${table} t on ${matches(inShort)}
        and value ->> 0 in (select value from json_each((select moved from ${OURS})))
      where t.delivery <> ?2 and (select moved from ${OURS} and refused = 0) is not null
      on conflict (account, ${commas(key)}) do update set
        ${commas([...indexed, ...(holds ? ['held'] : []), 'delivery'], (name) => `${name} = excluded.${name}`)}`
      : null,

    // A record that has moved is written in any case: its delivery is empty.
    upsert: `
      insert into ${table} as t (account, ${commas(columns)}, ${flag}delivery, idx, revision)
      select ?1, ${commas(columns, inFull)}, ${isHeld}?2, value ->> 0, 1
      from ${EACH}(?3) where ${may}
      on conflict (account, ${commas(key)}) do update set
        ${commas(content, (name) => `${name} = excluded.${name}`)},
        delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
      where (${row(content, excluded)} is not ${row(content, stored)} or t.delivery = '')
        and not ${isOlder(excluded)}`,
    returning: ' returning idx, revision',

    count: `
      update deliveries set written = written + changes()
      where changes() > 0 and account = ?1 and id = ?2`,

    // To update a held record is no update for the sender: it stays held.
    countHeld: (chunks) => `
      update deliveries set held_written = (
        select count(*) from (${union(chunks, 3)}) cross join ${table} t on ${matches(inShort)}
        where t.held = 1 and t.delivery = ?2)
      where unknown is not null and refused = 0 and account = ?1 and id = ?2`,

    release: shelf.releases.flatMap(({ table: waiting, resource }) => [
      `update ${waiting} set held = 0
       where account = ?1 and held = 1 and (select created from ${OURS} and refused = 0) > 0
         and customer_id in (select ${inShort('customer_id')} from ${EACH}(?3))
         and exists (select 1 from customers c
           where c.account = ?1 and c.customer_id = ${waiting}.customer_id)`,
      `insert into totals (account, resource, total)
       select ?1, '${resource}', changes() where changes() > 0 and ?3 is not null
       on conflict (account, resource) do update set total = total + excluded.total`,
    ]),

    foresee: (chunks) => `
      update deliveries set written = would.written, held_written = would.held
      from (
        select count(*) as written, count(*) filter (where ${holds ? isUnknown : 'false'}) as held
        from (${foreseen(chunks, 'value')})
      ) as would
      where account = ?1 and id = ?2`,

    foreseen: (chunks) =>
      foreseen(chunks, 'value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision'),
  }

  /** What `upsert` would write, of which nothing is written. */
  function foreseen(chunks: number, shown: string) {
    const said = columns.filter((name) => !key.includes(name))
    return `
      select ${shown} from (${union(chunks, 3)}) left join ${table} t on ${matches(inFull)}
      where ${may} and not ${isOlder(inFull)}
        and (t.account is null or ${row(said, stored)} is not ${row(said, inFull)})`
  }
}
