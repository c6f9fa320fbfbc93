import { ApiError } from '../../errors.ts'
import type { ArchivedRecord } from '../archive/archived.ts'
import { type Column, encode } from '../column-types.ts'
import { byteLength, toJsonChunks } from '../json-chunks.ts'
import { withD1Retry } from '../retry.ts'
import { type Delivery, deliveries } from '../schema.ts'
import { bindStatement, type Statement } from '../statement.ts'
import {
  buildStatements,
  COMMON_STATEMENTS,
  type DeliveryStatements,
  type Policy,
  recoverRevisions,
  type SignupWarning,
  type WrittenRecord,
} from './delivery-sql.ts'
import type { SizeLimit } from './extras-limits.ts'
import type { RecordTable } from './record-table.ts'
import { HELD_LIMITS } from './release.ts'
import { FLAG, type RowFlag } from './sql-fragments.ts'

/** What the Worker decided about a record that the database could not decide on. */
export interface SizeDecision {
  /** The delivery that had written the stored record; `''` if there is none. */
  delivery: string
  isTooLarge: boolean
}

/** Decides which records of a request are too large. */
interface SizeDecider {
  /** Returns whether the record of a key is too large; `stored` is the JSON text. */
  isTooLarge: (key: unknown, stored: string | null) => boolean
  /** Returns the rows with what the classification needs, with the decisions by key. */
  toRows: (decisions: ReadonlyMap<unknown, SizeDecision>) => Row[]
}

/** A validated request: all that the database needs to decide the rest. */
export interface DeliveryInput {
  id: string
  account: string
  resource: string
  form: Delivery['form']
  /** When the request was received, in milliseconds. */
  receivedAt: number
  /** The day on which it was received, in the account's time zone for brands, in UTC for partners. */
  receivedDay: string
  /** The time zone in which the days of its records were computed. */
  bookZone: string
  dryRun: boolean
  lenient: boolean
  /** The bytes that the account may store. */
  storageQuota: number
  /** What happens to records that refer to something unknown. */
  policy: Policy
  /** Whether the caller needs the outcome of each record. */
  returnRecordOutcomes: boolean
  received: number
  /** The number of records that failed validation. */
  invalidCount: number
  /** The number of their errors, and the first of these as JSON; null if there are none. */
  errorsTotal: number
  errors: string | null
  /** The request's Idempotency-Key, and the digests of its records: the first one is stored. */
  idempotency: { key: string; digests: readonly string[] } | null
  /** Whether it has records of the day before it was received, or of that day (UTC). */
  hasYesterday: boolean
  hasToday: boolean
  /** The valid records, one of each key. */
  rows: Row[]
  /** The positions of records that were merged into an earlier one with the same key, and its position. */
  repeats: ReadonlyMap<number, number>
  /** The valid fields of invalid records, whose references are checked, too. */
  invalidRows: Row[]
  /** Decides which records are too large. Absent for tables without a `sizeLimit`. */
  sizes?: SizeDecider
  /** Counts and logs records as invalid because they concern an archived month. */
  refuseArchived: (records: readonly ArchivedRecord[]) => void
}

/**
 * Returns the rows of a request and empties them in `input`, so that they can be freed once they are
 * JSON: an isolate has no room for both forms of a large request.
 */
function takeRows(input: DeliveryInput): Pick<DeliveryInput, 'rows' | 'invalidRows'> {
  const { rows, invalidRows } = input
  input.rows = []
  input.invalidRows = []
  return { rows, invalidRows }
}

/**
 * What a record takes beside its content: the account, the delivery, its position and the headers of
 * its row and its index entries, in pages that are two thirds full.
 */
const BYTES_PER_RECORD = 110

/** SQLite stores a row of more than about 1000 bytes on further pages, and an index entry, too. */
const LONG_RECORD_BYTES = 700
const BYTES_PER_LONG_RECORD = 8192

/** What a column takes beside its text: a number, or the header of a cell. */
const BYTES_PER_COLUMN = 10

/** Upper bounds of the bytes by which records enlarge the database, if all are new. */
interface RecordBytes {
  /** The bytes of all records together. */
  readonly all: number
  /** The bytes of each record. */
  readonly largest: number
}

