import { and, eq } from 'drizzle-orm'
import type { FoundPage, Page } from '../paginate.ts'
import { all, build, first, isOneOf, listRows, toStatement } from '../query.ts'
import { type Account, accounts, links } from '../schema.ts'

type Row = typeof links.$inferSelect

/** A link, and the D1 binding that keeps the records of its account. */
export type Link = Omit<Row, 'name' | 'created_at'> & Pick<Account, 'binding'>

/** Returns the link with this id; null if there is none. */
export const findLink = (db: D1Database, id: string): Promise<Link | null> => {
  const { link_id, account, affiliate_id, landing_page, disabled } = links
  const { binding } = accounts
  return first(
    db,
    build
      .select({ link_id, account, affiliate_id, landing_page, disabled, binding })
      .from(links)
      .innerJoin(accounts, eq(accounts.id, account))
      .where(eq(link_id, id)),
  )
}

/** A link as its account lists it. */
export type LinkRow = Omit<Row, 'account'>

/** Reads one page of an account's links, in the order of their ids. */
export const listLinks = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<LinkRow>> => listRows(db, { table: links, key: 'link_id', account }, page)

/** Returns the link of an account with this id; null if there is none. */
export const findAccountLink = (
  db: D1Database,
  account: string,
  link_id: string,
): Promise<LinkRow | null> =>
  first(
    db,
    build
      .select()
      .from(links)
      .where(and(eq(links.link_id, link_id), eq(links.account, account))),
  )

/** Inserts a link, unless it is stored already. Its affiliate never changes. */
export const insertLink = (db: D1Database, account: string, link: Omit<LinkRow, 'disabled'>) =>
  toStatement(
    db,
    build
      .insert(links)
      .values({ ...link, account })
      .onConflictDoNothing(),
  )

/** Changed properties of a link; a property that is absent keeps its value. */
interface LinkChange {
  /** Null removes the name. */
  name?: string | null | undefined
  landing_page?: string | undefined
  disabled?: boolean | undefined
}

/** Changes a link. `change` must have at least one property. */
export function updateLink(
  db: D1Database,
  account: string,
  link_id: string,
  { name, landing_page, disabled }: LinkChange,
) {
  const set = {
    name,
    landing_page,
    disabled: disabled === undefined ? undefined : Number(disabled),
  }
  return toStatement(
    db,
    build
      .update(links)
      .set(set)
      .where(and(eq(links.account, account), eq(links.link_id, link_id))),
  )
}

/** Returns the affiliate of each of these links that the account has, by link id. */
export async function affiliatesByLink(
  db: D1Database,
  account: string,
  link_ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await all(
    db,
    build
      .select({ link_id: links.link_id, affiliate_id: links.affiliate_id })
      .from(links)
      .where(and(eq(links.account, account), isOneOf(links.link_id, link_ids))),
  )
  return new Map(rows.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}

/** Returns the ids of the links of these affiliates. */
export async function linksOf(
  db: D1Database,
  account: string,
  affiliates: readonly string[],
): Promise<string[]> {
  const rows = await all(
    db,
    build
      .select({ link_id: links.link_id })
      .from(links)
      .where(and(eq(links.account, account), isOneOf(links.affiliate_id, affiliates))),
  )
  return rows.map(({ link_id }) => link_id)
}
