import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { type Affiliate, PROFILE_MEMBERS } from '../../platform/directory/affiliates.ts'

const LISTED = ['affiliate_id', 'parent', ...PROFILE_MEMBERS]

/** Which affiliates a list has. */
export interface AffiliateFilter {
  readonly affiliate_id?: string | undefined
  /** A part of an id, a name or an e-mail address. Case does not matter. */
  readonly search?: string | undefined
  readonly ids?: readonly string[] | undefined
  /** The day (`YYYY-MM-DD`) on which they have no plan, neither of their own nor by `*`. */
  readonly without_plan_on?: string | undefined
}

const SEARCHED = `instr(lower(affiliate_id || char(10) || ifnull(display_name, '') || char(10)
    || ifnull(contact_email, '')), lower(:search)) > 0`

const CONDITIONS: Readonly<Record<keyof AffiliateFilter, string>> = {
  affiliate_id: 'affiliate_id = :affiliate_id',
  search: SEARCHED,
  ids: `affiliate_id in (select value from ${JSON_EACH}(:ids))`,
  without_plan_on: `not exists (select 1 from assignments s where s.account = :account
    and s.affiliate_id in (affiliates.affiliate_id, '*') and s.from_day <= :without_plan_on)`,
}

/** Returns the manager of an affiliate; null if they are no member of the team any more. */
export const managerOf = ({ manager }: Affiliate, members: ReadonlySet<string>): string | null =>
  manager !== null && members.has(manager) ? manager : null

const LIST_MANAGED = compileStatement(`
  select manager, json_group_array(affiliate_id order by affiliate_id) as affiliates
  from affiliates indexed by affiliates_manager
  where account = :account and manager is not null group by manager`)

/** Returns each manager of an account, with the affiliates whom they look after as a JSON array. */
export const listManaged = (db: Connection, account: string) =>
  all<{ manager: string; affiliates: string }>(db, LIST_MANAGED, { account })

/** Reads one page of an account's affiliates, in the order of their ids. */
export const listAffiliates = (
  db: D1Database,
  account: string,
  page: Page,
  { ids, ...filter }: AffiliateFilter = {},
): Promise<FoundPage<Affiliate>> => {
  const values = { ...filter, ...(ids && { ids: JSON.stringify(ids) }) }
  const conditions = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [CONDITIONS[name as keyof AffiliateFilter]],
  )
  const query = {
    columns: LISTED,
    from: ['affiliates where account = :account', ...conditions].join(' and '),
    key: ['affiliate_id'],
    values: { account, ...values },
  }
  return paginate<Affiliate>(db, query, page)
}

const SHARE_CODE = compileStatement(
  'select share_code from affiliates where account = :account and affiliate_id = :affiliate_id',
)

/** Returns the share code of an affiliate. */
export const shareCodeOf = async (db: Connection, account: string, affiliate_id: string) =>
  (await only<{ share_code: string }>(db, SHARE_CODE, { account, affiliate_id })).share_code
