import { all } from '../db/query.ts'
import type { affiliateKeys } from '../db/schema.ts'
import { ABORT } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { requiredChange } from './audit.ts'

/** The contract: an affiliate has at most so many keys that are valid. */
export const MAX_LIVE_KEYS = 5

/** A key of an affiliate. `ends_at` is when it ends (milliseconds); null if it has no end. */
export type AffiliateKeyRow = Omit<typeof affiliateKeys.$inferSelect, 'account'>

const COLUMNS =
  'id, digest, affiliate_id, name, scope, ends_at, created_at, created_by, last_used_on'

const LIST_KEYS = compileStatement(`
  select ${COLUMNS} from affiliate_keys
  where account = :account and affiliate_id = :affiliate_id order by created_at, id`)

/** Returns the keys of an affiliate, the oldest first, with those that ended lately. */
export const listAffiliateKeys = (
  db: D1Database,
  account: string,
  affiliate_id: string,
): Promise<AffiliateKeyRow[]> => all<AffiliateKeyRow>(db, LIST_KEYS, { account, affiliate_id })

const LIST_OF_ACCOUNT = compileStatement(`
  select ${COLUMNS} from affiliate_keys
  where account = :account and (ends_at is null or ends_at >= :since)
  order by created_at, id`)

/** Returns the keys of all affiliates of an account that have not ended before a time (milliseconds). */
export const keysOfAccount = (
  db: D1Database,
  account: string,
  since: number,
): Promise<AffiliateKeyRow[]> => all<AffiliateKeyRow>(db, LIST_OF_ACCOUNT, { account, since })

/** At most so many keys of an affiliate are made in an hour. */
export const KEYS_PER_HOUR = 20

/** Aborts the batch if an affiliate has as many valid keys as it may have, or made as many in an hour. */
const REJECT_FULL = compileStatement(`
  select ${ABORT} where (
    select count(*) from affiliate_keys
    where account = :account and affiliate_id = :affiliate_id and digest <> :digest
      and created_at > :hour_ago) >= ${KEYS_PER_HOUR} or (
    select count(*) from affiliate_keys
    where account = :account and affiliate_id = :affiliate_id and digest <> :digest
      and (ends_at is null or ends_at > :at)) >= ${MAX_LIVE_KEYS}`)

/** The days after which an ended key is deleted: its object knows by then. The audit log has it. */
const KEPT_DAYS = 8

const DELETE_ENDED = compileStatement(`
  delete from affiliate_keys where account = :account and affiliate_id = :affiliate_id
    and ends_at < :at - ${KEPT_DAYS * DAY_MS}`)

const INSERT_KEY = compileStatement(`
  insert into affiliate_keys (digest, id, account, affiliate_id, name, scope, created_at, created_by)
  values (:digest, :id, :account, :affiliate_id, :name, :scope, :created_at, :created_by)
  on conflict do nothing`)

/** A new key. */
type NewAffiliateKey = Omit<typeof affiliateKeys.$inferSelect, 'ends_at' | 'last_used_on'>

/**
 * Inserts a key at `at` (milliseconds), unless it is stored already. The batch fails if the affiliate has
 * `MAX_LIVE_KEYS` others, or made `KEYS_PER_HOUR` within an hour.
 */
export function insertAffiliateKey(
  db: D1Database,
  key: NewAffiliateKey,
  at: number,
): D1PreparedStatement[] {
  const hour_ago = new Date(at - HOUR_MS).toISOString()
  const values = { ...key, at, hour_ago }
  return [REJECT_FULL, DELETE_ENDED, INSERT_KEY].map((statement) =>
    bindStatement(db, statement, values),
  )
}

const END_KEY = compileStatement(`
  update affiliate_keys set ends_at = :at
  where account = :account and affiliate_id = :affiliate_id and id = :id
    and ends_at is null`)

/** Ends one key of an affiliate at `at` (milliseconds). The batch fails if it has ended. */
export const endAffiliateKey = (
  db: D1Database,
  key: { readonly account: string; readonly affiliate_id: string; readonly id: string },
  at: number,
) => requiredChange(db, END_KEY, { ...key, at })

const USE_KEY = compileStatement(`
  update affiliate_keys set last_used_on = :day
  where digest = :digest and (last_used_on is null or last_used_on < :day)`)

/** Notes that the key with a digest was used on a day (`YYYY-MM-DD`, UTC). */
export const useAffiliateKey = (db: D1Database, digest: string, day: string) =>
  bindStatement(db, USE_KEY, { digest, day })
