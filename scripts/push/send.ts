import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { MAX_RECORDS } from '../../src/ingest/envelope.ts'
import { MAX_BODY_BYTES } from '../../src/platform/http/body-limit.ts'
import { ExitError, usageError } from '../exit-error.ts'
import type { SendArguments } from './arguments.ts'
import type { Client } from './client.ts'
import { requestError } from './problem.ts'
import { readRecords } from './read.ts'
import type { Bulk, FileRecord } from './record.ts'
import { addResponse, type FileResult, note } from './result.ts'
import type { Target } from './verticals.ts'

const BRACKETS = 2
const COMMA = 1

/**
 * Groups records into bulks, in order, within the limits of a request. Unless records may repeat, two records with
 * the same key never share a bulk: the API would refuse it. None of them is left out, because a later one may lack
 * fields of an earlier one.
 */
async function* groupIntoBulks(
  records: AsyncIterable<FileRecord>,
  { mayRepeat, keyOf }: Target,
): AsyncGenerator<Bulk> {
  let bulk: Bulk = { first: 0, records: [], keys: new Set() }
  let size = BRACKETS
  for await (const one of records) {
    const { record } = one
    const key = typeof record === 'object' && record !== null ? keyOf(record) : undefined
    const bytes = Buffer.byteLength(one.text) + COMMA
    const isFull = bulk.records.length === MAX_RECORDS || size + bytes > MAX_BODY_BYTES
    const isRepeated = !mayRepeat && key !== undefined && bulk.keys.has(key)
    if (bulk.records.length > 0 && (isFull || isRepeated)) {
      yield bulk
      bulk = { first: bulk.first + bulk.records.length, records: [], keys: new Set() }
      size = BRACKETS
    }
    bulk.records.push({ ...one, key })
    if (key !== undefined) bulk.keys.add(key)
    size += bytes
  }
  if (bulk.records.length > 0) yield bulk
}

/** A member of a key that a spreadsheet has rounded to a few digits, such as `1.23E+15`. */
const SHORTENED = /:"\d(?:[.,]\d+)?E\+\d+"[,}]/i

/** The most different ids of a file that are compared; more of them would fill the memory. */
const MAX_IDS = 5_000_000

/** Notes which ids of a bulk repeat. Throws ExitError for an id that a spreadsheet has shortened. */
function noteIds({ records }: Bulk, { isId }: Target, { file, ids, repeated }: FileResult): void {
  for (const { key, line } of records) {
    if (key === undefined || !isId(key)) continue
    if (SHORTENED.test(key)) {
      throw usageError(
        `${file}, line ${line}: a spreadsheet has shortened the id ${key}. Export ids as text.`,
      )
    }
    const earlier = ids.get(key)
    if (earlier !== undefined) note(repeated, `line ${line} repeats line ${earlier}`)
    else if (ids.size < MAX_IDS) ids.set(key, line)
  }
}

/**
 * Returns the same key for the same records at the same place of a file, so that sending the file again counts
 * nothing twice. Without the place, two equal bulks of one file would count once.
 */
const fingerprint = (first: number, texts: readonly string[]) =>
  createHash('sha256')
    .update(`${first} ${texts.join(',')}`)
    .digest('hex')

const compress = promisify(gzip)

/** Statuses that depend on the bulk; with any other status all bulks would fail. */
const ABOUT_THE_BULK = [200, 201, 207, 413, 422]

async function deliver(bulk: Bulk, args: SendArguments, client: Client, result: FileResult) {
  const { vertical, target, lenient, dryRun, keepGoing } = args
  const texts = bulk.records.map(({ text }) => text)
  const response = await client(`${vertical.path}/${target.name}${dryRun ? '?dry_run=true' : ''}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Encoding': 'gzip',
      Prefer: `return=minimal${lenient ? ', handling=lenient' : ''}`,
      ...(target.name === 'activities' && { 'Idempotency-Key': fingerprint(bulk.first, texts) }),
    },
    body: await compress(`[${texts.join(',')}]`),
  })
  if (!ABOUT_THE_BULK.includes(response.status)) throw requestError('Stopped', response)
  if (addResponse(bulk, response, result) && texts.length > 1 && !keepGoing) {
    throw new ExitError(
      1,
      'Every record of a bulk was refused. Add --keep-going to send the others.',
    )
  }
}

/**
 * Sends a file with several bulks in flight. Records with the same key are never in flight together, so that they
 * are stored in the order of the file.
 *
 * @throws ExitError if a bulk cannot be delivered, or the file is malformed; all earlier records are answered by then.
 */
export async function sendFile(
  args: SendArguments,
  client: Client,
  result: FileResult,
  onRead: (bytes: number) => void,
): Promise<void> {
  const { target, map, inFlight } = args
  const shipments = new Map<Promise<void>, Set<string>>()
  const failures: unknown[] = []
  const isBlocked = ({ keys }: Bulk) =>
    shipments.size >= inFlight ||
    // The first bulk travels alone: if it is refused as a whole, no other follows it.
    (shipments.size > 0 && result.received === 0) ||
    shipments.values().some((others) => !others.isDisjointFrom(keys))
  try {
    const records = readRecords(result.file, target, map, onRead)
    for await (const bulk of groupIntoBulks(records, target)) {
      noteIds(bulk, target, result)
      while (isBlocked(bulk)) await Promise.race(shipments.keys())
      if (failures.length > 0) break
      const done = deliver(bulk, args, client, result)
        .then(() => {
          result.received += bulk.records.length
        })
        .catch((error) => failures.push(error))
        .then(() => void shipments.delete(done))
      shipments.set(done, bulk.keys)
    }
  } finally {
    await Promise.all(shipments.keys())
  }
  if (failures.length > 0) throw failures[0]
  result.isWhole = true
}
