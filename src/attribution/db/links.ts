import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first, setTerms } from '../../platform/db/query.ts'
import type { Account, links } from '../../platform/db/schema.ts'
import { ABORT } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'

type Row = typeof links.$inferSelect

/** A link, and the D1 binding that keeps the records of its account. */
export type Link = Omit<Row, 'name' | 'created_at' | 'disabled_by'> & Pick<Account, 'binding'>

const FIND_LINK = compileStatement(`
  select l.link_id, l.account, l.affiliate_id, l.landing_page, l.disabled, l.pass_query, a.binding
  from links l join accounts a on a.id = l.account where l.link_id = :id`)

/** Returns the link with this id; null if there is none. */
export const findLink = (db: D1Database, id: string): Promise<Link | null> =>
  first<Link>(db, FIND_LINK, { id })

/** A link as its account lists it. */
export type LinkRow = Omit<Row, 'account'>

const COLUMNS = [
  'link_id',
  'affiliate_id',
  'name',
  'landing_page',
  'pass_query',
  'disabled',
  'disabled_by',
  'created_at',
]

/** Reads one page of an account's links, in the order of their ids; only those of an affiliate if given. */
export const listLinks = (
  db: D1Database,
  account: string,
  affiliate: string | null,
  page: Page,
): Promise<FoundPage<LinkRow>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: `links where account = :account${affiliate === null ? '' : ' and affiliate_id = :affiliate'}`,
      key: ['link_id'],
      values: { account, ...(affiliate !== null && { affiliate }) },
    },
    page,
  )

const FIND_ACCOUNT_LINK = compileStatement(`
  select ${COLUMNS.join()} from links
  where link_id = :link_id and account = :account`)

/** Returns the link of an account with this id; null if there is none. */
export const findAccountLink = (
  db: D1Database,
  account: string,
  link_id: string,
): Promise<LinkRow | null> => first<LinkRow>(db, FIND_ACCOUNT_LINK, { account, link_id })

const INSERT_LINK = compileStatement(`
  insert into links (link_id, account, affiliate_id, name, landing_page, pass_query, created_at)
  values (:link_id, :account, :affiliate_id, :name, :landing_page, :pass_query, :created_at)
  on conflict do nothing`)

/** Inserts a link, unless it is stored already. Its affiliate never changes. */
export const insertLink = (
  db: D1Database,
  account: string,
  link: Omit<LinkRow, 'disabled' | 'disabled_by' | 'pass_query'> & { pass_query: boolean },
) => bindStatement(db, INSERT_LINK, { ...link, account, pass_query: Number(link.pass_query) })

/** Changed properties of a link; a property that is absent keeps its value. */
export interface LinkChange {
  /** Null removes the name. */
  name?: string | null | undefined
  landing_page?: string | undefined
  pass_query?: boolean | undefined
  disabled?: boolean | undefined
}

/** Changes a link in the name of the team or the affiliate. `change` must have at least one property. */
export function updateLink(
  db: D1Database,
  account: string,
  link_id: string,
  { disabled, pass_query, ...change }: LinkChange,
  by: 'team' | 'affiliate',
) {
  const toFlag = (value: boolean | undefined) => (value === undefined ? undefined : Number(value))
  const values = {
    ...change,
    disabled: toFlag(disabled),
    pass_query: toFlag(pass_query),
    ...(disabled !== undefined && { disabled_by: disabled ? by : null }),
  }
  const set = setTerms(['name', 'landing_page', 'pass_query', 'disabled', 'disabled_by'], values)
  const statement = compileStatement(
    `update links set ${set.join()} where account = :account and link_id = :link_id`,
  )
  return bindStatement(db, statement, { ...values, account, link_id })
}

/** The contract: how many links of an affiliate can be active before the affiliate makes no more. */
export const MAX_ACTIVE_LINKS = 100

/** How many links an affiliate can have before they make no more, disabled ones included. */
export const MAX_LINKS = 1000

const REJECT_FULL = compileStatement(`
  select ${ABORT} from (
    select count(*) as links, coalesce(sum(disabled = 0), 0) as active from links
    where account = :account and affiliate_id = :affiliate_id and link_id <> :link_id)
  where active >= ${MAX_ACTIVE_LINKS} or links >= ${MAX_LINKS}`)

/** Aborts the batch if an affiliate has as many links as they may have, besides one that becomes active. */
export const rejectFull = (
  db: D1Database,
  link: { readonly account: string; readonly affiliate_id: string; readonly link_id: string },
) => bindStatement(db, REJECT_FULL, link)

const REJECT_DISABLED_BY_TEAM = compileStatement(`
  select ${ABORT} from links
  where account = :account and link_id = :link_id and disabled_by = 'team'`)

/** Aborts the batch if the team has disabled a link. */
export const rejectDisabledByTeam = (db: D1Database, account: string, link_id: string) =>
  bindStatement(db, REJECT_DISABLED_BY_TEAM, { account, link_id })

const AFFILIATES_BY_LINK = compileStatement(`
  select link_id, affiliate_id from links indexed by links_account
  where account = :account and link_id in (select value from json_each(:ids))`)

/** Returns the affiliate of each of these links that the account has, by link id. */
export async function affiliatesByLink(
  db: D1Database,
  account: string,
  link_ids: readonly string[],
): Promise<Map<string, string>> {
  const values = { account, ids: JSON.stringify(link_ids) }
  const rows = await all<Pick<Row, 'link_id' | 'affiliate_id'>>(db, AFFILIATES_BY_LINK, values)
  return new Map(rows.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}

const LINKS_OF = compileStatement(`
  select link_id, affiliate_id from links
  where account = :account and affiliate_id in (select value from json_each(:affiliates))`)

/** Returns the links of these affiliates: whose each is, by its id. */
export async function linksOf(
  db: D1Database,
  account: string,
  affiliates: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = { account, affiliates: JSON.stringify(affiliates) }
  const rows = await all<Pick<Row, 'link_id' | 'affiliate_id'>>(db, LINKS_OF, values)
  return new Map(rows.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}