/**
 * Returns upper bounds of the bytes by which records enlarge the database. `chunks` are the parameters
 * of their statements: the whole records, and the columns that indexes repeat.
 */
function estimateRecordBytes(rows: readonly Row[], chunks: readonly string[]): RecordBytes {
  const bytes = chunks.reduce((sum, chunk) => sum + byteLength(chunk), 0)
  const characters = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // A character has at most three bytes. Most requests are ASCII.
  const bytesPerCharacter = bytes > characters ? 3 : 1
  let longRecords = 0
  let largest = 0
  for (const row of rows) {
    // Indexes repeat some of the columns.
    const content = countCharacters(row) * bytesPerCharacter
    const isLong = content > LONG_RECORD_BYTES
    if (isLong) longRecords += 1
    const columns = BYTES_PER_COLUMN * Object.keys(row.values).length
    const own = 4 * content + 2 * columns + BYTES_PER_RECORD + (isLong ? BYTES_PER_LONG_RECORD : 0)
    largest = Math.max(largest, own)
  }
  const all = 2 * bytes + BYTES_PER_RECORD * rows.length + BYTES_PER_LONG_RECORD * longRecords
  return { all, largest }
}

function countCharacters({ values }: Row): number {
  let count = 0
  for (const name in values) {
    const value = values[name]
    if (typeof value === 'string') count += value.length
  }
  return count
}

/**
 * Returns the days on which new records of a request count, each once. The totals of these days
 * change; a trigger finds those of stored records that keep or leave another day.
 */
export function daysOf({ dayColumn, encoded }: RecordTable, rows: readonly Row[]): unknown[] {
  const days = new Set<unknown>()
  for (const { values } of rows) {
    days.add(values[dayColumn] ?? values.first_day)
  }
  return [...days].map((day) => encode(encoded[dayColumn], day))
}

/** One record to store: its position in the request, and its values by column, as on the wire. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  flag?: RowFlag
}

/**
 * Returns a flagged row for each record that was merged into another, with the values of that one: the
 * database finds of both the same.
 */
function repeatedRows(rows: readonly Row[], repeats: ReadonlyMap<number, number>): Row[] {
  if (repeats.size === 0) return []
  const values = new Map(rows.map((row) => [row.idx, row.values]))
  return [...repeats].map(([idx, first]) => ({
    idx,
    values: values.get(first) ?? {},
    flag: 'repeated',
  }))
}

/**
 * Returns rows as chunks of JSON arrays of what the columns store, the position first. Arrays have
 * half the bytes of objects and are faster to read.
 */
export const toRowChunks = (
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): string[] => toJsonChunks(rowCells(rows, columns, encoded))

/** Returns rows as arrays of what the columns store, the position first. */
function rowCells(
  rows: readonly Row[],
  columns: readonly string[],
  encoded: RecordTable['encoded'],
): unknown[][] {
  const readers = columns.map((name) => ({ name, type: encoded[name] ?? null }))
  return rows.map(({ idx, values, flag }) => {
    // Of a known length: to push a thousand cells one by one takes half as long again.
    const cells = new Array<unknown>(1 + readers.length)
    cells[0] = idx
    // By index: `entries()` takes half as long again, and a bulk has ten thousand cells.
    for (let i = 0; i < readers.length; i++) {
      const { name, type } = readers[i]!
      const value = (name === FLAG ? flag : values[name]) ?? null
      cells[i + 1] = type === null || value === null ? value : encodeCell(type, value, flag)
    }
    return cells
  })
}

/** Encodes a value. Of an invalid record, text that is no day or time stays as it was sent. */
function encodeCell(type: Column, value: unknown, flag: RowFlag | undefined) {
  if (flag !== 'invalid') return type.mapToDriverValue(value)
  if (typeof value !== 'string') return null
  const stored = type.mapToDriverValue(value)
  return Number.isNaN(stored) ? value : stored
}

/** The parameters that only the classification reads. */
interface LookupParts {
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  /** Chunks of what the records refer to, each reference once. */
  readonly references: readonly string[]
  /** All of these chunks, by parameter name. */
  readonly chunkValues: Readonly<Record<string, string>>
}

