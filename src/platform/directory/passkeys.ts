import { all } from '../db/query.ts'
import { isAssertionFailure, withD1Retry } from '../db/retry.ts'
import { ABORT } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

// What is stored of passkeys. The members of affiliates and those of the firm have a table each.

/** What WebAuthn says of a passkey; `transports` is a JSON array. */
export interface PasskeyRecord {
  readonly credential_id: string
  /** A SubjectPublicKeyInfo in base64url. */
  readonly public_key: string
  /** The number of its algorithm in COSE. */
  readonly algorithm: number
  /** The signature counter (§6.1.1). */
  readonly counter: number
  readonly transports: string
  /** 1 if the passkey can be copied to other devices (BE), which never changes; else 0. */
  readonly backup_eligible: number
  /** 1 if it is copied at present (BS), else 0. */
  readonly backed_up: number
}

/** A passkey as it is stored, with its member. */
export interface StoredPasskey extends PasskeyRecord {
  readonly member: string
  /** What its member calls it. */
  readonly name: string
  readonly created_at: string
  readonly last_used_at: string
}

const COLUMNS: readonly (keyof StoredPasskey)[] = [
  ...(['credential_id', 'public_key', 'algorithm', 'counter', 'transports'] as const),
  ...(['backup_eligible', 'backed_up', 'name', 'created_at', 'last_used_at'] as const),
]

/** The values that a statement binds: those of other columns are ignored. */
type Values = Readonly<Record<string, unknown>>

const equal = (names: readonly string[]) => names.map((name) => `${name} = :${name}`).join(' and ')

/**
 * Returns what is read and stored in a table of passkeys. `realm` are the columns within which the id of a passkey is
 * unique, and `owner` those of its member. Every change is one batch, which fails as a whole.
 */
export function passkeyTable<P extends StoredPasskey>(
  table: string,
  { realm, owner }: { realm: readonly string[]; owner: readonly string[] },
) {
  const columns = [...new Set([...realm, ...owner, ...COLUMNS])]
  const isOne = equal([...realm, 'credential_id'])
  const isOwn = equal([...realm, ...owner])
  const list = compileStatement(`
    select ${columns.join(', ')} from ${table} where ${isOwn} order by created_at, credential_id`)
  const insert = compileStatement(`
    insert into ${table} (${columns.join(', ')}) values (${columns.map((name) => `:${name}`).join(', ')})`)
  const rejectUsed = compileStatement(`
    select ${ABORT} where not exists (select 1 from ${table}
      where ${isOne} and (counter < :counter or (counter = 0 and :counter = 0)))`)
  const count = compileStatement(`
    update ${table} set counter = :counter, backed_up = :backed_up, last_used_at = :at where ${isOne}`)
  const remove = compileStatement(`
    delete from ${table} where ${isOwn} and credential_id = :credential_id
      and exists (select 1 from ${table} where ${isOwn} and credential_id <> :credential_id)`)
  return {
    /** Returns the passkeys of a member, the first one first. */
    list: (db: D1Database, member: Values) => all<P>(db, list, member),
    /** Stores a passkey. */
    insert: (db: D1Database, passkey: Values) => bindStatement(db, insert, passkey),
    /** Removes a passkey of a member, unless it is their last one. */
    remove: (db: D1Database, passkey: Values) => bindStatement(db, remove, passkey),
    /**
     * Stores the state of a passkey that was used at a time (RFC 3339), and runs `others`. Returns false if it was
     * removed or its counter is not higher than the stored one: then a copy of the passkey may be in use.
     */
    async countUse(db: D1Database, used: Values, at: string, others: D1PreparedStatement[]) {
      const steps = [rejectUsed, count].map((one) => bindStatement(db, one, { ...used, at }))
      try {
        await withD1Retry(() => db.batch([...steps, ...others]))
        return true
      } catch (error) {
        if (isAssertionFailure(error)) return false
        throw error
      }
    },
  }
}
