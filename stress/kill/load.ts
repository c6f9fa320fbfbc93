import type { Answer, RequestSender } from '../ask.ts'
import { type Bulk, TABLES } from './bulks.ts'

/** The senders of each kind of bulk. */
export interface Senders {
  firm: RequestSender
  brand: RequestSender
}

/** The bulks that were sent with their responses; null if there was no response. */
export type Sent = Map<Bulk, Answer | null>

/** Sends one bulk. */
export const send = ({ firm, brand }: Senders, { table, records, headers }: Bulk) =>
  (table === 'events' ? brand : firm)('POST', TABLES[table].resource, { body: records, headers })

/** How many requests run at the same time. */
const LANES = 6

/**
 * Sends bulks in random order, several at once, until all are answered or the service is gone. A bulk
 * that releases held records follows their response.
 */
export async function load(
  senders: Senders,
  bulks: readonly Bulk[],
  random: () => number,
): Promise<Sent> {
  const sent: Sent = new Map()
  const left = [...bulks]
  let isGone = false
  const next = () => {
    const ready = left.filter(({ frees }) => !frees || sent.get(frees))
    const bulk = ready[Math.floor(random() * ready.length)]
    if (bulk) left.splice(left.indexOf(bulk), 1)
    return bulk
  }
  const lane = async () => {
    while (!isGone && left.length > 0) {
      const bulk = next()
      if (!bulk) {
        await new Promise((done) => setTimeout(done, 1))
        continue
      }
      sent.set(bulk, null)
      const answer = await send(senders, bulk).catch(() => null)
      if (answer) sent.set(bulk, answer)
      else isGone = true
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return sent
}