/** Returns what the classification reads of rows, as chunks. */
function lookupParts(
  { encoded, reference }: RecordTable,
  { lookupColumns }: DeliveryStatements,
  { rows, flaggedRows }: { rows: readonly Row[]; flaggedRows: readonly Row[] },
): LookupParts {
  const ordinary = rowCells(rows, lookupColumns, encoded)
  const others = rowCells(flaggedRows, [...lookupColumns, FLAG], encoded)
  const chunks = {
    lookup: toJsonChunks(ordinary),
    flagged: toJsonChunks(others),
    references: reference
      ? toJsonChunks(
          distinctCells([...ordinary, ...others], 1 + lookupColumns.indexOf(reference.column)),
        )
      : [],
  }
  return { ...chunks, chunkValues: byParameter(chunks) }
}

/** Returns the values of a cell, each once and without null. */
function distinctCells(rows: readonly (readonly unknown[])[], cell: number): unknown[] {
  const values = new Set(rows.map((cells) => cells[cell]))
  values.delete(null)
  return [...values]
}

/** Returns chunks by their parameters' names: `lookup_1`, `lookup_2` … */
const byParameter = (chunks: Readonly<Record<string, readonly string[]>>) =>
  Object.fromEntries(
    Object.entries(chunks).flatMap(([prefix, texts]) =>
      texts.map((text, i) => [`${prefix}_${i + 1}`, text]),
    ),
  )

/** The bytes of stored members that one query reads, unless those of a single record are more. */
const MAX_BYTES = 1024 * 1024

interface UndecidedRow {
  /** Null in the row about the request. */
  key: unknown
  /** Of the stored members. */
  bytes: number
  /** 1 or 0 in the row about the request. */
  rewrites_too_much: number | null
}

interface StoredSizes {
  key: unknown
  delivery: string
  members: string | null
}

/**
 * Decides about the records that the classification could not decide on. Adds to `decisions` and
 * returns the parts with all of them, or null if there is no such record. Reads what is stored in
 * pages and keeps only the decisions: an isolate has no room for the members of 1000 records.
 *
 * @throws ApiError `payload_too_large` if the request would rewrite too many stored bytes.
 */
async function decideSizes(
  parts: BatchParts,
  decisions: Map<unknown, SizeDecision>,
): Promise<BatchParts | null> {
  const { bind, statements, table, input, lookup, chunkValues } = parts
  const { sizeLimit } = table
  if (!statements.sizes || !input.sizes || !sizeLimit) return null
  const { isTooLarge, toRows } = input.sizes
  const { selectUndecided, selectStored } = statements.sizes
  const { account } = input
  const select = bind(selectUndecided(lookup.length), { account, ...chunkValues })
  const { results } = await select.all<UndecidedRow>()
  const undecided = results.filter(({ key }) => key !== null)
  if (results.some((row) => row.rewrites_too_much === 1)) throw rewritesTooMuch(sizeLimit)
  if (undecided.length === 0) return null
  const decide = ({ key, delivery, members }: StoredSizes) =>
    decisions.set(key, { delivery, isTooLarge: isTooLarge(key, members) })
  for (const page of pagesOf(undecided)) {
    const missing = new Set(page)
    const keys = JSON.stringify(page)
    const { results } = await bind(selectStored, { account, keys }).all<StoredSizes>()
    for (const row of results) {
      decide(row)
      missing.delete(row.key)
    }
    for (const key of missing) decide({ key, delivery: '', members: null })
  }
  const rows = toRows(decisions)
  const flaggedRows = repeatedRows(rows, input.repeats)
  return { ...parts, ...lookupParts(table, statements, { rows, flaggedRows }) }
}

/**
 * Returns the error of a request that would rewrite too much. It names a number of records with which a
 * request never exceeds the limit.
 */
const rewritesTooMuch = ({ maxRewritten, maxBytes }: SizeLimit) =>
  new ApiError('payload_too_large', {
    detail: `This request would rewrite more than ${maxRewritten} bytes of stored additional fields. Nothing was stored. Send at most ${Math.floor(maxRewritten / maxBytes)} records in each request.`,
  })

