import { dayNumber } from '../../platform/db/column-types.ts'
import { byteLength, toJsonChunks } from '../../platform/db/json-chunks.ts'
import { bindStatement, required, type Statement } from '../../platform/db/statement.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { cellOf, estimateBytes } from './cells.ts'
import { CUSTOMER_CHANGES, MARK_DAYS, markAttribution } from './changed.ts'
import type { Decision } from './decide.ts'
import type { Facts } from './find-sql.ts'
import type { Delivery, Write } from './item.ts'
import { type CustomerChange, IDENTITIES } from './late-changes.ts'
import { parametersOf } from './read-facts.ts'
import { HAS_MASK, type RecordTable } from './record-table.ts'
import { HELD_LIMITS, MAX_LOGGED_BYTES_PER_DAY } from './storage.ts'
import { COMMON_STATEMENTS, type DeliveryStatements, statementsOf } from './write-sql.ts'

/** What an attempt to store a delivery writes. */
export interface Attempt {
  readonly facts: Facts
  readonly decision: Decision
  /** Its number, from 0. */
  readonly attempt: number
  /** What the log keeps of the errors: the JSON, and the codes in it; null if there are none. */
  readonly errors: { readonly json: string; readonly codes: readonly string[] } | null
}

/** A statement, bound to the parameters of the delivery and its own. */
type Bind = (statement: Statement, own: object) => D1PreparedStatement

/**
 * Writes what was decided in one batch: the row of the log, the records, and what is counted of them. An account logs at
 * most 16 MiB of errors and dry runs a day (UTC); beyond that, a request that stores nothing has no row.
 */
export async function writeDelivery(
  session: D1DatabaseSession,
  delivery: Delivery,
  { facts, decision, attempt, errors }: Attempt,
): Promise<void> {
  const { dryRun, storageQuota } = delivery
  const { usage, logged } = facts.request
  const { errorsTotal, status, summary } = decision
  if (!dryRun && decision.writes.length === 0 && usage >= storageQuota && errorsTotal === 0) return
  const parameters = { ...parametersOf(delivery), now: Date.now() }
  const bind: Bind = (statement, own) =>
    bindStatement(session, statement, { ...parameters, ...own })
  const writes = dryRun ? [] : decision.writes
  const isFull = logged >= MAX_LOGGED_BYTES_PER_DAY
  const hasRow = !isFull || !(dryRun || (errorsTotal > 0 && status === 422))
  const loggedErrors = isFull ? null : (errors?.json ?? null)
  const bytes = hasRow ? BYTES_PER_ROW + byteLength(loggedErrors ?? '') : 0
  const row = { attempt, errors: loggedErrors, ...rowOf(delivery, facts, decision, writes) }
  const event = {
    about: feedHourOf(delivery),
    data: eventOf(delivery, decision, errors?.codes ?? []),
  }
  const statements = [
    ...(hasRow ? [bind(statementsOf(delivery.table).insertDelivery, row)] : []),
    ...(writes.length > 0 ? recordStatements(session, delivery, facts, decision, bind) : []),
    ...(hasRow || !dryRun
      ? [bind(COMMON_STATEMENTS.addArrival, arrivalOf(delivery, decision, bytes))]
      : []),
    ...(!dryRun && summary.rejected > 0 ? [bind(COMMON_STATEMENTS.notifyRefusal, event)] : []),
  ]
  if (statements.length > 0) await session.batch(statements)
}

/** What a row of the log takes beside its errors. */
const BYTES_PER_ROW = 200

/** Returns the row of the log, and what its statement asserts of what was read. */
function rowOf(
  { table, dryRun }: Delivery,
  { request }: Facts,
  decision: Decision,
  writes: readonly Write[],
) {
  return {
    status: decision.status,
    summary: JSON.stringify(decision.summary),
    dry_run: Number(dryRun),
    errors_total: decision.errorsTotal,
    written: writes.length,
    days: JSON.stringify(writes.length > 0 ? decision.days : []),
    references: JSON.stringify(table.reference ? referencesOf(writes) : []),
    erased: JSON.stringify(table.personalColumns.length > 0 ? erasedOf(table, writes) : []),
    closed_through: request.closed_through,
    new_held: writes.length > 0 ? decision.newHeld : 0,
    max_held: HELD_LIMITS.account,
  }
}

type Finding = readonly [value: unknown, isFound: 0 | 1]

/** Returns what records refer to, each once, and whether it is unknown. */
function referencesOf(writes: readonly Write[]): Finding[] {
  const all = writes.map(({ item, found }): Finding => [item.reference, found.isMissing])
  // What is known is deleted by a reset only, and all at once: the first stands for the others.
  return [...new Map(all)].filter(
    ([, isMissing], i, own) => isMissing || i === own.findIndex(([, other]) => !other),
  )
}

