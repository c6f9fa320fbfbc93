import { and, asc, eq, max, ne, sql } from 'drizzle-orm'
import { all, build, isOneOf, toStatement } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import { accounts, brandTokens, clientSecrets, clients } from '../schema.ts'
import { NEXT_VERSION } from './accounts.ts'

/**
 * An OAuth client. `previous_until` is when the last previous secret ends (milliseconds), or null;
 * `closed` is 1 once its objects know that it is revoked.
 */
export type ClientRow = Pick<
  typeof clients.$inferSelect,
  'client_id' | 'version' | 'revoked' | 'previous_until' | 'created_at' | 'closed'
>

/**
 * A Brand Token. `ends_at` is when it ends (milliseconds); null if it has no end. `closed` is 1 once its
 * object knows that it has ended.
 */
export type BrandTokenRow = Omit<typeof brandTokens.$inferSelect, 'account'>

/** Returns the OAuth clients of an account, revoked ones included, the oldest first. */
export function listClients(db: D1Database, account: string): Promise<ClientRow[]> {
  const lastEnd = build
    .select({ ends_at: max(clientSecrets.ends_at) })
    .from(clientSecrets)
    .where(eq(clientSecrets.client_id, clients.client_id))
  return all(
    db,
    build
      .select({
        client_id: clients.client_id,
        version: clients.version,
        revoked: clients.revoked,
        created_at: clients.created_at,
        closed: clients.closed,
        previous_until: sql<number | null>`${lastEnd}`.as('previous_until'),
      })
      .from(clients)
      .where(eq(clients.account, account))
      .orderBy(asc(clients.created_at), asc(clients.client_id)),
  )
}

/** Returns the Brand Tokens of an account, ended ones included, the oldest first. */
export const listBrandTokens = (db: D1Database, account: string): Promise<BrandTokenRow[]> =>
  all(
    db,
    build
      .select({
        id: brandTokens.id,
        digest: brandTokens.digest,
        ends_at: brandTokens.ends_at,
        created_at: brandTokens.created_at,
        closed: brandTokens.closed,
      })
      .from(brandTokens)
      .where(eq(brandTokens.account, account))
      .orderBy(asc(brandTokens.created_at), asc(brandTokens.id)),
  )

/** Inserts an OAuth client, unless it is stored already. */
export const insertClient = (
  db: D1Database,
  client: Pick<
    typeof clients.$inferSelect,
    'client_id' | 'account' | 'secret_digest' | 'created_at'
  >,
) => toStatement(db, build.insert(clients).values(client).onConflictDoNothing())

/**
 * Gives a client a new secret. Its present and previous secrets stay valid until `until`
 * (milliseconds) and until their own ends; null ends all of them and the tokens that they obtained.
 */
export function rotateClient(
  db: D1Database,
  client_id: string,
  secret_digest: string,
  until: number | null,
) {
  // If an earlier attempt has set the new secret, this one must not end it.
  const hasAnotherSecret = and(
    eq(clients.client_id, client_id),
    ne(clients.secret_digest, secret_digest),
  )
  const previous = build
    .select({
      digest: clients.secret_digest,
      client_id: clients.client_id,
      ends_at: sql<number>`${until}`.as('ends_at'),
    })
    .from(clients)
    .where(hasAnotherSecret)
  const version = until === null ? NEXT_VERSION : undefined
  return [
    until === null
      ? toStatement(db, build.delete(clientSecrets).where(eq(clientSecrets.client_id, client_id)))
      : toStatement(db, build.insert(clientSecrets).select(previous).onConflictDoNothing()),
    toStatement(db, build.update(clients).set({ secret_digest, version }).where(hasAnotherSecret)),
  ]
}

/** Revokes a client permanently. */
export const revokeClient = (db: D1Database, client_id: string) =>
  toStatement(
    db,
    build
      .update(clients)
      .set({ revoked: 1, version: NEXT_VERSION })
      .where(eq(clients.client_id, client_id)),
  )

/** Inserts a Brand Token, unless it is stored already. */
export const insertBrandToken = (
  db: D1Database,
  token: Omit<typeof brandTokens.$inferSelect, 'ends_at' | 'closed'>,
) => toStatement(db, build.insert(brandTokens).values(token).onConflictDoNothing())

const hasNotEndedBefore = (at: number) => sql`coalesce(${brandTokens.ends_at}, ${at}) >= ${at}`

/** Ends all Brand Tokens of an account but one at `at` (milliseconds); an earlier end stays. */
export const endBrandTokens = (db: D1Database, account: string, except: string, at: number) =>
  toStatement(
    db,
    build
      .update(brandTokens)
      .set({ ends_at: at })
      .where(
        and(
          eq(brandTokens.account, account),
          ne(brandTokens.digest, except),
          hasNotEndedBefore(at),
        ),
      ),
  )

/** Ends one Brand Token at `at` (milliseconds); an earlier end stays. */
export const endBrandToken = (db: D1Database, account: string, id: string, at: number) =>
  toStatement(
    db,
    build
      .update(brandTokens)
      .set({ ends_at: at })
      .where(and(eq(brandTokens.account, account), eq(brandTokens.id, id), hasNotEndedBefore(at))),
  )

/** Raises the version of an account, so that its live tokens receive its settings. */
export const bumpVersion = (db: D1Database, account: string) =>
  toStatement(
    db,
    build.update(accounts).set({ version: NEXT_VERSION }).where(eq(accounts.id, account)),
  )

/** Notes that the objects of these ended credentials, named by id, know that they have ended. */
export async function closeCredentials(
  db: D1Database,
  clientIds: readonly string[],
  brandTokenIds: readonly string[],
): Promise<void> {
  if (clientIds.length + brandTokenIds.length === 0) return
  const closed = { closed: 1 }
  const closeClients = build
    .update(clients)
    .set(closed)
    .where(isOneOf(clients.client_id, clientIds))
  const closeTokens = build
    .update(brandTokens)
    .set(closed)
    .where(isOneOf(brandTokens.id, brandTokenIds))
  await withD1Retry(() => db.batch([toStatement(db, closeClients), toStatement(db, closeTokens)]))
}
