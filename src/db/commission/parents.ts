import { encode } from '../column-types.ts'
import { all } from '../query.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { affiliateParents } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { BEGINNING, fromOf, type Since } from './history.ts'

/** The parent of an affiliate, from a day on. */
export interface Parent extends Since {
  readonly parent: string | null
}

/** An affiliate with its parents by day; the first part holds from the beginning. */
export interface AffiliateParents {
  readonly affiliate_id: string
  readonly parents: readonly Parent[]
}

interface ParentRow {
  affiliate_id: string
  current: string | null
  day: number | null
  parent: string | null
}

const selectParents = (which: string) =>
  compileStatement(`
  select a.affiliate_id, a.parent as current, p.day, p.parent
  from ${which}
  left join affiliate_parents p on p.account = :account and p.affiliate_id = a.affiliate_id
  order by a.affiliate_id, p.day`)

const PARENTS_OF_ALL = selectParents(`(select affiliate_id, parent from affiliates
    where account = :account) a`)
const PARENTS_OF_SOME = selectParents(`${JSON_EACH}(:ids) i
  cross join affiliates a on a.account = :account and a.affiliate_id = i.value`)

/**
 * Reads the affiliates of an account with their parents by day, in the order of their ids: all, or those
 * with these ids.
 */
export async function readParents(
  db: D1Database | D1DatabaseSession,
  account: string,
  ids: readonly string[] | null,
): Promise<AffiliateParents[]> {
  const statement = ids ? PARENTS_OF_SOME : PARENTS_OF_ALL
  const values = { account, ...(ids && { ids: JSON.stringify(ids) }) }
  const results = await all<ParentRow>(db, statement, values)
  return [...Map.groupBy(results, ({ affiliate_id }) => affiliate_id)].map(
    ([affiliate_id, rows]) => ({ affiliate_id, parents: rows.map(toParent) }),
  )
}

/** Returns the parent of a row: the current one from the beginning if the affiliate has no history. */
const toParent = ({ current, day, parent }: ParentRow): Parent =>
  day === null ? { from: null, parent: current } : { from: fromOf(day), parent }

const DELETE_PARENTS = compileStatement(`
  delete from affiliate_parents where account = :account
    and affiliate_id in (select value ->> 0 from ${JSON_EACH}(:rows))`)

const INSERT_PARENTS = compileStatement(`
  insert into affiliate_parents (account, affiliate_id, day, parent)
  select :account, value ->> 0, value ->> 1, value ->> 2 from ${JSON_EACH}(:rows) where true
  on conflict (account, affiliate_id, day) do update set parent = excluded.parent`)

/** Replaces the parents by day of these affiliates. `putAffiliates` stores the current parent. */
export function replaceParents(
  db: D1Database,
  account: string,
  affiliates: readonly AffiliateParents[],
): D1PreparedStatement[] {
  const ids = affiliates.map(({ affiliate_id }) => [affiliate_id])
  const rows = affiliates.flatMap(({ affiliate_id, parents }) =>
    parents.map(({ from, parent }) => [
      affiliate_id,
      from === null ? BEGINNING : encode(affiliateParents.day, from),
      parent,
    ]),
  )
  return [
    ...toJsonChunks(ids).map((rows) => bindStatement(db, DELETE_PARENTS, { account, rows })),
    ...toJsonChunks(rows).map((rows) => bindStatement(db, INSERT_PARENTS, { account, rows })),
  ]
}
