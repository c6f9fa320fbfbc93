import { and, eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import { withD1Retry } from '../retry.ts'
import { accounts, clientSecrets, clients } from '../schema.ts'

/**
 * The OAuth client of this name with its account, if there is one; `ends_at` (milliseconds) is there
 * where the secret of this digest is one that it had before.
 */
export async function findClient(d1: D1Database, client_id: string, digest: string) {
  const rows = await withD1Retry(() =>
    drizzle(d1)
      .select({
        client: clients,
        account: accounts,
        ends_at: sql<number | null>`${clientSecrets.ends_at}`,
      })
      .from(clients)
      .innerJoin(accounts, eq(accounts.id, clients.account))
      .leftJoin(
        clientSecrets,
        and(eq(clientSecrets.digest, digest), eq(clientSecrets.client_id, clients.client_id)),
      )
      .where(eq(clients.client_id, client_id)),
  )
  return rows[0] ?? null
}

/** The ids of the affiliates that an account has configured, in order. */
export async function listAffiliateIds(
  session: D1DatabaseSession,
  account: string,
): Promise<string[]> {
  const { results } = await withD1Retry(() =>
    session
      .prepare('select affiliate_id from affiliates where account = ?1 order by affiliate_id')
      .bind(account)
      .all<{ affiliate_id: string }>(),
  )
  return results.map(({ affiliate_id }) => affiliate_id)
}
