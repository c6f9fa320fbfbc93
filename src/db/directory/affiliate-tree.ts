import { BEGINNING } from '../commission/history.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../statement.ts'

// Checks of the tree of affiliates within the batch that changes it.

/** The maximum length of a chain of parents that is followed. */
const MAX_DEPTH = 1000

/**
 * Text that is not valid JSON. D1 has no RAISE outside triggers; `json()` of invalid text aborts the
 * batch. See `isAssertionFailure`.
 */
const NOT_JSON = 'no tree'

/** A day after all days. */
const NEVER = 3_000_000

/**
 * The days on which a row of `affiliate_parents` applies, or all days if an affiliate has none. `p` is
 * the row, `a` the affiliate.
 */
const FIRST_DAY = `coalesce(p.day, ${BEGINNING})`
const END_DAY = `coalesce((select min(n.day) from affiliate_parents n
        where n.account = :account and n.affiliate_id = p.affiliate_id and n.day > p.day), ${NEVER})`
const PARENT = 'iif(p.day is null, a.parent, p.parent)'
const PARENTS = `cross join affiliates a on a.account = :account and a.affiliate_id = `
const BY_DAY = `left join affiliate_parents p
      on p.account = :account and p.affiliate_id = a.affiliate_id`

const REJECT_CYCLES = compileStatement(`
  with recursive up(start, parent, first_day, end_day, depth) as (
    select a.affiliate_id, ${PARENT}, ${FIRST_DAY}, ${END_DAY}, 1
    from ${JSON_EACH}(:rows) ${PARENTS} value ->> 0 ${BY_DAY}
    where ${PARENT} is not null
    union all
    select up.start, ${PARENT}, max(up.first_day, ${FIRST_DAY}), min(up.end_day, ${END_DAY}),
      depth + 1
    from up ${PARENTS} up.parent ${BY_DAY}
    where up.parent <> up.start and depth < ${MAX_DEPTH} and ${PARENT} is not null
      and ${FIRST_DAY} < up.end_day and ${END_DAY} > up.first_day
  )
  select json('${NOT_JSON}') from up where parent = start limit 1`)

/**
 * Fails, and so does its batch, if one of these affiliates is its own ancestor on any day. Two valid changes
 * at the same time could otherwise make a cycle, on which payments to parents would never end.
 */
export const rejectCycles = (
  db: D1Database,
  account: string,
  sent: readonly { affiliate_id: string }[],
) =>
  toJsonChunks(sent.map(({ affiliate_id }) => [affiliate_id])).map((rows) =>
    bindStatement(db, REJECT_CYCLES, { account, rows }),
  )

const REJECT_DEEP_TREES = compileStatement(`
  with recursive up(parent, first_day, end_day, level) as (
    select ${PARENT}, ${FIRST_DAY}, ${END_DAY}, 2
    from affiliates a ${BY_DAY}
    where a.account = :account and ${PARENT} is not null
    union all
    select ${PARENT}, max(up.first_day, ${FIRST_DAY}), min(up.end_day, ${END_DAY}), level + 1
    from up ${PARENTS} up.parent ${BY_DAY}
    where level <= :levels and ${PARENT} is not null
      and ${FIRST_DAY} < up.end_day and ${END_DAY} > up.first_day
  )
  select json('${NOT_JSON}') from up where level > :levels limit 1`)

/**
 * Fails, and so does its batch, if any chain of parents has more affiliates than `levels` on any day.
 * It follows the parents of all affiliates: a change at the same time may have put others below these.
 */
export const rejectDeepTrees = (db: D1Database, account: string, levels: number) =>
  bindStatement(db, REJECT_DEEP_TREES, { account, levels })
