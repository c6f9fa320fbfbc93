import { DurableObject } from 'cloudflare:workers'
import type { Erasure } from '../db/records/erasure.ts'

const PREFIX = 'erased:'

/**
 * One object per account: whose personal data was erased, outside the database. A database that is
 * restored to an earlier time has it again, and can be erased again from here.
 *
 * Storage keys: `erased:{customer_id}` (when, ISO 8601), for good.
 */
export class ErasureJournal extends DurableObject<Env> {
  /** Notes an erasure; the first time it was asked for is kept. Answers with when that was. */
  add(customer_id: string, now: string): string {
    const { kv } = this.ctx.storage
    const before = kv.get<string>(PREFIX + customer_id)
    if (before === undefined) kv.put(PREFIX + customer_id, now)
    return before ?? now
  }

  /** The erasures after a customer, in the order of their ids, so many at a time. */
  after(customer_id: string | null, limit: number): Erasure[] {
    const { kv } = this.ctx.storage
    const where = customer_id === null ? {} : { startAfter: PREFIX + customer_id }
    return [...kv.list<string>({ prefix: PREFIX, limit, ...where })].map(([key, erased_at]) => ({
      customer_id: key.slice(PREFIX.length),
      erased_at,
    }))
  }
}
