import { commas, LINE, type Phrases, row, union } from './phrases.ts'
import type { Shelf } from './shelf.ts'

/** Stands behind what is short of a record that is wrong: there it has a place more, never null. */
export const STRAY = 'stray'

/** The errors that the log keeps: so many, and so many bytes of what they name. */
const LOGGED = 100
const LOGGED_BYTES = 65_536

/** Longer than what an error shows of a value. */
const SHOWN = 80

/**
 * Logs a delivery, and finds by the way what the database alone knows of its records: who refers
 * to what is not known, who is new, stale, or moves. All that follows asks this line. Logged again,
 * by a retry of ours, it stays as it is.
 *
 * `?3` … `?13`: attempt, time, resource, form, dry run, lenient, received; wrong records and their
 * errors by number, the first of these; what becomes of what is not known. Then the chunks, short,
 * and those of strays: they are wrong already, and only asked what they refer to.
 */
export const logOf = (shelf: Shelf, phrases: Phrases) => (chunks: number, strays: number) => {
  const { table, key, indexed, refers, version, holds } = shelf
  const { short, inShort, isOlder, matches } = phrases
  const isStray = strays > 0 ? `(value ->> ${short.length + 1} is not null)` : '0'
  const moves = indexed.length
    ? `t.account is not null
        and ${row(indexed, (name) => `t.${name}`)} is not ${row(indexed, inShort)}`
    : '0'
  // `judged` goes by row by row and is kept nowhere. Without its limit SQLite would merge it with
  // what counts, and find each column anew wherever it is named.
  return `
    insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient,
      received, errors_total, rejected, refused, held, stale, created, listed, errors, unknown_at,
      unknown_keys, stale_at, moved)
    with sent(value) as (${union(chunks + strays, 14)}),
    judged as not materialized (
      select value ->> 0 as idx, value,
        ${isStray} as stray,
        ${inShort(refers.column)} is not null and not exists (select 1 from ${refers.table} r
          where r.account = ?1 and r.${refers.column} = ${inShort(refers.column)}) as unknown,
        t.account is null as fresh,
        ${holds ? 't.held' : '0'} as was_held,
        ${version ? isOlder(inShort) : '0'} as stale,
        (${moves}) and not ${isStray} as moved
      from sent left join ${table} t on ${matches(inShort)}
      limit -1
    ),
    counted as (
      select
        count(*) filter (where ?13 = 'reject' and unknown) as errors,
        count(*) filter (where ?13 = 'reject' and unknown and not stray) as rejected,
        count(*) filter (where ?13 = 'hold' and unknown and not stray) as held,
        count(*) filter (where stale and not stray and not (unknown and ?13 = 'reject')) as stale,
        count(*) filter (where fresh and not stray and not (unknown and ?13 <> 'warn')) as created,
        count(*) filter (where was_held and moved and not unknown)
          - count(*) filter (where not was_held and moved and unknown and ?13 = 'hold') as shifted,
        json_group_array(idx) filter (where unknown) as unknown_at,
        json_group_array(idx) filter (
          where stale and not stray and not (unknown and ?13 = 'reject')) as stale_at,
        json_group_array(idx) filter (
          where moved and not stale and not (unknown and ?13 = 'reject')) as moved
      from judged
    )
    select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      ?11 + errors, ?10 + rejected, iif(?8, 0, ?10 + rejected), held, stale, created,
      created + shifted, ?12, nullif(unknown_at, '[]'),
      iif(errors, (
        select json_group_array(json(named)) from (
          select named, sum(octet_length(named)) over (order by idx) as bytes from (
            select idx, json_array(idx, ${commas(key, inShort)},
              substr(${inShort(refers.column)}, 1, ${SHOWN})) as named
            from judged where unknown order by idx limit ${LOGGED}
          )
        ) where bytes < ${LOGGED_BYTES}
      ), null),
      nullif(stale_at, '[]'), nullif(moved, '[]')
    from counted where true
    on conflict (account, id) do nothing`
}

/** The line of the log, when all is done. */
export const READ = `select * from ${LINE}`
