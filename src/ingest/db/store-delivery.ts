import { encode } from '../../platform/db/column-types.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { isAssertionFailure, isUniqueViolation, withD1Retry } from '../../platform/db/retry.ts'
import { customers } from '../../platform/db/schema.ts'
import {
  bindStatement,
  compileStatement,
  lookUp,
  required,
  type Statement,
} from '../../platform/db/statement.ts'
import { ApiError } from '../../platform/errors.ts'
import { CUSTOMER_CHANGES, MARK_DAYS, markAttribution } from './changed.ts'
import { type Deciding, type Decision, decide, type Write } from './decide.ts'
import { FIND_REQUEST, type FoundRequest, toFound } from './find-sql.ts'
import { type CustomerChange, IDENTITIES } from './late-changes.ts'
import { logStatements } from './log-delivery.ts'
import type { RecordTable } from './record-table.ts'
import { HELD_LIMITS } from './release.ts'
import {
  type Decided,
  type Delivery,
  type DeliveryInput,
  daysOf,
  type Facts,
  prepare,
  valuesOf,
  type WrittenRow,
} from './request.ts'
import { estimateBytes } from './rows.ts'
import { COMMON_STATEMENTS } from './write-sql.ts'

/** How often a request is decided again because others changed what it depends on. */
const MAX_ROUNDS = 8

/** The longest wait before a round for each round before it, in milliseconds: it keeps rivals apart. */
const ROUND_WAIT_MS = 15

/**
 * Stores one request: reads what is stored of its records, decides what becomes of each, and writes all of it with a
 * row of the log in one batch. The batch fails as a whole if anything that was read has changed; then the request is
 * read and decided again. A repeated attempt writes nothing and returns the same result. The rows are taken out of
 * `input`.
 *
 * At the quota, a request that changes nothing has its ordinary result, and no row in the log.
 *
 * @throws ApiError `quota_exceeded` if the account stores as much as its quota, `unavailable` while the
 *   account is being reset, if its book zone has just changed, or if others keep changing the same records.
 */
