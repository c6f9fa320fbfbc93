import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

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
export const EXPIRING_CREDENTIALS = compileStatement(`
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
  order by 5 limit :most`)

/** The credentials that one run reads; those that end first come first. */
const MOST = 10_000

/** Returns the credentials that end after `from` and until `to` (milliseconds). */
export async function expiringCredentials(
  db: D1Database,
  from: number,
  to: number,
): Promise<ExpiringCredential[]> {
  const { results } = await withD1Retry(() =>
    bindStatement(db, EXPIRING_CREDENTIALS, { from, to, most: MOST }).all<ExpiringCredential>(),
  )
  return results
}
