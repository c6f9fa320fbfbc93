import { all, first } from '../db/query.ts'
import type { Account, brandTokens, clients } from '../db/schema.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { columnNames } from '../db/table.ts'
import { accounts } from '../db/tables.ts'
import { NEXT_VERSION } from './accounts.ts'

type StoredClient = typeof clients.$inferSelect

/** An account with the columns of one of its clients. */
type FoundClient = Account &
  Pick<StoredClient, 'secret_digest' | 'previous_digest' | 'previous_ends_at' | 'revoked'> & {
    client_version: StoredClient['version']
  }

/** Runs each time that a token is issued. */
const FIND_CLIENT = compileStatement(`
  select ${columnNames(accounts).map((name) => `a.${name}`)}, c.secret_digest, c.previous_digest,
    c.previous_ends_at, c.revoked, c.version as client_version
  from clients c
  join accounts a on a.id = c.account
  where c.client_id = :client_id`)

/** Returns the OAuth client with this id and its account; null if there is none. */
export async function findClient(db: D1Database, client_id: string) {
  const found = await first<FoundClient>(db, FIND_CLIENT, { client_id })
  if (!found) return null
  const { secret_digest, previous_digest, previous_ends_at, revoked, client_version, ...account } =
    found
  const secrets = { secret_digest, previous_digest, previous_ends_at }
  return { client: { client_id, ...secrets, revoked, version: client_version }, account }
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

/** An OAuth client. `previous_ends_at` is when its previous secret ends (milliseconds), or null. */
export type ClientRow = Pick<
  StoredClient,
  'client_id' | 'version' | 'revoked' | 'created_at' | 'previous_ends_at'
>

/** A Brand Token. `ends_at` is when it ends (milliseconds); null if it has no end. */
export type BrandTokenRow = Omit<typeof brandTokens.$inferSelect, 'account'>

const LIST_CLIENTS = compileStatement(`
  select client_id, version, revoked, created_at, previous_ends_at
  from clients where account = :account order by created_at, client_id`)

/** Returns the OAuth clients of an account, revoked ones included, the oldest first. */
export const listClients = (db: D1Database, account: string): Promise<ClientRow[]> =>
  all<ClientRow>(db, LIST_CLIENTS, { account })

const LIST_BRAND_TOKENS = compileStatement(`
  select id, digest, ends_at, created_at from brand_tokens
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

/** If an earlier attempt has set the new secret, this one must not end it. */
const ROTATE_CLIENT = compileStatement(`
  update clients set secret_digest = :secret_digest,
    previous_digest = iif(:until is null, null, secret_digest), previous_ends_at = :until,
    version = iif(:until is null, ${NEXT_VERSION}, version)
  where client_id = :client_id and secret_digest <> :secret_digest`)

/**
 * Gives a client a new secret. Its present one stays valid until `until` (milliseconds); null ends it and the tokens
 * that it obtained. An earlier one ends.
 */
export const rotateClient = (
  db: D1Database,
  client_id: string,
  secret_digest: string,
  until: number | null,
) => bindStatement(db, ROTATE_CLIENT, { client_id, secret_digest, until })

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
  token: Omit<typeof brandTokens.$inferSelect, 'ends_at'>,
) => bindStatement(db, INSERT_BRAND_TOKEN, token)

const END_BRAND_TOKENS = compileStatement(`
  update brand_tokens set ends_at = :at
  where account = :account and digest <> :except and coalesce(ends_at, :at) >= :at`)

/** Ends all Brand Tokens of an account but one at `at` (milliseconds); an earlier end stays. */
export const endBrandTokens = (db: D1Database, account: string, except: string, at: number) =>
  bindStatement(db, END_BRAND_TOKENS, { account, except, at })

const END_BRAND_TOKEN = compileStatement(`
  update brand_tokens set ends_at = :at
  where account = :account and id = :id`)

/** Ends one Brand Token at `at` (milliseconds). */
export const endBrandToken = (db: D1Database, account: string, id: string, at: number) =>
  bindStatement(db, END_BRAND_TOKEN, { account, id, at })

const BUMP_VERSION = compileStatement(
  `update accounts set version = ${NEXT_VERSION} where id = :account`,
)

/** Raises the version of an account, so that its live tokens receive its settings. */
export const bumpVersion = (db: D1Database, account: string) =>
  bindStatement(db, BUMP_VERSION, { account })
