import { all, first } from '../db/query.ts'
import { withD1Retry } from '../db/retry.ts'
import {
  type Account,
  accounts,
  type brandTokens,
  type clientSecrets,
  type clients,
} from '../db/schema.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { columnNames } from '../db/table.ts'
import { NEXT_VERSION } from './accounts.ts'

type StoredClient = typeof clients.$inferSelect

/** An account with the columns of one of its clients, and the end of a previous secret. */
type FoundClient = Account &
  Pick<StoredClient, 'secret_digest' | 'revoked'> & {
    client_version: StoredClient['version']
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

const CLOSE_AFFILIATE_KEYS = compileStatement(
  `update affiliate_keys set closed = 1 where id in (select value from json_each(:ids))`,
)

/** Ids of ended credentials. */
interface EndedIds {
  readonly clients: readonly string[]
  readonly brandTokens: readonly string[]
  readonly affiliateKeys: readonly string[]
}

/** Notes that the objects of these ended credentials know that they have ended. */
export async function closeCredentials(db: D1Database, ended: EndedIds): Promise<void> {
  const closings = [
    [CLOSE_CLIENTS, ended.clients],
    [CLOSE_BRAND_TOKENS, ended.brandTokens],
    [CLOSE_AFFILIATE_KEYS, ended.affiliateKeys],
  ] as const
  const statements = closings.flatMap(([statement, ids]) =>
    ids.length > 0 ? [bindStatement(db, statement, { ids: JSON.stringify(ids) })] : [],
  )
  if (statements.length > 0) await withD1Retry(() => db.batch(statements))
}

/** A credential that ends soon. It is named by the id of its client, Brand Token or affiliate key. */
export interface ExpiringCredential {
  readonly account: string
  /** The D1 binding of the account's records. */
  readonly binding: string
  readonly kind: 'client_secret' | 'brand_token' | 'affiliate_key'
  readonly id: string
  /** In milliseconds. */
  readonly ends_at: number
}

/** Reads the credentials of enabled accounts that end in a span. */
const SELECT_EXPIRING = compileStatement(`
  select c.account, a.binding, 'client_secret' as kind, c.client_id as id, s.ends_at
  from client_secrets s indexed by client_secrets_ends
  cross join clients c on c.client_id = s.client_id and c.revoked = 0
  cross join accounts a on a.id = c.account and a.disabled = 0
  where s.ends_at > :from and s.ends_at <= :to
  union all
  select t.account, a.binding, 'brand_token', t.id, t.ends_at
  from brand_tokens t indexed by brand_tokens_ends
  cross join accounts a on a.id = t.account and a.disabled = 0
  where t.ends_at is not null and t.ends_at > :from and t.ends_at <= :to
  union all
  select k.account, a.binding, 'affiliate_key', k.id, k.ends_at
  from affiliate_keys k indexed by affiliate_keys_ends
  cross join accounts a on a.id = k.account and a.disabled = 0
  where k.ends_at is not null and k.ends_at > :from and k.ends_at <= :to
  order by 5 limit :limit`)

/** The maximum number of credentials that one run of a cron job reads. Those that end first come first. */
const MAX_CREDENTIALS = 10_000

/** Returns the credentials of all enabled accounts that end after `from` and until `to` (milliseconds). */
export async function expiringCredentials(
  db: D1Database,
  from: number,
  to: number,
): Promise<ExpiringCredential[]> {
  const values = { from, to, limit: MAX_CREDENTIALS }
  return all<ExpiringCredential>(db, SELECT_EXPIRING, values)
}

/** The maximum number of credentials of one account and kind that are searched for those that end soon. */
const MAX_SEARCHED = 1000

/** Reads when the credentials of one account end in a span. */
const SELECT_EXPIRIES = compileStatement(`
  select ends_at from (
    select s.ends_at from clients c cross join client_secrets s on s.client_id = c.client_id
    where c.account = :account and c.revoked = 0 limit ${MAX_SEARCHED})
  where ends_at > :from and ends_at <= :to
  union all
  select ends_at from (
    select ends_at from brand_tokens where account = :account limit ${MAX_SEARCHED})
  where ends_at > :from and ends_at <= :to
  order by ends_at`)

/**
 * Returns when the previous secrets and the Brand Tokens of one account end, after `from` and until `to`,
 * in order. All times are in milliseconds.
 */
export async function expiriesOfAccount(
  db: D1Database,
  account: string,
  from: number,
  to: number,
): Promise<number[]> {
  const results = await all<{ ends_at: number }>(db, SELECT_EXPIRIES, { account, from, to })
  return results.map(({ ends_at }) => ends_at)
}
