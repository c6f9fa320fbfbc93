import type { Answer, Ask } from '../ask.ts'
import { type Bulk, TABLES } from './bulks.ts'

/** Where each kind of bulk goes. */
export interface Senders {
  firm: Ask
  brand: Ask
}

/** A bulk that was sent; null: nobody answered. */
export type Sent = Map<Bulk, Answer | null>

/** Sends one bulk. */
export const send = ({ firm, brand }: Senders, { table, records, headers }: Bulk) =>
  (table === 'events' ? brand : firm)('POST', TABLES[table].resource, { body: records, headers })

/** So many requests are on their way at once. */
const LANES = 6

/**
 * Sends bulks in random order, several at once, until all are answered or nobody answers any more.
 * What frees held records is sent once these were answered.
 */
export async function load(
  senders: Senders,
  bulks: readonly Bulk[],
  random: () => number,
): Promise<Sent> {
  const sent: Sent = new Map()
  const left = [...bulks]
  let gone = false
  const next = () => {
    const ready = left.filter(({ frees }) => !frees || sent.get(frees))
    const bulk = ready[Math.floor(random() * ready.length)]
    if (bulk) left.splice(left.indexOf(bulk), 1)
    return bulk
  }
  const lane = async () => {
    while (!gone && left.length > 0) {
      const bulk = next()
      if (!bulk) {
        await new Promise((done) => setTimeout(done, 1))
        continue
      }
      sent.set(bulk, null)
      const answer = await send(senders, bulk).catch(() => null)
      if (answer) sent.set(bulk, answer)
      else gone = true
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return sent
}
