import { withD1Retry } from '../retry.ts'
import { NEXT_VERSION } from './accounts.ts'

/** An OAuth client, as the integrations team sees it. */
export interface ClientRow {
  client_id: string
  version: number
  revoked: number
  /** Until when a secret that it had before is good, in milliseconds. */
  previous_until: number | null
  created_at: string
}

/** A Brand Token, as the integrations team sees it; `ends_at` in milliseconds. */
export interface BrandTokenRow {
  id: string
  digest: string
  ends_at: number | null
  created_at: string
}

/** The OAuth clients of an account, the revoked ones too. */
export async function listClients(db: D1Database, account: string): Promise<ClientRow[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select client_id, version, revoked, created_at,
           (select max(ends_at) from client_secrets s where s.client_id = clients.client_id)
             as previous_until
         from clients where account = ?1 order by created_at, client_id`,
      )
      .bind(account)
      .all<ClientRow>(),
  )
  return results
}

/** The Brand Tokens of an account, the ended ones too. */
export async function listBrandTokens(db: D1Database, account: string): Promise<BrandTokenRow[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select id, digest, ends_at, created_at from brand_tokens
         where account = ?1 order by created_at, id`,
      )
      .bind(account)
      .all<BrandTokenRow>(),
  )
  return results
}

/** Makes a client known. */
export const insertClient = (
  db: D1Database,
  client: { client_id: string; account: string; secret_digest: string; created_at: string },
) =>
  db
    .prepare(
      `insert into clients (client_id, account, secret_digest, created_at)
       values (?1, ?2, ?3, ?4) on conflict do nothing`,
    )
    .bind(client.client_id, client.account, client.secret_digest, client.created_at)

/**
 * Gives a client a new secret. The one before is good until then (milliseconds), as those are that
 * it had earlier; null: all of them end now, and with them what they were exchanged for.
 */
export const rotateClient = (
  db: D1Database,
  client_id: string,
  secret_digest: string,
  until: number | null,
) => [
  until === null
    ? db.prepare('delete from client_secrets where client_id = ?1').bind(client_id)
    : db
        .prepare(
          `insert into client_secrets (digest, client_id, ends_at)
           select secret_digest, client_id, ?3 from clients
           where client_id = ?1 and secret_digest <> ?2 on conflict do nothing`,
        )
        .bind(client_id, secret_digest, until),
  db
    .prepare(
      `update clients set secret_digest = ?2, version = iif(?3, ${NEXT_VERSION}, version)
       where client_id = ?1 and secret_digest <> ?2`,
    )
    .bind(client_id, secret_digest, Number(until === null)),
]

/** Ends a client for good. */
export const revokeClient = (db: D1Database, client_id: string) =>
  db
    .prepare(`update clients set revoked = 1, version = ${NEXT_VERSION} where client_id = ?1`)
    .bind(client_id)

/** Makes a Brand Token known. */
export const insertBrandToken = (
  db: D1Database,
  token: { digest: string; id: string; account: string; created_at: string },
) =>
  db
    .prepare(
      `insert into brand_tokens (digest, id, account, created_at)
       values (?1, ?2, ?3, ?4) on conflict do nothing`,
    )
    .bind(token.digest, token.id, token.account, token.created_at)

/** Ends the other Brand Tokens of an account at that time, unless they end sooner. */
export const endBrandTokens = (db: D1Database, account: string, except: string, at: number) =>
  db
    .prepare(
      `update brand_tokens set ends_at = min(coalesce(ends_at, ?3), ?3)
       where account = ?1 and digest <> ?2 and coalesce(ends_at, ?3) >= ?3`,
    )
    .bind(account, except, at)

/** Ends one Brand Token at that time, unless it ends sooner. */
export const endBrandToken = (db: D1Database, account: string, id: string, at: number) =>
  db
    .prepare(
      `update brand_tokens set ends_at = min(coalesce(ends_at, ?3), ?3)
       where account = ?1 and id = ?2`,
    )
    .bind(account, id, at)

/** Says that the live tokens of an account have something to learn. */
export const bumpVersion = (db: D1Database, account: string) =>
  db.prepare(`update accounts set version = ${NEXT_VERSION} where id = ?1`).bind(account)
