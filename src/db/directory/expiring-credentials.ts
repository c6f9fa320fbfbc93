import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

/** A credential that ends soon. It is named by the id of its client or Brand Token. */
export interface ExpiringCredential {
  readonly account: string
  /** The D1 binding of the account's records. */
  readonly binding: string
  readonly kind: 'client_secret' | 'brand_token'
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
