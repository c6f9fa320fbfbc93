import type { SizeLimit } from './extras-limits.ts'
import { isUndecided, rewrittenBytes } from './findings-sql.ts'
import type { RecordTable } from './record-table.ts'
import { chunkNames, JSON_EACH, type SqlFragments, unionOfChunks } from './sql-fragments.ts'

/**
 * Lists the keys of records whose size the classification could not decide, and how many bytes are
 * stored of each; no keys if the request would rewrite too much. One row without a key tells whether it
 * would. The sum stops where it exceeds the limit: to find a customer, the database also reads the large
 * customers next to it, so a thousand searches can take a tenth of a second.
 */
export const selectUndecidedSql = (
  { table }: RecordTable,
  { fromLookup, keyMatches }: SqlFragments,
  sizeLimit: SizeLimit,
  lookupChunks: number,
) => {
  const stored = `${table} t on ${keyMatches(fromLookup)}`
  return `
      with sent(value) as (${unionOfChunks(chunkNames('lookup', lookupChunks))}),
      request as materialized (
        select exists (select 1 from (
          select sum(${rewrittenBytes(sizeLimit, fromLookup)}) over (rows unbounded preceding) as total
          from sent left join ${stored}
        ) where total > ${sizeLimit.maxRewritten}) as rewrites_too_much
      )
      select null as key, null as bytes, rewrites_too_much from request
      union all
      select distinct ${fromLookup(sizeLimit.key)}, ifnull(octet_length(t.${sizeLimit.column}), 0), null
      from request cross join sent left join ${stored}
      where not rewrites_too_much and ${isUndecided(sizeLimit, fromLookup)}`
}

/** Lists the stored members of records; `:keys` is a JSON array. */
export const selectStoredSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery, t.${column} as members
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`
