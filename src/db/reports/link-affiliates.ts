import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

const LINK_AFFILIATES = compileStatement(`
  select link_id, affiliate_id from links indexed by links_account where account = :account`)

/** Returns the affiliate of each link of an account. */
export async function linkAffiliates(
  db: D1Database,
  account: string,
): Promise<ReadonlyMap<string, string>> {
  type Row = { link_id: string; affiliate_id: string }
  const results = await all<Row>(db, LINK_AFFILIATES, { account })
  return new Map(results.map(({ link_id, affiliate_id }) => [link_id, affiliate_id]))
}
