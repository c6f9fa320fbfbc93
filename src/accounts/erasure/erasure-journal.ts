import { DurableObject } from 'cloudflare:workers'
import type { Erasure } from './sql.ts'

const PREFIX = 'erased:'

/**
 * The erasures of one account, kept outside the database. A database that is restored to an earlier
 * time holds erased data again; the journal allows it to be erased again.
 *
 * Storage keys: `erased:{customer_id}` (the time of the erasure, ISO 8601), never deleted.
 */
export class ErasureJournal extends DurableObject<Env> {
  /** Records an erasure and returns its time: that of the first request for this customer. */
  add(customer_id: string, now: string): string {
    const { kv } = this.ctx.storage
    const recorded = kv.get<string>(PREFIX + customer_id)
    if (recorded === undefined) kv.put(PREFIX + customer_id, now)
    return recorded ?? now
  }

  /** Returns at most `limit` erasures after a customer id, in the order of ids; null starts at the first. */
  after(customer_id: string | null, limit: number): Erasure[] {
    const { kv } = this.ctx.storage
    const start = customer_id === null ? {} : { startAfter: PREFIX + customer_id }
    return [...kv.list<string>({ prefix: PREFIX, limit, ...start })].map(([key, erased_at]) => ({
      customer_id: key.slice(PREFIX.length),
      erased_at,
    }))
  }
}
