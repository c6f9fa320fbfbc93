import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { all, build, first, preparedQuery } from '../query.ts'
import { accounts, affiliates, clientSecrets, clients } from '../schema.ts'

/** The query of `findClient`, which runs each time that a token is issued. */
const clientById = preparedQuery(() =>
  build
    .select({
      ...getTableColumns(accounts),
      secret_digest: clients.secret_digest,
      revoked: clients.revoked,
      client_version: sql<number>`${clients.version}`.as('client_version'),
      ends_at: clientSecrets.ends_at,
    })
    .from(clients)
    .innerJoin(accounts, eq(accounts.id, clients.account))
    .leftJoin(
      clientSecrets,
      and(
        eq(clientSecrets.digest, sql.placeholder('digest')),
        eq(clientSecrets.client_id, clients.client_id),
      ),
    )
    .where(eq(clients.client_id, sql.placeholder('client_id'))),
)

/**
 * Returns the OAuth client with this id and its account; null if there is none. `ends_at`
 * (milliseconds) is set if `digest` is the digest of a previous secret of the client.
 */
export async function findClient(db: D1Database, client_id: string, digest: string) {
  const found = await first(db, clientById({ client_id, digest }))
  if (!found) return null
  const { secret_digest, revoked, client_version: version, ends_at, ...account } = found
  return { client: { client_id, secret_digest, revoked, version }, account, ends_at }
}

/** Returns the first ids of the affiliates that an account has configured, in ascending order. */
export async function listAffiliateIds(
  session: D1DatabaseSession,
  account: string,
  limit: number,
): Promise<string[]> {
  const rows = await all(
    session,
    build
      .select({ affiliate_id: affiliates.affiliate_id })
      .from(affiliates)
      .where(eq(affiliates.account, account))
      .orderBy(asc(affiliates.affiliate_id))
      .limit(limit),
  )
  return rows.map(({ affiliate_id }) => affiliate_id)
}
