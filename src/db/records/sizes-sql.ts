import type { SizeLimit } from './extras-limits.ts'
import { isUndecided } from './findings-sql.ts'
import type { RecordTable } from './record-table.ts'
import { chunkNames, JSON_EACH, type SqlFragments, unionOfChunks } from './sql-fragments.ts'

/**
 * Lists the keys of the records of which the classification cannot decide whether they are too large,
 * and how many bytes are stored.
 */
export const selectUndecidedSql = (
  { table }: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
  sizeLimit: SizeLimit,
  chunks: { readonly lookup: number; readonly flagged: number },
) => `
      with sent(value) as (${unionOfChunks([
        ...chunkNames('lookup', chunks.lookup),
        ...chunkNames('flagged', chunks.flagged),
      ])})
      select distinct ${fromLookup(sizeLimit.key)} as key,
        ifnull(octet_length(t.${sizeLimit.column}), 0) as bytes
      from sent left join ${table} t on ${keyMatches(fromLookup)}
      where ${isUndecided(sizeLimit, fromLookup)}`

/** Lists the stored members of records; `:keys` is a JSON array. */
export const selectStoredSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery, t.${column} as members
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`
