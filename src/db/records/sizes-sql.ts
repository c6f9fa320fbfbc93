import type { SizeLimit } from './extras-limits.ts'
import { isUndecided, leftBytes, rewrittenBytes } from './findings-sql.ts'
import type { RecordTable } from './record-table.ts'
import { chunkNames, JSON_EACH, type SqlFragments, unionOfChunks } from './sql-fragments.ts'

/** The number of lookup chunks, and of chunks of flagged rows. */
export interface SizeChunks {
  readonly lookup: number
  readonly flagged: number
}

const sentIn = ({ lookup, flagged }: SizeChunks) =>
  unionOfChunks([...chunkNames('lookup', lookup), ...chunkNames('flagged', flagged)])

/** Returns the SQL of the flag of a record; null if it is an ordinary one. */
const flagIn = (lookupColumns: readonly string[]) => `(value ->> ${lookupColumns.length + 1})`

/**
 * Lists the keys of the records of which the classification cannot decide whether they are too large,
 * and how many bytes are stored; none if the request would rewrite too many bytes in any case. The row
 * without a key has these bytes, and as `rewritten` those that all records would rewrite.
 */
export const selectUndecidedSql = (
  { table }: RecordTable,
  { lookupColumns, fromLookup, keyMatches }: SqlFragments,
  sizeLimit: SizeLimit,
  chunks: SizeChunks,
) => `
      with sent(value) as (${sentIn(chunks)}),
      sums as materialized (
        select total(${leftBytes(sizeLimit, fromLookup)}) as bytes,
          total(${rewrittenBytes(sizeLimit, fromLookup, flagIn(lookupColumns))}) as rewritten
        from sent left join ${table} t on ${keyMatches(fromLookup)}
      )
      select null as key, bytes, rewritten from sums
      union all
      select distinct ${fromLookup(sizeLimit.key)}, ifnull(octet_length(t.${sizeLimit.column}), 0), null
      from sent left join ${table} t on ${keyMatches(fromLookup)}
      where iif((select bytes from sums) > ${sizeLimit.maxRewritten}, 0, ${isUndecided(sizeLimit, fromLookup)})`

/** Lists the stored members of records; `:keys` is a JSON array. */
export const selectStoredSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery, t.${column} as members
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`