/** Returns the customers of records with members that an erasure removes, each once, and whether they are erased. */
function erasedOf(table: RecordTable, writes: readonly Write[]): Finding[] {
  const personal = writes.filter(
    ({ item }) => table.maskedColumn === null || cellOf(table, item, HAS_MASK) === 1,
  )
  const all = personal.map(
    ({ item, found }): Finding => [cellOf(table, item, 'customer_id'), found.isErased],
  )
  return [...new Map(all)]
}

/** Returns what is counted of a delivery in its hour. Of a dry run only what it logs. */
function arrivalOf(delivery: Delivery, { summary, errorsTotal }: Decision, logged: number) {
  const hour = Math.floor(delivery.receivedAt / HOUR_MS)
  if (delivery.dryRun) {
    const none = { received: 0, rejected: 0, not_stored: 0 }
    return { hour, feed: 'dry-run', ...none, logged_bytes: logged }
  }
  const { received, rejected, not_stored } = summary
  const logged_bytes = errorsTotal > 0 ? logged : 0
  return { hour, feed: delivery.resource, received, rejected, not_stored, logged_bytes }
}

/** Returns what the event of a refusal is about: a feed and an hour have one. */
const feedHourOf = ({ resource, receivedAt }: Delivery) =>
  `${resource} ${Math.floor(receivedAt / HOUR_MS)}`

/** The codes that an event lists. */
const MAX_CODES = 20

/** Returns the event of a refusal, as JSON. */
function eventOf(
  { id, resource }: Delivery,
  { summary, errorsTotal }: Decision,
  codes: readonly string[],
): string {
  const { received, rejected, not_stored } = summary
  return JSON.stringify({
    delivery_id: id,
    resource,
    received,
    rejected,
    not_stored,
    errors_total: errorsTotal,
    codes: [...codes].sort().slice(0, MAX_CODES),
  })
}

/** Returns the statements that write records, and keep marks, histories, totals and held records in step with them. */
function recordStatements(
  session: D1DatabaseSession,
  delivery: Delivery,
  facts: Facts,
  decision: Decision,
  bind: Bind,
): D1PreparedStatement[] {
  const { table, idempotency } = delivery
  const { writes, listed, heldChange } = decision
  const statements = statementsOf(table)
  const { noteLate, affiliate, keepFields, upsert, move, signUp, releases } = statements
  const rowsOf = (wanted: (write: Write) => boolean) => writes.filter(wanted).map(toRow)
  const ofRows = (statement: Statement | null, rows: readonly unknown[], own: object = {}) =>
    statement ? toJsonChunks(rows).map((rows) => bind(statement, { rows, ...own })) : []
  const plain = rowsOf(({ moves }) => !moves)
  const moved = rowsOf(({ moves }) => moves)
  const isNew = ({ revision, isHeld }: Write) => revision === 1 && !isHeld
  const days = daysOf(table, writes)
  const bytes = writes.reduce((sum, write) => sum + addedBytes(write), 0)
  return [
    ...(days.length > 0 ? [bind(MARK_DAYS, { days: JSON.stringify(days) })] : []),
    ...toJsonChunks(latePlacesOf(table, facts, decision)).map((places) =>
      bind(noteLate, { places }),
    ),
    ...judgeStatements(session, delivery, statements, writes, bind),
    ...ofRows(
      keepFields,
      rowsOf(({ found }) => found.changesFields === 1),
      {
        day: parametersOf(delivery).received_day,
      },
    ),
    ...ofRows(
      affiliate,
      rowsOf(({ found }) => found.affiliated !== null),
    ),
    ...[[plain, upsert] as const, [moved, move] as const].flatMap(([rows, statement]) =>
      chunksOf(rows).flatMap(({ text, count }) => [
        bind(statement, { rows: text }),
        bind(COMMON_STATEMENTS.checkWritten, { written: count }),
      ]),
    ),
    ...(listed !== 0 || heldChange !== 0 || bytes !== 0
      ? [bind(COMMON_STATEMENTS.addTotals, { listed, held_change: heldChange, bytes })]
      : []),
    ...ofRows(
      signUp,
      rowsOf((write) => isNew(write) && cellOf(table, write.item, 'signup_date') === null),
    ),
    ...(releases.length > 0
      ? toJsonChunks(rowsOf(isNew)).flatMap((rows) =>
          releases.flatMap(({ mark, note, release, add }) => [
            bind(mark, { rows }),
            bind(note, { rows }),
            bind(release, { rows }),
            bind(add, {}),
          ]),
        )
      : []),
    ...(idempotency && facts.request.digest === null
      ? [bind(COMMON_STATEMENTS.insertIdempotencyKey, { records_digest: idempotency.digests[0] })]
      : []),
  ]
}

