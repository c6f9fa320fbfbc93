import { all, first } from '../query.ts'
import { type Account, accounts, type clientSecrets, type clients } from '../schema.ts'
import { compileStatement } from '../statement.ts'
import { columnNames } from '../table.ts'

type ClientRow = typeof clients.$inferSelect

/** An account with the columns of one of its clients, and the end of a previous secret. */
type FoundClient = Account &
  Pick<ClientRow, 'secret_digest' | 'revoked'> & {
    client_version: ClientRow['version']
    ends_at: (typeof clientSecrets.$inferSelect)['ends_at'] | null
  }

/** Runs each time that a token is issued. */
const FIND_CLIENT = compileStatement(`
  select ${columnNames(accounts).map((name) => `a.${name}`)}, c.secret_digest, c.revoked,
    c.version as client_version, s.ends_at
  from clients c
  join accounts a on a.id = c.account
  left join client_secrets s on s.digest = :digest and s.client_id = c.client_id
  where c.client_id = :client_id`)

/**
 * Returns the OAuth client with this id and its account; null if there is none. `ends_at`
 * (milliseconds) is set if `digest` is the digest of a previous secret of the client.
 */
export async function findClient(db: D1Database, client_id: string, digest: string) {
  const found = await first<FoundClient>(db, FIND_CLIENT, { client_id, digest })
  if (!found) return null
  const { secret_digest, revoked, client_version: version, ends_at, ...account } = found
  return { client: { client_id, secret_digest, revoked, version }, account, ends_at }
}

const LIST_AFFILIATE_IDS = compileStatement(`
  select affiliate_id from affiliates where account = :account order by affiliate_id limit :limit`)

/** Returns the first ids of the affiliates that an account has configured, in ascending order. */
export async function listAffiliateIds(
  session: D1DatabaseSession,
  account: string,
  limit: number,
): Promise<string[]> {
  const values = { account, limit }
  const rows = await all<{ affiliate_id: string }>(session, LIST_AFFILIATE_IDS, values)
  return rows.map(({ affiliate_id }) => affiliate_id)
}
