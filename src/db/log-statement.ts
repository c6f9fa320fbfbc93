import { BYTES, commas, LINE, type Phrases, row, union } from './phrases.ts'
import type { Shelf } from './shelf.ts'

/** The errors that the log keeps: so many, and so many bytes of what they name. */
const LOGGED = 100
const LOGGED_BYTES = 65_536

/** Longer than what an error shows of a value. */
const SHOWN = 80

/**
 * Logs a delivery, and finds by the way what the database alone knows of its records: who refers
 * to what is not known or grows too large, who is new, stale, erased, or moves. All that follows asks
 * this line. Logged again, by a retry of ours, it stays as it is.
 *
 * `?3` … `?15`: attempt, time, resource, form, dry run, lenient, received; wrong records and their
 * errors by number, the first of these; what becomes of what is not known; the Idempotency-Key and
 * the digest of the records. Then the chunks, short, and those of odd records.
 */
export const logOf = (shelf: Shelf, phrases: Phrases) => (chunks: number, odds: number) => {
  const { table, key, indexed, refers, version, holds, merge, personal, grows } = shelf
  const { short, inShort, isOlder, matches } = phrases
  const odd = odds > 0 ? `(value ->> ${short.length + 1})` : 'null'
  const moves = indexed.length
    ? `t.account is not null
        and ${row(indexed, (name) => `t.${name}`)} is not
          ${row(indexed, (name) => merge(name, inShort))}`
    : '0'
  const unknown = refers
    ? `${inShort(refers.column)} is not null and not exists (select 1 from ${refers.table} r
          where r.account = ?1 and r.${refers.column} = ${inShort(refers.column)})`
    : grows
      ? `coalesce(octet_length(t.${grows.column}), 0) + ${inShort(BYTES)} > ${grows.max}`
      : '0'
  const erased = personal.length
    ? `exists (select 1 from erasures e
          where e.account = ?1 and e.customer_id = ${inShort('customer_id')})`
    : '0'
  // Of what a customer leaves out the stored one tells; what it says the caller has judged itself.
  const verdict = shelf.asksVerdict
    ? `iif(${inShort('verdict')} is null and t.verdict is not 'attributed',
        coalesce(t.verdict, 'organic'), null)`
    : 'null'
  // Of records with the same key the first is created, or where that is rejected the next one.
  const isNew = "fresh and not stray and not (unknown and ?13 <> 'warn')"
  const first = `count(*) filter (where ${isNew} and later is not 1)`
  const created =
    odds > 0
      ? `iif(?13 = 'reject',
          count(distinct json_array(${commas(key, inShort)})) filter (where ${isNew}), ${first})`
      : first
  // `judged` goes by row by row and is kept nowhere. Without its limit SQLite would merge it with
  // what counts, and find each column anew wherever it is named.
  return `
    insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient,
      received, errors_total, rejected, refused, held, stale, created, listed, held_written, reused,
      errors, unknown_at, unknown_keys, stale_at, moved, erased_at, verdicts)
    with sent(value) as (${union(chunks + odds, 16)}),
    judged as not materialized (
      select value ->> 0 as idx, value,
        ${odd} is 'wrong' as stray,
        ${odd} in ('later', 'again') as later,
        ${odd} is 'later' as differs,
        ${unknown} as unknown,
        t.account is null as fresh,
        ${holds ? 't.held' : '0'} as was_held,
        ${version ? isOlder(inShort) : '0'} as stale,
        (${moves}) and ${odd} is null as moved,
        ${erased} as erased,
        ${verdict} as verdict
      from sent left join ${table} t on ${matches(inShort)}
      limit -1
    ),
    counted as (
      select
        count(*) filter (where ?13 = 'reject' and unknown) as errors,
        count(*) filter (where ?13 = 'reject' and unknown and not stray) as rejected,
        count(*) filter (where ?13 = 'hold' and unknown and not stray) as held,
        count(*) filter (where ?13 = 'hold' and unknown and differs) as held_written,
        count(*) filter (where stale and not stray and not (unknown and ?13 = 'reject')) as stale,
        ${created} as created,
        count(*) filter (where was_held and moved and not unknown)
          - count(*) filter (where not was_held and moved and unknown and ?13 = 'hold') as shifted,
        json_group_array(idx) filter (where unknown) as unknown_at,
        json_group_array(idx) filter (
          where stale and not stray and not (unknown and ?13 = 'reject')) as stale_at,
        json_group_array(idx) filter (
          where moved and not stale and not (unknown and ?13 = 'reject')) as moved,
        json_group_array(idx) filter (where erased and not stray) as erased_at,
        json_group_array(json_array(idx, verdict)) filter (
          where verdict is not null and not stray) as verdicts,
        exists (select 1 from idempotency_keys
          where account = ?1 and resource = ?5 and key = ?14 and digest <> ?15) as reused
      from judged
    )
    select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      iif(reused, 1, ?11 + errors), iif(reused, ?9, ?10 + rejected),
      iif(reused, ?9, iif(?8, 0, ?10 + rejected)), held, stale, created,
      created + shifted, iif(?7, 0, held_written), reused, ?12, nullif(unknown_at, '[]'),
      iif(errors, (
        select json_group_array(json(named)) from (
          select named, sum(octet_length(named)) over (order by idx) as bytes from (
            select idx, json_array(idx, ${commas(key, inShort)},
              substr(${refers ? inShort(refers.column) : 'null'}, 1, ${SHOWN})) as named
            from judged where unknown order by idx limit ${LOGGED}
          )
        ) where bytes < ${LOGGED_BYTES}
      ), null),
      nullif(stale_at, '[]'), nullif(moved, '[]'), nullif(erased_at, '[]'), nullif(verdicts, '[]')
    from counted where true
    on conflict (account, id) do nothing`
}

/** The line of the log, when all is done. */
export const READ = `select * from ${LINE}`
