import type { RecordTable } from './record-table.ts'
import {
  ADDED_BYTES,
  columnList,
  DELIVERY_ROW,
  EXTRAS_PATCH,
  rowValue,
  type SqlFragments,
  unionOfChunks,
} from './sql-fragments.ts'

/** The errors that the log keeps: so many, and so many bytes of what they name. */
const LOGGED = 100
const LOGGED_BYTES = 65_536

/** A record's place in the request: read where it is told, for each reading of JSON is paid. */
const IDX = 'value ->> 0'

/** Longer than what an error shows of a value. */
const SHOWN = 80

/** What becomes of records that refer to what is not known. */
export type Policy = 'reject' | 'hold' | 'warn'

/**
 * Logs a delivery, and finds by the way what the database alone knows of its records: who refers
 * to what is not known or grows too large, who is new, stale, erased, or moves. All that follows asks
 * this line. Logged again, by a retry of ours, it stays as it is. Where nothing may move and a record
 * that is to be written would, there is no line, and so nothing happens.
 *
 * `?3` … `?14`: attempt, time, resource, form, dry run, lenient, received; wrong records and their
 * errors by number, the first of these; the Idempotency-Key and the digest of the records. Then the
 * chunks, short, and those of odd records.
 */
export const insertDeliverySql =
  (recordTable: RecordTable, fragments: SqlFragments) =>
  (policy: Policy, chunks: number, odds: number, still: boolean) => {
    const { table, key, reference } = recordTable
    const { fromLookup, keyMatches } = fragments
    const found = classificationColumns(recordTable, fragments, odds)
    const { count, list } = aggregates(found)
    const refused = policy === 'reject' ? 'unknown' : 'nothing'
    const held = policy === 'hold' ? 'unknown' : 'nothing'
    const created = ['fresh', 'not stray', `not ${refused}`, `not ${held}`]
    const stale = ['stale', 'not stray', `not ${refused}`]
    // `judged` goes by row by row and is kept nowhere. Without its limit SQLite would merge it with
    // what counts, and find each column anew wherever it is named. Of records with the same key the
    // first is created, or where that is rejected the next one.
    return `
    insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient,
      received, errors_total, rejected, refused, held, stale, created, listed, held_written, reused,
      errors, unknown_at, unknown_keys, stale_at, moved, erased_at, verdicts)
    with sent(value) as (${unionOfChunks(chunks + odds, 15)}),
    judged as not materialized (
      select value,
        ${columnList(Object.keys(found), (name) => `${found[name]} as ${name}`)}
      from sent left join ${table} t on ${keyMatches(fromLookup)}
      limit -1
    ),
    counted as (
      select ${count('*', refused)} as errors,
        ${count('*', refused, 'not stray')} as rejected,
        ${count('*', held, 'not stray')} as held,
        ${count('*', held, 'differs')} as held_written,
        ${count('*', ...stale)} as stale,
        ${
          odds > 0 && policy === 'reject'
            ? count(`distinct json_array(${columnList(key, fromLookup)})`, ...created)
            : count('*', ...created, 'not again')
        } as created,
        ${count('*', 'was_held', 'moved', 'not unknown')}
          - ${count('*', 'not was_held', 'moved', held)} as shifted,
        ${list(IDX, 'unknown')} as unknown_at,
        ${list(IDX, ...stale)} as stale_at,
        ${list(IDX, 'moved', 'not stale', `not ${refused}`)} as moved,
        ${list(IDX, 'erased', 'not stray')} as erased_at,
        ${list(`json_array(${IDX}, verdict)`, 'untold', 'not stray')} as verdicts,
        exists (select 1 from idempotency_keys
          where account = ?1 and resource = ?5 and key = ?13 and digest <> ?14) as reused
      from judged
    )
    select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
      iif(reused, 1, ?11 + errors), iif(reused, ?9, ?10 + rejected),
      iif(reused, ?9, iif(?8, 0, ?10 + rejected)), held, stale, created,
      created + shifted, iif(?7, 0, held_written), reused, ?12, unknown_at,
      iif(errors, (
        select json_group_array(json(named)) from (
          select named, sum(octet_length(named)) over (order by idx) as bytes from (
            select ${IDX} as idx, json_array(${IDX}, ${columnList(key, fromLookup)},
              substr(${reference ? fromLookup(reference.column) : 'null'}, 1, ${SHOWN})) as named
            from judged where unknown order by idx limit ${LOGGED}
          )
        ) where bytes < ${LOGGED_BYTES}
      ), null),
      stale_at, moved, erased_at, verdicts
    from counted where ${still ? 'moved is null or reused or (rejected > 0 and not ?8)' : 'true'}
    on conflict (account, id) do nothing`
  }

