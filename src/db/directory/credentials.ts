import { all } from '../query.ts'
import { withD1Retry } from '../retry.ts'
import type { brandTokens, clients } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { NEXT_VERSION } from './accounts.ts'

/**
 * An OAuth client. `last_previous_secret_ends_at` is when the last of its previous secrets ends
 * (milliseconds), or null; `closed` is 1 once its objects know that it is revoked.
 */
export interface ClientRow
  extends Pick<
    typeof clients.$inferSelect,
    'client_id' | 'version' | 'revoked' | 'created_at' | 'closed'
  > {
  last_previous_secret_ends_at: number | null
}

/**
 * A Brand Token. `ends_at` is when it ends (milliseconds); null if it has no end. `closed` is 1 once its
 * object knows that it has ended.
 */
export type BrandTokenRow = Omit<typeof brandTokens.$inferSelect, 'account'>

const LIST_CLIENTS = compileStatement(`
  select client_id, version, revoked, created_at, closed,
    (select max(s.ends_at) from client_secrets s where s.client_id = c.client_id)
      as last_previous_secret_ends_at
  from clients c where account = :account order by created_at, client_id`)

/** Returns the OAuth clients of an account, revoked ones included, the oldest first. */
export const listClients = (db: D1Database, account: string): Promise<ClientRow[]> =>
  all<ClientRow>(db, LIST_CLIENTS, { account })

const LIST_BRAND_TOKENS = compileStatement(`
  select id, digest, ends_at, created_at, closed from brand_tokens
  where account = :account order by created_at, id`)

/** Returns the Brand Tokens of an account, ended ones included, the oldest first. */
export const listBrandTokens = (db: D1Database, account: string): Promise<BrandTokenRow[]> =>
  all<BrandTokenRow>(db, LIST_BRAND_TOKENS, { account })

const INSERT_CLIENT = compileStatement(`
  insert into clients (client_id, account, secret_digest, created_at)
  values (:client_id, :account, :secret_digest, :created_at) on conflict do nothing`)

/** Inserts an OAuth client, unless it is stored already. */
export const insertClient = (
  db: D1Database,
  client: Pick<
    typeof clients.$inferSelect,
    'client_id' | 'account' | 'secret_digest' | 'created_at'
  >,
) => bindStatement(db, INSERT_CLIENT, client)

/**
 * The condition that a client still has another secret than the new one. If an earlier attempt has set
 * the new secret, this one must not end it.
 */
const HAS_ANOTHER_SECRET = 'client_id = :client_id and secret_digest <> :secret_digest'

const KEEP_SECRET = compileStatement(`
  insert into client_secrets (digest, client_id, ends_at)
  select secret_digest, client_id, :until from clients where ${HAS_ANOTHER_SECRET}
  on conflict do nothing`)

const END_SECRETS = compileStatement(`delete from client_secrets where client_id = :client_id`)

const REPLACE_SECRET = compileStatement(
  `update clients set secret_digest = :secret_digest where ${HAS_ANOTHER_SECRET}`,
)

const REPLACE_ENDED_SECRET = compileStatement(`
  update clients set secret_digest = :secret_digest, version = ${NEXT_VERSION}
  where ${HAS_ANOTHER_SECRET}`)

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
  const statements =
    until === null ? [END_SECRETS, REPLACE_ENDED_SECRET] : [KEEP_SECRET, REPLACE_SECRET]
  const values = { client_id, secret_digest, until }
  return statements.map((statement) => bindStatement(db, statement, values))
}

const REVOKE_CLIENT = compileStatement(
  `update clients set revoked = 1, version = ${NEXT_VERSION} where client_id = :client_id`,
)

/** Revokes a client permanently. */
export const revokeClient = (db: D1Database, client_id: string) =>
  bindStatement(db, REVOKE_CLIENT, { client_id })

const INSERT_BRAND_TOKEN = compileStatement(`
  insert into brand_tokens (digest, id, account, created_at)
  values (:digest, :id, :account, :created_at) on conflict do nothing`)

/** Inserts a Brand Token, unless it is stored already. */
export const insertBrandToken = (
  db: D1Database,
  token: Omit<typeof brandTokens.$inferSelect, 'ends_at' | 'closed'>,
) => bindStatement(db, INSERT_BRAND_TOKEN, token)

const END_BRAND_TOKENS = compileStatement(`
  update brand_tokens set ends_at = :at
  where account = :account and digest <> :except and coalesce(ends_at, :at) >= :at`)

/** Ends all Brand Tokens of an account but one at `at` (milliseconds); an earlier end stays. */
export const endBrandTokens = (db: D1Database, account: string, except: string, at: number) =>
  bindStatement(db, END_BRAND_TOKENS, { account, except, at })

const END_BRAND_TOKEN = compileStatement(`
  update brand_tokens set ends_at = :at
  where account = :account and id = :id and coalesce(ends_at, :at) >= :at`)

/** Ends one Brand Token at `at` (milliseconds); an earlier end stays. */
export const endBrandToken = (db: D1Database, account: string, id: string, at: number) =>
  bindStatement(db, END_BRAND_TOKEN, { account, id, at })

const BUMP_VERSION = compileStatement(
  `update accounts set version = ${NEXT_VERSION} where id = :account`,
)

/** Raises the version of an account, so that its live tokens receive its settings. */
export const bumpVersion = (db: D1Database, account: string) =>
  bindStatement(db, BUMP_VERSION, { account })

const CLOSE_CLIENTS = compileStatement(
  `update clients set closed = 1 where client_id in (select value from json_each(:ids))`,
)

const CLOSE_BRAND_TOKENS = compileStatement(
  `update brand_tokens set closed = 1 where id in (select value from json_each(:ids))`,
)

/** Notes that the objects of these ended credentials, named by id, know that they have ended. */
export async function closeCredentials(
  db: D1Database,
  clientIds: readonly string[],
  brandTokenIds: readonly string[],
): Promise<void> {
  if (clientIds.length + brandTokenIds.length === 0) return
  await withD1Retry(() =>
    db.batch([
      bindStatement(db, CLOSE_CLIENTS, { ids: JSON.stringify(clientIds) }),
      bindStatement(db, CLOSE_BRAND_TOKENS, { ids: JSON.stringify(brandTokenIds) }),
    ]),
  )
}
