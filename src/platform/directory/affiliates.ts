import type { Connection } from '../db/database.ts'
import { BEGINNING, fromOf, type Since, toDay } from '../db/history.ts'
import { toJsonChunks } from '../db/json-chunks.ts'
import { all } from '../db/query.ts'
import type { affiliates } from '../db/schema.ts'
import { ABORT, JSON_EACH } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

// Checks of the tree of affiliates within the batch that changes it.

/** The most affiliates in a chain of parents: each level multiplies what a run computes. */
export const MAX_LEVELS = 64

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

const REJECT_DEEP_TREES = compileStatement(`
  with recursive up(parent, first_day, end_day, level) as (
    select ${PARENT}, ${FIRST_DAY}, ${END_DAY}, 2
    from affiliates a ${BY_DAY}
    where a.account = :account and ${PARENT} is not null
    union all
    select ${PARENT}, max(up.first_day, ${FIRST_DAY}), min(up.end_day, ${END_DAY}), level + 1
    from up ${PARENTS} up.parent ${BY_DAY}
    where level <= ${MAX_LEVELS} and ${PARENT} is not null
      and ${FIRST_DAY} < up.end_day and ${END_DAY} > up.first_day
  )
  select ${ABORT} from up where level > ${MAX_LEVELS} limit 1`)

/**
 * Fails, and so does its batch, if any chain of parents has more than `MAX_LEVELS` affiliates on any day, and so if an
 * affiliate is above itself: payments to parents would never end. It follows the parents of all affiliates: a change
 * at the same time may have put others below these.
 */
export const rejectDeepTrees = (db: D1Database, account: string) =>
  bindStatement(db, REJECT_DEEP_TREES, { account })

/** An affiliate; `parent` is the affiliate who referred them, or null. */
export type Affiliate = Omit<
  typeof affiliates.$inferSelect,
  'account' | 'suspensions' | 'share_code'
>

/** The members of an affiliate's profile, in the order in which lists have them. */
export const PROFILE_MEMBERS = [
  'display_name',
  'contact_email',
  'language',
  'note',
  'status',
  'manager',
] as const

/** What the team knows of an affiliate. `status` is never null; a null of the others: it is not known. */
export type AffiliateProfile = Pick<Affiliate, (typeof PROFILE_MEMBERS)[number]>

/** An affiliate to store. A member that is left out keeps what is stored. */
type SentAffiliate = Pick<Affiliate, 'affiliate_id'> & {
  readonly [N in keyof Affiliate]?: Affiliate[N] | undefined
}

/** The columns that a request may set; one that it leaves out keeps what is stored. */
const PUT_COLUMNS = ['parent', ...PROFILE_MEMBERS] as const

/** What a new affiliate has of a column that is left out. */
const INITIAL_VALUE = (column: string) =>
  column === 'status' ? "coalesce(t.status, 'active')" : `t.${column}`

/** The SQL of all that the team can change of an affiliate `t`, as JSON; null if there is no such affiliate. */
const SEEN = `iif(t.account is null, null, json_array(${PUT_COLUMNS.map((name) => `t.${name}`).join()}, (
    select json_group_array(json_array(p.day, p.parent) order by p.day) from affiliate_parents p
    where p.account = t.account and p.affiliate_id = t.affiliate_id)))`

const PUT_AFFILIATES = compileStatement(`
  insert into affiliates (account, affiliate_id, ${PUT_COLUMNS.join(', ')})
  select :account, value ->> 0,
    ${PUT_COLUMNS.map((one, i) => `iif(value ->> ${2 * i + 2}, value ->> ${2 * i + 1}, ${INITIAL_VALUE(one)})`).join(', ')}
  from ${JSON_EACH}(:rows)
  left join affiliates t on t.account = :account and t.affiliate_id = value ->> 0
  where iif(${SEEN} is value ->> ${2 * PUT_COLUMNS.length + 1}, 1, ${ABORT})
  on conflict (account, affiliate_id) do update set
    ${PUT_COLUMNS.map((one) => `${one} = excluded.${one}`).join(', ')},
    suspensions = suspensions + (excluded.status = 'suspended' and status <> 'suspended')
  where (${PUT_COLUMNS.join(', ')})
    is not (${PUT_COLUMNS.map((one) => `excluded.${one}`).join(', ')})`)