/** Returns the keys in pages whose stored members have about `MAX_BYTES`. */
function* pagesOf(undecided: readonly UndecidedRow[]): Generator<unknown[]> {
  let page: unknown[] = []
  let total = 0
  for (const { key, bytes } of undecided) {
    if (page.length > 0 && total + bytes > MAX_BYTES) {
      yield page
      page = []
      total = 0
    }
    page.push(key)
    total += bytes
  }
  yield page
}

/** What the statements of a request's batch are built from. */
interface BatchParts {
  readonly bind: (statement: Statement, values: Values) => D1PreparedStatement
  readonly statements: DeliveryStatements
  readonly table: RecordTable
  readonly input: DeliveryInput
  /** The parameters of insertDelivery: chunks of lookup columns, by parameter name. */
  readonly chunkValues: Values
  /** A JSON array of the days of the records. */
  readonly days: string
  readonly lookup: readonly string[]
  readonly flagged: readonly string[]
  readonly references: readonly string[]
  /** Chunks of whole records. */
  readonly records: readonly string[]
  readonly recordBytes: RecordBytes
  /** Whether a record may lack its time, and one does. */
  readonly lacksTime: boolean
}

/** The parameters of statements, by name. */
export type Values = Readonly<Record<string, unknown>>

/** Returns the parameters of the statements of a request. Takes the rows out of `input`. */
function prepareBatch(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): BatchParts {
  const { rows, invalidRows } = takeRows(input)
  const statements = buildStatements(table)
  const flaggedRows = [...repeatedRows(rows, input.repeats), ...invalidRows]
  const lookups = lookupParts(table, statements, { rows, flaggedRows })
  const records = toRowChunks(rows, statements.rowColumns, table.encoded)
  const recordBytes = estimateRecordBytes(rows, [...records, ...lookups.lookup, ...lookups.flagged])
  return {
    bind: (statement, values) => bindStatement(session, statement, values),
    statements,
    table,
    input,
    days: JSON.stringify(daysOf(table, rows)),
    ...lookups,
    records,
    recordBytes,
    lacksTime: rows.some(({ values }) => table.timeColumn && !values[table.timeColumn]),
  }
}

/** A variant of a request's batch. Later ones are sent only if an earlier one stored nothing. */
interface BatchVariant {
  /** Whether it has the statements for records that move. */
  readonly moves: boolean
  readonly policy: DeliveryInput['policy']
  /** Whether it only finds out what would be written, and leaves nothing. */
  readonly probes?: true
}

/** Returns the batch of one attempt, in the order in which it must run. */
function buildBatch(
  parts: BatchParts,
  attempt: number,
  variant: BatchVariant,
): D1PreparedStatement[] {
  const { bind, statements, input, lookup, flagged, references, records, recordBytes } = parts
  const { moves, policy, probes = false } = variant
  const dryRun = input.dryRun || probes
  // Skip the writes if validation has already rejected the request.
  const stores = records.length > 0 && (input.invalidCount === 0 || input.lenient)
  const writes = !dryRun && stores
  const values = {
    ...valuesOf(parts, attempt, policy),
    dry_run: Number(dryRun),
    probes: Number(probes),
    has_moves: Number(moves || !writes),
    limits_storage: Number(stores && !probes),
    written_bytes: writes ? recordBytes.all : 0,
    record_bytes: recordBytes.largest,
  }
  const shape = {
    policy,
    lookupChunks: lookup.length,
    flaggedChunks: flagged.length,
    referenceChunks: references.length,
  }
  const insertDelivery = bind(statements.insertDelivery(shape), values)
  // An earlier attempt may have inserted the row. Then the insert returns no row.
  const readBack = attempt > 1 ? readBackStatements(parts, values) : []
  const warnings = stores && !probes ? signupWarnings(parts, values) : []
  if (dryRun) {
    const discard = bind(COMMON_STATEMENTS.discardDryRun, values)
    return [insertDelivery, ...dryRunStatements(parts, values), ...warnings, ...readBack, discard]
  }
  const writing = writes ? writeStatements(parts, values, attempt, variant) : []
  return [insertDelivery, ...writing, ...warnings, ...readBack]
}

/** Returns the statements that find warnings about the signups of customers. */
function signupWarnings(
  { bind, statements, table, lookup, lacksTime }: BatchParts,
  values: Values,
) {
  const { signupWarnings: statement } = statements
  if (!statement || (table.hasFirstSeen && !lacksTime)) return []
  return lookup.map((rows) => bind(statement, { ...values, rows }))
}