export async function storeDelivery(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Promise<Decision> {
  const delivery = prepare(session, table, input)
  const decided: Decided[] = []
  return withD1Retry(async () => {
    for (let round = 1; ; round++) {
      const facts = await read(delivery)
      if (facts.request.stored !== null) return decidedBefore(decided, facts.request.stored)
      if (facts.request.is_closed) throw accountAcceptsNoDeliveries()
      const one = decideRequest(delivery, facts)
      decided.push(one)
      try {
        return await write(delivery, one)
      } catch (error) {
        if (!isAssertionFailure(error) && !isUniqueViolation(error)) throw error
        if (round === MAX_ROUNDS) throw recordsAreChanging()
        await scheduler.wait(Math.random() * ROUND_WAIT_MS * round)
      }
    }
  })
}

/** Returns the decision that an earlier attempt has stored; `stored` is the summary of its row. */
const decidedBefore = (decided: readonly Decided[], stored: string): Decision =>
  required(
    decided.findLast(({ decision }) => stored === JSON.stringify(decision.summary)),
    'decision of an earlier attempt',
  ).decision

const REQUEST = compileStatement(FIND_REQUEST)

async function read(delivery: Delivery): Promise<Facts> {
  const { session, statements, records, invalid } = delivery
  const values = valuesOf(delivery)
  const references = JSON.stringify(
    invalid.map((cells) => cells.at(-1)).filter((one) => one !== null),
  )
  const [request, ...lists] = await session.batch<{ found?: string; missing?: string }>([
    bindStatement(session, REQUEST, values),
    ...toJsonChunks([...records.values()]).map((rows) =>
      bindStatement(session, statements.find, { ...values, rows }),
    ),
    ...(statements.findMissing && invalid.length > 0
      ? [bindStatement(session, statements.findMissing, { ...values, references })]
      : []),
  ])
  const rows = lists.flatMap(({ results }) => results)
  return {
    request: request?.results[0] as unknown as FoundRequest,
    found: rows.flatMap(({ found = '[]' }) => (JSON.parse(found) as unknown[][]).map(toFound)),
    missing: new Set(rows.flatMap(({ missing = '[]' }): unknown[] => JSON.parse(missing))),
  }
}

function decideRequest(delivery: Delivery, facts: Facts): Decided {
  const { input, withRepeats, invalid } = delivery
  const { request, found } = facts
  const deciding: Deciding = {
    ...input,
    isReused: request.digest !== null && !input.idempotency?.digests.includes(request.digest),
    roomToHold: HELD_LIMITS.account - request.held,
    invalidUnknown: invalid.flatMap((cells) =>
      facts.missing.has(cells.at(-1)) ? [Number(cells[0])] : [],
    ),
    withRepeats,
  }
  const decision = decide(found, deciding)
  if (decision.writes.length > 0 && request.usage >= input.storageQuota)
    throw quotaExceeded(request.usage, input.storageQuota)
  return { decision, facts }
}

/** Writes what was decided in one batch. */
async function write(delivery: Delivery, decided: Decided): Promise<Decision> {
  const { session, input } = delivery
  const { decision, facts } = decided
  const isStored = decision.writes.length > 0
  const isFull = facts.request.usage >= input.storageQuota && decision.errorsTotal === 0
  if (!isStored && isFull && !input.dryRun) return decision
  const written = input.dryRun ? [] : decision.writes
  const rows = written.map((write) => ({ write, cells: lookUp(delivery.records, write.found.idx) }))
  const records = rows.length > 0 ? writeStatements(delivery, decided, rows) : []
  const statements = logStatements(delivery, decided, rows, records)
  if (statements.length > 0) await session.batch(statements)
  return decision
}

/** Returns the statements that write records, and keep totals and held records in step with them. */
function writeStatements(
  delivery: Delivery,
  { decision, facts }: Decided,
  rows: readonly WrittenRow[],
): D1PreparedStatement[] {
  const { session, statements, input } = delivery
  const { upsert, move, signUp, releases } = statements
  const values = { ...valuesOf(delivery), now: Date.now() }
  const bind = (statement: Statement, own: object) =>
    bindStatement(session, statement, { ...values, ...own })
  const rowsOf = (wanted: (write: Write) => boolean) =>
    rows.flatMap(({ write, cells }) =>
      wanted(write) ? [[...cells, write.revision, Number(write.isHeld), write.found.isErased]] : [],
    )
  const plain = rowsOf(({ moves }) => !moves)
  const moved = rowsOf(({ moves }) => moves)
  const created = rowsOf(({ revision, isHeld }) => revision === 1 && !isHeld)
  const updated = rowsOf(({ revision }) => revision > 1)
  const { listed, heldChange } = decision
  const bytes = rows.reduce((sum, row) => sum + addedBytes(row), 0)
  const days = daysOf(delivery.table, rows)
  return [
    ...(days.length > 0 ? [bind(MARK_DAYS, { days: JSON.stringify(days) })] : []),
    ...toJsonChunks(latePlacesOf(delivery, { decision, facts }, rows)).map((places) =>
      bind(statements.noteLate, { places }),
    ),
    ...judgeStatements(delivery, decision, updated, bind),
    ...historyStatements(delivery, decision, rowsOf, bind),
    ...[[plain, upsert] as const, [moved, move] as const].flatMap(([rows, statement]) =>
      chunksOf(rows).flatMap(({ text, count }) => [
        bind(statement, { rows: text }),
        bind(COMMON_STATEMENTS.checkWritten, { written: count }),
      ]),
    ),
    ...(listed !== 0 || heldChange !== 0 || bytes !== 0
      ? [bind(COMMON_STATEMENTS.addTotals, { listed, held_change: heldChange, bytes })]
      : []),
    ...(signUp
      ? toJsonChunks(created.filter(lacksSignup(delivery))).map((rows) => bind(signUp, { rows }))
      : []),
    ...(releases.length > 0
      ? toJsonChunks(created).flatMap((rows) =>
          releases.flatMap(({ mark, note, release, add }) => [
            bind(mark, { rows }),
            bind(note, { rows }),
            bind(release, { rows }),
            bind(add, {}),
          ]),
        )
      : []),
    ...(input.idempotency && facts.request.digest === null
      ? [
          bind(COMMON_STATEMENTS.insertIdempotencyKey, {
            records_digest: input.idempotency.digests[0],
          }),
        ]
      : []),
  ]
}

/** Returns about how many bytes a record adds to the database. One that is replaced is about as large as before. */
function addedBytes({ write: { revision, found }, cells }: WrittenRow): number {
  return revision === 1 ? estimateBytes(cells) : Math.max(found.extras?.[0] ?? 0, 0)
}

/** A place of a record in the journal of late changes, as stored. */
type LatePlace = readonly [
  customer: unknown,
  day: number,
  id: string,
  kind: unknown,
  after: string | null,
]

/** Returns the places of records in closed periods that change. */
function latePlacesOf(
  delivery: Delivery,
  { decision, facts }: Decided,
  rows: readonly WrittenRow[],
): LatePlace[] {
  const { closed_through } = facts.request
  if (closed_through === null || decision.days.every((day) => day > closed_through)) return []
  return rows.flatMap((row) => placesOf(delivery, row)).filter(([, day]) => day <= closed_through)
}

/**
 * Returns where a record lies that is written and, if it moves, where it lay. A record that waits for its customer lies
 * nowhere. A customer has places only if something changes that counts from the signup on.
 */
function placesOf({ table, statements }: Delivery, { write, cells }: WrittenRow): LatePlace[] {
  const { found, revision, isHeld } = write
  const { was, day, storedDay, affiliated } = found
  const cell = (name: string) => cells[1 + statements.cells.indexOf(name)]
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

/** Returns the statements that keep what customers were before, and from which day on they are something else. */
function historyStatements(
  { statements: { affiliate, keepFields }, input }: Delivery,
  decision: Decision,
  rowsOf: (wanted: (write: Write) => boolean) => (readonly unknown[])[],
  bind: (statement: Statement, own: object) => D1PreparedStatement,
): D1PreparedStatement[] {
  const day = valuesOf({ input }).received_day
  const changed = keepFields ? rowsOf(({ found }) => found.changesFields === 1) : []
  const affiliated = affiliate ? rowsOf(({ found }) => found.affiliated !== null) : []
  const withDays = affiliated.map((cells) => [...cells, firstDayOf(decision, cells)])
  return [
    ...toJsonChunks(changed).flatMap((rows) =>
      keepFields ? [bind(keepFields, { rows, day })] : [],
    ),
    ...toJsonChunks(withDays).flatMap((rows) => (affiliate ? [bind(affiliate, { rows })] : [])),
  ]
}

/** Returns the statements that have the fraud review judge updated customers again. */
function judgeStatements(
  { session, statements: { judge }, input }: Delivery,
  { affiliated }: Decision,
  updated: readonly (readonly unknown[])[],
  bind: (statement: Statement, own: object) => D1PreparedStatement,
): D1PreparedStatement[] {
  if (!judge || updated.length === 0) return []
  const early = updated.flatMap(([idx, id]) => (affiliated.get(Number(idx))?.[1] ? [id] : []))
  // Another affiliate, and other fields, count from the day of the receipt on or later.
  const days = JSON.stringify([valuesOf({ input }).received_day])
  return [
    bind(MARK_DAYS, { resource: CUSTOMER_CHANGES, days }),
    ...(early.length > 0 ? markAttribution(session, input.account, early) : []),
    ...toJsonChunks(updated).flatMap((rows) =>
      [judge.mark, judge.attribute].map((one) => bind(one, { rows })),
    ),
  ]
}

const firstDayOf = ({ affiliated }: Decision, [idx]: readonly unknown[]) => {
  const [day, isEarly] = required(affiliated.get(Number(idx)), 'day')
  return isEarly ? encode(customers.day, '0000-01-01') : day
}

/** Returns the condition that a new customer was sent without the time of the signup. */
function lacksSignup({ statements }: Delivery): (cells: readonly unknown[]) => boolean {
  const at = 1 + statements.cells.indexOf('signup_date')
  return (cells) => cells[at] === null
}

/** Returns rows as JSON, with their number. */
function chunksOf(rows: readonly unknown[]): { text: string; count: number }[] {
  const [first, ...others] = toJsonChunks(rows)
  if (first === undefined) return []
  if (others.length === 0) return [{ text: first, count: rows.length }]
  return [first, ...others].map((text) => ({ text, count: (JSON.parse(text) as unknown[]).length }))
}

/** Returns the error for an account that has reached its quota. Both numbers are bytes; `stored` is an upper bound. */
const quotaExceeded = (stored: number, quota: number) =>
  new ApiError('quota_exceeded', {
    detail: `The account stores an estimated ${stored} bytes; its storage quota is ${quota} bytes. Nothing was stored. The account is now measured: repeat the request after 60 seconds. If it is still refused, ask the integrations team for a larger quota. Reading still works.`,
  })

const RETRY_SECONDS = 5

const recordsAreChanging = () =>
  new ApiError('unavailable', {
    detail: `Other requests keep changing the same records. Nothing was stored. Do not send the same record in parallel requests.`,
    headers: { 'Retry-After': String(RETRY_SECONDS) },
  })

const CONDITION_SECONDS = 60

const accountAcceptsNoDeliveries = () =>
  new ApiError('unavailable', {
    detail: `The account accepts no deliveries now: its records are being deleted. Nothing was stored.`,
    headers: { 'Retry-After': String(CONDITION_SECONDS) },
  })
