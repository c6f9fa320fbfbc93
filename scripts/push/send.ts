import { type Bulk, groupIntoBulks } from './bulks.ts'
import { deliver } from './deliver.ts'
import { noteIds } from './ids.ts'
import type { Post } from './post.ts'
import type { Issue } from './problem.ts'
import type { Progress } from './progress.ts'
import { readRecords } from './read.ts'
import type { Format, Renames } from './reader.ts'
import type { FileResult, RunResult } from './result.ts'
import type { Target } from './vertical.ts'

/** A run: what to send, how, and where its state is kept. */
export interface SendJob {
  target: Target
  formats: Format[]
  renames: Renames
  inFlight: number
  post: Post
  result: RunResult
  progress: Progress
  /** Aborted with the reason: by Ctrl-C, or by the first bulk that cannot be delivered. */
  stop: AbortController
  /** Decides after the first bulk that was refused for one reason; throws to stop. */
  confirmContinue: (issue: Issue) => Promise<void>
}

/** A bulk in flight. */
interface Shipment {
  keys: Set<string>
  done: Promise<void>
}

/** What the bulks of a run share. */
interface SendState {
  shipments: Set<Shipment>
  /** The first error that all records of a bulk had. */
  commonIssue: Issue | null
  /** The user's decision about it, once they are asked. */
  decision: Promise<void> | null
  /** Whether a bulk was answered. */
  hasResponse: boolean
}

/**
 * Sends files one after the other, with several bulks in flight. Records with the same key are
 * never in flight together, so that they are stored in the order of the file.
 *
 * @throws ExitError if a file is malformed; all earlier records are answered by then.
 */
export async function send(job: SendJob) {
  const { result, formats, stop } = job
  const shipments = new Set<Shipment>()
  const state: SendState = {
    shipments,
    hasResponse: false,
    commonIssue: null,
    decision: null,
  }
  try {
    for (const [i, file] of result.files.entries()) {
      await sendFile(file, formats[i]!, job, state)
      if (stop.signal.aborted) return
    }
  } finally {
    await Promise.all(doneOf(shipments))
  }
}

async function sendFile(file: FileResult, format: Format, job: SendJob, state: SendState) {
  const { target, renames, inFlight, stop } = job
  const { shipments } = state
  const position = { bytes: 0, lines: 0 }
  let countedBytes = 0

  const records = readRecords({ file: file.file, position, renames }, format, target)
  for await (const bulk of groupIntoBulks(records, target)) {
    await Promise.all(conflicting(bulk, shipments))
    while (shipments.size >= inFlight) await Promise.race(doneOf(shipments))
    file.counts.received += bulk.texts.length
    noteIds(file.ids, bulk)
    await stopOrContinue(job, state)
    if (stop.signal.aborted) return skip(file, bulk.first, bulk.texts.length)

    file.unsentFrom = bulk.first + bulk.texts.length
    const bytes = position.bytes - countedBytes
    countedBytes = position.bytes
    const done = ship(bulk, bytes, file, job, state)
    const shipment = { keys: bulk.keys, done }
    shipments.add(shipment)
    done.finally(() => shipments.delete(shipment))
    // The first bulk travels alone: if it is refused as a whole, no other follows it.
    if (!state.hasResponse) await done
    state.hasResponse = true
  }
  file.unsentFrom = null
}

async function ship(bulk: Bulk, bytes: number, file: FileResult, job: SendJob, state: SendState) {
  const { post, result, progress, stop } = job
  const { first, texts } = bulk
  await stopOrContinue(job, state)
  if (stop.signal.aborted) return skip(file, first, texts.length)
  try {
    const issue = await deliver(bulk, post, result, file)
    state.commonIssue ??= issue
  } catch (error) {
    stop.abort(error)
  }
  progress.settled(texts.length, bytes)
}

/** Before another bulk is sent: lets the user decide once whether a common error stops the run. */
async function stopOrContinue({ confirmContinue, stop }: SendJob, state: SendState) {
  if (state.commonIssue === null || stop.signal.aborted) return
  state.decision ??= confirmContinue(state.commonIssue).catch((error) => stop.abort(error))
  await state.decision
}

/** Counts records that are not sent because the run was stopped. */
function skip(file: FileResult, first: number, count: number) {
  file.counts.not_sent += count
  file.unsentFrom = Math.min(file.unsentFrom ?? first, first)
}

/** Returns the bulks in flight that have a key in common with this one. */
const conflicting = ({ keys }: Bulk, shipments: Set<Shipment>) =>
  [...shipments].filter((other) => !other.keys.isDisjointFrom(keys)).map(({ done }) => done)

const doneOf = (shipments: Set<Shipment>) => [...shipments].map(({ done }) => done)