/** Returns the statements that read what an earlier attempt stored. */
const readBackStatements = ({ bind, table, input }: BatchParts, values: Values) => [
  bind(COMMON_STATEMENTS.selectDelivery, values),
  ...(table.releases.length > 0 && !input.dryRun
    ? [bind(COMMON_STATEMENTS.selectReleasing, values)]
    : []),
]

/** Returns the statements that count and list what a dry run would write. */
const dryRunStatements = ({ bind, statements, records }: BatchParts, values: Values) =>
  records.flatMap((rows) => [
    bind(statements.countDryRun, { ...values, rows }),
    bind(statements.selectDryRun, { ...values, rows }),
  ])

/** The parameters that are the same for all statements of a batch. */
function valuesOf(parts: BatchParts, attempt: number, policy: DeliveryInput['policy']): Values {
  const { input, chunkValues, days } = parts
  return {
    account: input.account,
    delivery: input.id,
    attempt,
    received_at: input.receivedAt,
    received_day: encode(deliveries.received_day, input.receivedDay),
    book_zone: input.bookZone,
    resource: input.resource,
    form: input.form,
    lenient: Number(input.lenient),
    received: input.received,
    invalid: input.invalidCount,
    errors_total: input.errorsTotal,
    errors: input.errors,
    idempotency_key: input.idempotency?.key ?? null,
    records_digest: input.idempotency?.digests[0] ?? null,
    records_digests: JSON.stringify(input.idempotency?.digests ?? []),
    has_yesterday: Number(input.hasYesterday),
    has_today: Number(input.hasToday),
    days,
    max_held: HELD_LIMITS.account,
    max_released: HELD_LIMITS.release,
    hold_refused: Number(policy !== input.policy),
    storage_quota: input.storageQuota,
    ...chunkValues,
  }
}

/** Returns the statements that write records, and keep totals and held records in step with them. */
function writeStatements(
  parts: BatchParts,
  values: Values,
  attempt: number,
  { moves, policy }: BatchVariant,
): D1PreparedStatement[] {
  const { bind, statements, table, input, lookup, flagged, records } = parts
  const { countWritten, insertIdempotencyKey } = COMMON_STATEMENTS
  const each = (chunks: readonly string[], statement: Statement) =>
    chunks.map((rows) => bind(statement, { ...values, rows }))
  const upsert = (
    chunks: readonly string[],
    { withoutReturning, returning }: DeliveryStatements['upsert'],
  ) =>
    chunks.flatMap((rows) => [
      bind(input.returnRecordOutcomes ? returning : withoutReturning, { ...values, rows }),
      bind(countWritten, values),
    ])
  const isRetry = attempt > 1 && input.returnRecordOutcomes
  return [
    ...(isRetry ? each(lookup, statements.selectEarlierWrites) : []),
    ...(moves ? upsert(records, statements.upsertMoved) : []),
    ...upsert(records, statements.upsert),
    ...(table.canHold && policy === 'hold'
      ? [bind(statements.countHeld(lookup.length), values)]
      : []),
    ...(input.repeats.size > 0 ? [bind(statements.countRepeated(flagged.length), values)] : []),
    ...(statements.signUp && parts.lacksTime ? each(lookup, statements.signUp) : []),
    ...lookup.flatMap((rows) =>
      statements.releases.flatMap(({ release, addReleased }) => [
        bind(release, { ...values, rows }),
        bind(addReleased, values),
      ]),
    ),
    ...(input.idempotency ? [bind(insertIdempotencyKey, values)] : []),
  ]
}

/** What a request stored: its row in the log, and the revision of each record that was written. */
export interface DeliveryResult {
  delivery: Delivery
  /** By the position of the record; empty if the caller did not ask for outcomes. */
  revisions: ReadonlyMap<number, number>
  /** The positions of events that have replaced one with another name or customer. */
  changedEvents: readonly number[]
  /** What is to be said of the signups of the records' customers. */
  signupWarnings: readonly SignupWarning[]
  /** Whether held records of its customers are still to be released: see `finishReleases`. */
  releasing: boolean
  /** Whether an event for a webhook waits to be sent. */
  notifies: boolean
}