/** Returns the cells of a record with those that a decision adds. */
function toRow({ item, found, revision, isHeld }: Write): unknown[] {
  const [day = null, isEarly] = found.affiliated ?? []
  const fromDay = isEarly ? dayNumber('0000-01-01') : day
  return [...(item.cells ?? []), revision, Number(isHeld), found.isErased, fromDay]
}

/**
 * Returns the days that what is written concerns. Of stored customers only those who move: what else counts of them has
 * marks of its own.
 */
const daysOf = ({ canHold }: RecordTable, writes: readonly Write[]): number[] => [
  ...new Set(
    writes
      .filter(({ revision, found }) => canHold || revision === 1 || found.moves)
      .flatMap(({ found }) => [found.day, found.storedDay])
      .filter((day) => day !== null),
  ),
]

/** Returns about how many bytes a record adds to the database. One that is replaced is about as large as before. */
const addedBytes = ({ item, revision, found }: Write): number =>
  revision === 1 ? estimateBytes(item.cells ?? []) : Math.max(found.extras?.[0] ?? 0, 0)

/** A place of a record in the journal of late changes, as stored. */
type LatePlace = readonly [
  customer: unknown,
  day: number,
  id: string,
  kind: unknown,
  after: string | null,
]

/** Returns the places of records in closed periods that change, and of customers: who signed up later may have such records. */
function latePlacesOf(
  table: RecordTable,
  { request: { closed_through } }: Facts,
  { days, writes }: Decision,
): LatePlace[] {
  if (closed_through === null) return []
  const isLate = (day: number) => day <= closed_through
  if (table.canHold && !days.some(isLate)) return []
  return writes
    .flatMap((write) => placesOf(table, write))
    .filter(([, day, , kind]) => isLate(day) || (!table.canHold && kind !== 'received'))
}

/**
 * Returns where a record lies that is written and, if it moves, where it lay. A record that waits for its customer lies
 * nowhere. A customer has places only if something changes that counts from the signup on.
 */
function placesOf(table: RecordTable, { item, found, revision, isHeld }: Write): LatePlace[] {
  const { was, day, storedDay, affiliated } = found
  const cell = (name: string) => cellOf(table, item, name)
  const { id: columns, kind, figures } = required(IDENTITIES[table.table], 'identity')
  const ids = columns.map(cell)
  const id = ids.length > 1 ? JSON.stringify(ids) : String(ids[0] ?? '')
  const after =
    isHeld || figures.length === 0
      ? null
      : JSON.stringify(Object.fromEntries(figures.map((name) => [name, cell(name)])))
  const place = (of: unknown, on: number | null, as: unknown): LatePlace[] =>
    on === null ? [] : [[of, on, id, as, after]]
  if (table.canHold) {
    return [
      ...(was ? place(was[0], storedDay, was[1]) : []),
      ...(isHeld ? [] : place(cell('customer_id'), day, kind ? cell(kind) : '')),
    ]
  }
  const isNew = revision === 1
  const change: CustomerChange = isNew
    ? 'received'
    : affiliated?.[1]
      ? 'corrected_early'
      : 'changed'
  if (change === 'changed' && !was) return []
  return [...new Set([day, storedDay])].flatMap((on) => place(cell('customer_id'), on, change))
}

/** Returns the statements that have the fraud review judge updated customers again. */
function judgeStatements(
  session: D1DatabaseSession,
  delivery: Delivery,
  { judge }: DeliveryStatements,
  writes: readonly Write[],
  bind: Bind,
): D1PreparedStatement[] {
  const updated = writes.filter(({ revision }) => revision > 1)
  if (!judge || updated.length === 0) return []
  const early = updated.filter(({ found }) => found.affiliated?.[1])
  const ids = early.map(({ item }) => cellOf(delivery.table, item, 'customer_id'))
  // Another affiliate, and other fields, count from the day of the receipt on or later.
  const days = JSON.stringify([parametersOf(delivery).received_day])
  return [
    bind(MARK_DAYS, { resource: CUSTOMER_CHANGES, days }),
    ...(ids.length > 0 ? markAttribution(session, delivery.account, ids) : []),
    ...toJsonChunks(updated.map(toRow)).flatMap((rows) =>
      [judge.mark, judge.attribute].map((one) => bind(one, { rows })),
    ),
  ]
}

/** Returns rows as JSON, with their number. */
function chunksOf(rows: readonly unknown[]): { text: string; count: number }[] {
  const [first, ...others] = toJsonChunks(rows)
  if (first === undefined) return []
  if (others.length === 0) return [{ text: first, count: rows.length }]
  return [first, ...others].map((text) => ({ text, count: (JSON.parse(text) as unknown[]).length }))
}
