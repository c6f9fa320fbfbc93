import type { SizeLimit } from './extras-limits.ts'
import { isUndecided } from './findings-sql.ts'
import type { RecordTable } from './record-table.ts'
import { chunkNames, JSON_EACH, type SqlFragments, unionOfChunks } from './sql-fragments.ts'

/** The stored members of a record with a `sizeLimit`. */
export interface StoredSizes {
  /** The delivery that wrote the record last; `''` if there is none. */
  delivery: string
  /** The bytes of each member, by name: its name and value with a colon and a comma. */
  sizes: ReadonlyMap<string, number>
}

/** Lists the keys of the records of which the classification cannot decide whether they are too large. */
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
      select distinct ${fromLookup(sizeLimit.key)} as key
      from sent left join ${table} t on ${keyMatches(fromLookup)}
      where ${isUndecided(sizeLimit, fromLookup)}`

/** Lists the sizes of the stored members of records; `:keys` is a JSON array. */
export const selectStoredSizesSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery,
        (select json_group_array(json_array(m.key,
            octet_length(json_quote(m.key)) + octet_length(json_quote(m.value)) + 2))
          from json_each(t.${column}) m) as sizes
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`