/** How many records a delivery has written so far, and which events it has changed. */
type Counts = Pick<Delivery, 'written' | 'held_written' | 'changed_events'>

/** Whether a release left records to be released later: 1 or 0. */
interface Releasing {
  releasing: number
}

/** Whether the insert of a delivery has written an event for a webhook: 1 or 0. */
interface Notifies {
  notifies?: number
}

/** A row that a statement of the batch returns. */
type StoredRow = Delivery | Counts | WrittenRecord | Releasing | SignupWarning

const isDelivery = (row: StoredRow): row is Delivery => 'received_at' in row
const isCounts = (row: StoredRow): row is Counts => 'written' in row && !isDelivery(row)
const isWritten = (row: StoredRow): row is WrittenRecord => 'revision' in row
const isSignupWarning = (row: StoredRow): row is SignupWarning => 'signup_day' in row
const hasNotified = (row: StoredRow & Notifies) => row.notifies === 1
const isReleasing = (row: StoredRow) => 'releasing' in row && row.releasing === 1

/**
 * Stores one request in one atomic batch: it checks references, logs the delivery, upserts the
 * records that may be stored and adds to the totals. All of that happens, or nothing does. A repeated
 * attempt writes nothing and returns the same result. The rows are taken out of `input`: an isolate
 * has no room for a large request as rows and as parameters.
 *
 * At the quota, a request that changes nothing has its ordinary result, and no row in the log.
 *
 * @throws ApiError `quota_exceeded` if the account stores as much as its quota, `unavailable` while the
 *   account is being reset, if its book zone has just changed, or if others keep changing the same customers; `payload_too_large` if it would rewrite too many stored bytes.
 */