/** Upserts affiliates. A member that is left out keeps what is stored. The batch fails if one is not as it was read. */
export const putAffiliates = (
  db: D1Database,
  account: string,
  sent: readonly SentAffiliate[],
  read: ReadonlyMap<string, StoredProfile>,
) =>
  toJsonChunks(
    sent.map((one) => [
      one.affiliate_id,
      ...PUT_COLUMNS.flatMap((column) => [one[column] ?? null, one[column] !== undefined]),
      read.get(one.affiliate_id)?.seen ?? null,
    ]),
  ).map((rows) => bindStatement(db, PUT_AFFILIATES, { account, rows }))

/** A profile as it is stored. `suspensions` is how often the affiliate was suspended. */
export type StoredProfile = AffiliateProfile &
  Pick<typeof affiliates.$inferSelect, 'affiliate_id' | 'suspensions'> & {
    /** All that the team can change of the affiliate, as it was read. */
    readonly seen: string
  }

const READ_PROFILES = compileStatement(`
  select t.affiliate_id, t.suspensions, ${SEEN} as seen, ${PROFILE_MEMBERS.map((name) => `t.${name}`).join(', ')}
  from ${JSON_EACH}(:ids)
  cross join affiliates t on t.account = :account and t.affiliate_id = value`)

/** Returns the profiles of those of these affiliates that are configured, by id. */
export async function readProfiles(
  db: D1Database,
  account: string,
  ids: readonly string[],
): Promise<Map<string, StoredProfile>> {
  const rows = await all<StoredProfile>(db, READ_PROFILES, { account, ids: JSON.stringify(ids) })
  return new Map(rows.map((row) => [row.affiliate_id, row]))
}

const UNCONFIGURED_AMONG = compileStatement(`
  select value as affiliate_id from ${JSON_EACH}(:ids) where not exists (
    select 1 from affiliates where account = :account and affiliate_id = value)`)

/** Returns those of these affiliates that an account has not configured. */
export async function unconfiguredAmong(
  db: D1Database,
  account: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const values = { account, ids: JSON.stringify([...new Set(ids)]) }
  const rows = await all<Pick<Affiliate, 'affiliate_id'>>(db, UNCONFIGURED_AMONG, values)
  return new Set(rows.map(({ affiliate_id }) => affiliate_id))
}

/** Returns whether an account has configured this affiliate. */
export const affiliateExists = async (
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> => (await unconfiguredAmong(db, account, [id])).size === 0

/** The parent of an affiliate, from a day on. */
export interface Parent extends Since {
  readonly parent: string | null
}

/** An affiliate with its parents by day; the first part holds from the beginning. */
export interface AffiliateParents {
  readonly affiliate_id: string
  readonly parents: Parent[]
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
    parents.map(({ from, parent }) => [affiliate_id, toDay(from), parent]),
  )
  return [
    ...toJsonChunks(ids).map((rows) => bindStatement(db, DELETE_PARENTS, { account, rows })),
    ...toJsonChunks(rows).map((rows) => bindStatement(db, INSERT_PARENTS, { account, rows })),
  ]
}

const OWN_AFFILIATES = compileStatement(`
  select affiliate_id as owner from affiliates where account = :account and manager = :member`)

const LINKS_OF = compileStatement(`
  select l.link_id as owner from ${JSON_EACH}(:ids)
  cross join links l indexed by links_affiliate on l.account = :account and l.affiliate_id = value`)

/** Returns the ids of the affiliates whom a member of the team has, and of their links. */
export async function readOwners(
  { db, directory }: { readonly db: Connection; readonly directory: Connection },
  account: string,
  member: string,
): Promise<string[]> {
  const own = await all<{ owner: string }>(db, OWN_AFFILIATES, { account, member })
  const ids = own.map(({ owner }) => owner)
  const links = await all<{ owner: string }>(directory, LINKS_OF, {
    account,
    ids: JSON.stringify(ids),
  })
  return [...ids, ...links.map(({ owner }) => owner)]
}