/**
 * What may be found of a record, by name, as SQL: what no record can be is not there, and costs
 * nothing. A chunk of odd records says behind the rest what is odd. SQLite evaluates both sides of
 * an `and`, but of `iif` only what is asked: so what is rare stands there.
 */
function classificationColumns(
  recordTable: RecordTable,
  fragments: SqlFragments,
  odds: number,
): Record<string, string> {
  const { indexedColumns, reference, versionColumn, canHold, merge, personalColumns, sizeLimit } =
    recordTable
  const { lookupColumns, fromLookup, isOlder } = fragments
  const odd = odds > 0 ? `(value ->> ${lookupColumns.length + 1})` : null
  const stored = `coalesce(t.verdict, 'organic')`
  const verdict = odd
    ? `iif(${odd} is 'altered' and t.tracking_data is null, 'altered', ${stored})`
    : stored
  const erased = `exists (select 1 from erasures e
          where e.account = ?1 and e.customer_id = ${fromLookup('customer_id')})`
  // A brace, and members, each with a comma or the other brace.
  const grown = (stored: string) =>
    `ifnull(octet_length(${stored}), 1) + ${fromLookup(ADDED_BYTES)} > ${sizeLimit!.max}`
  return {
    fresh: 't.account is null',
    ...(odd && {
      stray: `${odd} is 'wrong'`,
      // What is wrong is a stray besides.
      again: `${odd} is not null`,
      differs: `${odd} is 'later'`,
    }),
    // What refers to nothing grows; by what it says anew only so far as that is longer than before.
    unknown: reference
      ? `iif((
          select 1 from ${reference.table} r
          where r.account = ?1 and r.${reference.column} = ${fromLookup(reference.column)}
        ) is null, ${fromLookup(reference.column)} is not null, 0)`
      : `iif(${grown(`t.${sizeLimit!.column}`)}, not ${erased} and ${grown(
          `nullif(json_patch(t.${sizeLimit!.column}, ${fromLookup(EXTRAS_PATCH)}), '{}')`,
        )}, 0)`,
    ...(canHold && { was_held: 't.held' }),
    ...(versionColumn && { stale: isOlder(fromLookup) }),
    ...(indexedColumns.length > 0 && {
      moved: `iif(t.account is null ${odd ? `or ${odd} is not null` : ''}, 0,
          ${rowValue(indexedColumns, (name) => `t.${name}`)} is not
            ${rowValue(indexedColumns, (name) => merge(name, fromLookup))})`,
    }),
    ...(personalColumns.length > 0 && { erased }),
    // Of what a customer leaves out the stored one tells; what it says the caller has judged itself.
    ...(recordTable.warnsOnAttribution && {
      untold: `${fromLookup('verdict')} is null and ${verdict} is not 'attributed'`,
      verdict,
    }),
  }
}

/** Counts and lists what is said of records of which all names were found, or with `not` were not. */
function aggregates(found: Record<string, string>) {
  const filter = (names: readonly string[]) => {
    const conditions = names.filter((name) => name.replace('not ', '') in found)
    // What cannot be found is not there; what cannot be is never found.
    return names.every((name) => name.startsWith('not ') || name in found)
      ? `filter (where ${conditions.join(' and ')})`
      : null
  }
  return {
    count: (what: string, ...names: string[]) => {
      const filtered = filter(names)
      return filtered ? `count(${what}) ${filtered}` : '0'
    },
    list: (what: string, ...names: string[]) => {
      const filtered = filter(names)
      return filtered ? `nullif(json_group_array(${what}) ${filtered}, '[]')` : 'null'
    },
  }
}

/** The line of the log, when all is done. */
export const SELECT_DELIVERY = `select * from ${DELIVERY_ROW}`
