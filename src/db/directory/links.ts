import type { FoundPage, Page } from '../paginate.ts'
import { paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'

/** A link, and where the records of its account are kept. */
export interface Link {
  link_id: string
  account: string
  affiliate_id: string
  landing_page: string
  disabled: number
  binding: string
}

/** The link of this id, if there is one. */
export const findLink = (db: D1Database, link_id: string): Promise<Link | null> =>
  withD1Retry(() =>
    db
      .prepare(
        `select l.link_id, l.account, l.affiliate_id, l.landing_page, l.disabled, a.binding
         from links l join accounts a on a.id = l.account where l.link_id = ?1`,
      )
      .bind(link_id)
      .first<Link>(),
  )

/** A link, as the integrations team sees it. */
export interface LinkRow {
  link_id: string
  affiliate_id: string
  name: string | null
  landing_page: string
  disabled: number
  created_at: string
}

/** One page of an account's links, by id. */
export const listLinks = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<LinkRow>> =>
  paginate(
    db,
    {
      columns: ['*'],
      from: `links where account = :account`,
      key: ['link_id'],
      total: `select count(*) as total from links where account = :account`,
      values: { account },
    },
    page,
  )

/** One link of an account, if there is one. */
export const findAccountLink = (db: D1Database, account: string, link_id: string) =>
  withD1Retry(() =>
    db
      .prepare('select * from links where link_id = ?2 and account = ?1')
      .bind(account, link_id)
      .first<LinkRow>(),
  )

/** Makes a link known; whose it is never changes. */
export const insertLink = (db: D1Database, account: string, link: Omit<LinkRow, 'disabled'>) =>
  db
    .prepare(
      `insert into links (link_id, account, affiliate_id, name, landing_page, created_at)
       values (?1, ?2, ?3, ?4, ?5, ?6) on conflict do nothing`,
    )
    .bind(link.link_id, account, link.affiliate_id, link.name, link.landing_page, link.created_at)

/** Changes where a link leads, or whether it does; what is left out stays as it is. */
export const updateLink = (
  db: D1Database,
  account: string,
  link_id: string,
  change: {
    /** Null takes the name away. */
    name?: string | null | undefined
    landing_page?: string | undefined
    disabled?: boolean | undefined
  },
) =>
  db
    .prepare(
      `update links set name = iif(?6, ?3, name), landing_page = coalesce(?4, landing_page),
         disabled = coalesce(?5, disabled)
       where account = ?1 and link_id = ?2`,
    )
    .bind(
      account,
      link_id,
      change.name ?? null,
      change.landing_page ?? null,
      change.disabled === undefined ? null : Number(change.disabled),
      Number(change.name !== undefined),
    )

/** Whose some links are, by their ids. */
export async function affiliatesByLink(
  db: D1Database,
  account: string,
  link_ids: readonly string[],
): Promise<Map<string, string>> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select link_id, affiliate_id from links
         where account = ?1 and link_id in (select value from json_each(?2))`,
      )
      .bind(account, JSON.stringify(link_ids))
      .all<{ link_id: string; affiliate_id: string }>(),
  )
  return new Map(results.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}
