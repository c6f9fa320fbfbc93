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

/** How much a request would rewrite of stored members that it does not send. */
export const REWRITES = {
  withinLimit: 0,
  /** Over the limit only if the repeated records count. */
  overLimitWithRepeated: 1,
  /** Over the limit in any case. */
  overLimit: 2,
} as const

/**
 * Lists the keys of records whose size the classification could not decide, and how many bytes are
 * stored of each; no keys if the request would rewrite too much in any case. One row without
 * a key has one of `REWRITES`. The sums stop where they exceed the limit: to find a customer, the database
 * also reads the large customers next to it, so a thousand searches can take a tenth of a second.
 */
export const selectUndecidedSql = (
  { table }: RecordTable,
  { lookupColumns, fromLookup, keyMatches }: SqlFragments,
  sizeLimit: SizeLimit,
  chunks: SizeChunks,
) => {
  const stored = `${table} t on ${keyMatches(fromLookup)}`
  const exceeds = (bytes: string) => `exists (select 1 from (
          select sum(${bytes}) over (rows unbounded preceding) as total
          from sent left join ${stored}
        ) where total > ${sizeLimit.maxRewritten})`
  const left = leftBytes(sizeLimit, fromLookup)
  const rewritten = rewrittenBytes(sizeLimit, fromLookup, flagIn(lookupColumns))
  return `
      with sent(value) as (${sentIn(chunks)}),
      request as materialized (
        select iif(${exceeds(left)}, ${REWRITES.overLimit},
          iif(${exceeds(rewritten)}, ${REWRITES.overLimitWithRepeated}, ${REWRITES.withinLimit})) as rewrites
      )
      select null as key, null as bytes, rewrites from request
      union all
      select distinct ${fromLookup(sizeLimit.key)}, ifnull(octet_length(t.${sizeLimit.column}), 0), null
      from request cross join sent left join ${stored}
      where rewrites < ${REWRITES.overLimit} and ${isUndecided(sizeLimit, fromLookup)}`
}

/** Lists the stored members of records; `:keys` is a JSON array. */
export const selectStoredSql = ({ table }: RecordTable, { column, key }: SizeLimit) => `
      select t.${key} as key, t.delivery as delivery, t.${column} as members
      from ${JSON_EACH}(:keys) k cross join ${table} t
        on t.account = :account and t.${key} = k.value`
