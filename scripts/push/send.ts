import PQueue from 'p-queue'
import { type Bulk, bulks } from './bulks.ts'
import { deliver } from './deliver.ts'
import type { Entry, Ledger } from './ledger.ts'
import type { Post } from './post.ts'
import type { Progress } from './progress.ts'
import { type Format, records } from './read.ts'
import type { Target } from './verticals.ts'

/** What sending needs to know. */
export interface Errand {
  target: Target
  formats: Format[]
  inFlight: number
  post: Post
  ledger: Ledger
  progress: Progress
  /** Aborted with the reason: by Ctrl-C, or by the first bulk that cannot be delivered. */
  stop: AbortController
}

/** A bulk under way. */
interface Shipment {
  keys: Set<string>
  done: Promise<void>
}

/**
 * Sends files one after the other, some bulks at once. Two versions of one record are never under
 * way together, so that they are stored in the order of the file.
 *
 * @throws Halt where a file is malformed; all that was sent before is answered by then.
 */
export async function send(errand: Errand) {
  const { ledger, formats, inFlight, stop } = errand
  const queue = new PQueue({ concurrency: inFlight })
  const shipments = new Set<Shipment>()
  try {
    for (const [i, entry] of ledger.entries.entries()) {
      await sendFile(entry, formats[i]!, errand, queue, shipments)
      if (stop.signal.aborted) return
    }
  } finally {
    await queue.onIdle()
  }
}

async function sendFile(
  entry: Entry,
  format: Format,
  { target, post, ledger, progress, stop }: Errand,
  queue: PQueue,
  shipments: Set<Shipment>,
) {
  const position = { bytes: 0, lines: 0 }
  let booked = 0

  async function ship({ first, texts }: Bulk, bytes: number) {
    if (stop.signal.aborted) return skip(entry, first, texts.length)
    try {
      await deliver({ first, texts }, post, ledger, entry)
    } catch (error) {
      stop.abort(error)
    }
    progress.settled(texts.length, bytes)
  }

  const found = records({ file: entry.file, position }, format, target)
  for await (const bulk of bulks(found, target.mayRepeat)) {
    await Promise.all(rivals(bulk, shipments))
    await queue.onSizeLessThan(1)
    entry.counts.received += bulk.texts.length
    if (stop.signal.aborted) return skip(entry, bulk.first, bulk.texts.length)

    entry.unsentFrom = bulk.first + bulk.texts.length
    const bytes = position.bytes - booked
    booked = position.bytes
    const shipment = { keys: bulk.keys, done: queue.add(() => ship(bulk, bytes)) }
    shipments.add(shipment)
    shipment.done.finally(() => shipments.delete(shipment))
  }
  entry.unsentFrom = null
}

/** From here on nothing is sent any more. */
function skip(entry: Entry, first: number, count: number) {
  entry.counts.not_sent += count
  entry.unsentFrom = Math.min(entry.unsentFrom ?? first, first)
}

/** What must be done before a bulk may leave: all that has a key in common with it. */
const rivals = ({ keys }: Bulk, shipments: Set<Shipment>) =>
  [...shipments].filter((other) => !other.keys.isDisjointFrom(keys)).map(({ done }) => done)