export async function storeDelivery(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Promise<DeliveryResult> {
  const withRepeats = repeater(input)
  let variants = batchVariants(input)
  const decisions = new Map<unknown, SizeDecision>()
  let parts = prepareBatch(session, table, input)
  let sizeReads = 0
  return withD1Retry(async (attempt) => {
    let rows: StoredRow[] = []
    let row: Delivery | undefined
    // Without a delivery row nothing happened: the next variant is sent. An attempt after a lost response
    // begins with the variant that was sent last.
    for (;;) {
      rows = await runBatch(session, parts, attempt, variants[0])
      row = rows.findLast(isDelivery)
      if (row) break
      // Read the sizes before the next variant is sent: the read costs less than a batch.
      const decided = await decideSizes(parts, decisions)
      if (decided) {
        sizeReads += 1
        if (sizeReads > MAX_SIZE_READS) throw customersAreChanging()
        parts = decided
      } else if (variants.length > 1) variants.shift()
      else {
        const archived = await readArchived(parts)
        if (archived.length === 0) throw accountAcceptsNoDeliveries()
        parts = withoutArchived(parts, archived)
        variants = batchVariants(input)
      }
    }
    if (row.over_quota !== null) {
      const variant = input.dryRun ? null : { ...variants[0], probes: true as const }
      if (variant) rows = await runBatch(session, parts, attempt, variant)
      const stored = row.over_quota
      row = rows.findLast(isDelivery)
      if (!row || wouldWrite(row, rows)) throw quotaExceeded(stored, input.storageQuota)
    }
    const delivery = { ...row, ...rows.findLast(isCounts) }
    const outcomes = rows
      .filter(isWritten)
      .flatMap((record) => withRepeats(record.idx).map((idx) => ({ ...record, idx })))
    const revisions =
      attempt > 1 && !input.dryRun
        ? recoverRevisions(delivery, outcomes)
        : new Map(outcomes.map(({ idx, revision }) => [idx, revision]))
    const changedEvents = input.dryRun
      ? outcomes.filter((one) => one.changes_kind === 1).map(({ idx }) => idx)
      : (JSON.parse(delivery.changed_events ?? '[]') as number[]).flatMap(withRepeats)
    const notifies = !input.dryRun && rows.some(hasNotified)
    const signupWarnings = rows
      .filter(isSignupWarning)
      .flatMap((one) => withRepeats(one.idx).map((idx) => ({ ...one, idx })))
    const releasing = rows.some(isReleasing)
    return { delivery, revisions, changedEvents, signupWarnings, releasing, notifies }
  })
}

/** Runs a batch and returns the rows that its statements return. */
async function runBatch(
  session: D1DatabaseSession,
  parts: BatchParts,
  attempt: number,
  variant: BatchVariant,
): Promise<StoredRow[]> {
  const results = await session.batch<StoredRow>(buildBatch(parts, attempt, variant))
  return results.flatMap((result) => result.results)
}

/** Returns whether a dry run found a record that would be written. */
const wouldWrite = (row: Delivery, rows: readonly StoredRow[]) =>
  (rows.findLast(isCounts) ?? row).written > 0

/** Returns the error for an account that has reached its quota. Both numbers are bytes; `stored` is an upper bound. */
const quotaExceeded = (stored: number, quota: number) =>
  new ApiError('quota_exceeded', {
    detail: `The account stores an estimated ${stored} bytes; its storage quota is ${quota} bytes. Nothing was stored. The account is now measured: repeat the request after 60 seconds. If it is still refused, ask the integrations team for a larger quota. Reading still works.`,
  })

/**
 * Returns the variants of a request's batch. The first one suits most requests. The second one is for
 * records that move; a dry run moves nothing. If the account has as many held records as it may have, the
 * last one rejects the records of unknown customers. A batch that inserts no delivery row does not tell why,
 * so the variants are sent in this order.
 */
const batchVariants = ({ policy, dryRun }: DeliveryInput): [BatchVariant, ...BatchVariant[]] => [
  { moves: false, policy },
  ...(dryRun ? [] : [{ moves: true, policy }]),
  ...(policy === 'hold' ? [{ moves: true, policy: 'reject' as const }] : []),
]

/** How often other requests may change a customer between a read of the stored sizes and the batch. */
const MAX_SIZE_READS = 5

const RETRY_SECONDS = 5

const customersAreChanging = () =>
  new ApiError('unavailable', {
    detail: `Other requests keep changing the same customers. Nothing was stored. Do not send the same customer in parallel requests.`,
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  })

const CONDITION_SECONDS = 60

const accountAcceptsNoDeliveries = () =>
  new ApiError('unavailable', {
    detail: `The account accepts no deliveries now: its records are being deleted, or its \`book_zone\` has just changed. Nothing was stored.`,
    headers: { 'Retry-After': String(CONDITION_SECONDS) },
  })

/** Returns the records of a request that concern an archived month, with those that were merged into them. */
async function readArchived(parts: BatchParts): Promise<ArchivedRecord[]> {
  const { bind, statements, input, lookup } = parts
  if (lookup.length === 0) return []
  const statement = statements.selectArchived(lookup.length)
  const { results } = await bind(statement, valuesOf(parts, 1, input.policy)).all<ArchivedRecord>()
  const withRepeats = repeater(input)
  return results.flatMap((one) => withRepeats(one.idx).map((idx) => ({ ...one, idx })))
}

/** Returns the parts without records that concern an archived month, which are refused. */
function withoutArchived(parts: BatchParts, archived: readonly ArchivedRecord[]): BatchParts {
  const { input, lookup, flagged, records, days, chunkValues } = parts
  input.refuseArchived(archived)
  const refused = new Set(archived.map(({ idx }) => idx))
  const kept = (chunks: readonly string[]) =>
    toJsonChunks(
      chunks
        .flatMap((chunk) => JSON.parse(chunk) as [number][])
        .filter(([idx]) => !refused.has(idx)),
    )
  const isOpen = (day: number) =>
    !archived.some(({ first_day, last_day }) => first_day <= day && day <= last_day)
  const chunks = { lookup: kept(lookup), flagged: kept(flagged) }
  return {
    ...parts,
    ...chunks,
    records: kept(records),
    days: JSON.stringify((JSON.parse(days) as number[]).filter(isOpen)),
    chunkValues: { ...chunkValues, ...byParameter(chunks) },
  }
}

/** Returns a function that returns the position of a record and of those that were merged into it. */
function repeater({ repeats }: Pick<DeliveryInput, 'repeats'>) {
  const byFirst = Map.groupBy(repeats, ([, first]) => first)
  return (first: number): number[] => [first, ...(byFirst.get(first) ?? []).map(([idx]) => idx)]
}
