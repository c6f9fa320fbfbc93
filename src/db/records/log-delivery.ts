import { DAY_MS, HOUR_MS } from '../../durations.ts'
import { byteLength } from '../json-chunks.ts'
import { bindStatement, type Statement } from '../statement.ts'
import type { Decision } from './decide.ts'
import type { Found } from './find-sql.ts'
import { MAX_LOGGED_TEXT } from './list.ts'
import { HELD_LIMITS } from './release.ts'
import {
  type Decided,
  type Delivery,
  daysOf,
  isNotified,
  refusedRecords,
  valuesOf,
  type WrittenRow,
} from './request.ts'
import { HAS_MASK } from './sql-fragments.ts'
import { MAX_LOGGED_BYTES_PER_DAY } from './storage-limits.ts'
import { COMMON_STATEMENTS } from './write-sql.ts'

/**
 * Returns the batch of a delivery: its row in the log, `records`, and what is counted of it. An account logs at most
 * 16 MiB of errors and dry runs a day (UTC); beyond that, a request that stores nothing has no row.
 */
export function logStatements(
  delivery: Delivery,
  decided: Decided,
  rows: readonly WrittenRow[],
  records: readonly D1PreparedStatement[],
): D1PreparedStatement[] {
  const { session, input } = delivery
  const { decision, facts } = decided
  const { counts } = decision
  const values = valuesOf(delivery)
  const bind = (statement: Statement, own: object) =>
    bindStatement(session, statement, { ...values, ...own })
  const isRefused = counts.refused > 0 || counts.rejected === counts.received
  const isFull = facts.request.logged >= MAX_LOGGED_BYTES_PER_DAY
  const hasErrors = decision.errorsTotal > 0
  const hasRow = !isFull || !(input.dryRun || (hasErrors && isRefused))
  const log = loggedOf(delivery, decision, isFull)
  const { addArrival, insertTerms, countRefusal, notifyRefusal } = COMMON_STATEMENTS
  const day = Math.floor(input.receivedAt / DAY_MS)
  return [
    ...(hasRow ? [insertDelivery(delivery, decided, rows, log)] : []),
    ...records,
    ...(hasRow && hasErrors ? [bind(insertTerms, { day, terms: JSON.stringify(log.terms) })] : []),
    ...(hasRow || !input.dryRun
      ? [bind(addArrival, arrivalOf(delivery, decision, hasRow ? log.bytes : 0))]
      : []),
    ...(isNotified(delivery, decided)
      ? [
          bind(countRefusal, { day }),
          bind(notifyRefusal, { data: JSON.stringify(eventOf(delivery, decision, log)) }),
        ]
      : []),
  ]
}

/** What the log keeps of the errors of a delivery, and the bytes that its rows take. */
interface Logged {
  readonly errors: string | null
  readonly unknownKeys: string | null
  /** Finds the delivery: by what was wrong, and by the ids of refused records. */
  readonly terms: readonly string[]
  readonly codes: readonly string[]
  readonly bytes: number
}

/** What a row of the log, and one of its terms, take beside their texts. */
const BYTES_PER_ROW = 200
const BYTES_PER_TERM = 70

function loggedOf(delivery: Delivery, decision: Decision, isFull: boolean): Logged {
  const { input } = delivery
  const errors = isFull ? null : input.errors
  const rejects = input.policy === 'reject' || decision.holdRefused
  const keys = rejects && !isFull ? unknownKeys(delivery, decision) : []
  const unknown = keys.length > 0 ? JSON.stringify(keys) : null
  const packed: { kinds: [string, string][]; records: [unknown, unknown, string | null][] } =
    JSON.parse(errors ?? '{"kinds":[],"records":[]}')
  const codes = decision.isReused
    ? ['idempotency_key_reused']
    : [
        ...new Set([
          ...packed.kinds.map(([, code]) => code),
          ...keys.map((cells) => codeOfKey(delivery, cells)),
        ]),
      ]
  const ids = decision.isReused
    ? []
    : [...packed.records.map(([, , id]) => id), ...keys.map((cells) => idOfKey(delivery, cells))]
  const terms = [
    ...new Set([
      'refused',
      ...codes.map((code) => `code ${code}`),
      ...ids.filter(isText).map((id) => `id ${id}`),
    ]),
  ]
  const texts = byteLength(`${errors ?? ''}${unknown ?? ''}`)
  const hasErrors = decision.errorsTotal > 0
  const account = byteLength(input.account) + BYTES_PER_TERM
  return {
    errors,
    unknownKeys: unknown,
    terms,
    codes,
    bytes:
      BYTES_PER_ROW + texts + (hasErrors ? byteLength(terms.join('')) + account * terms.length : 0),
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Returns the position, key and reference of the records with an unknown reference, as the log keeps them. */
function unknownKeys(delivery: Delivery, { unknown }: Decision): unknown[][] {
  if (unknown.length === 0) return []
  const { table, statements, records, invalid, withRepeats } = delivery
  const { key, reference } = table
  const cellsOf = new Map(invalid.map((cells) => [Number(cells[0]), cells.slice(1)]))
  const at = (name: string) => 1 + statements.cells.indexOf(name)
  for (const [first, cells] of records) {
    const named = [...key, ...(reference ? [reference.column] : [])].map((name) => cells[at(name)])
    for (const idx of withRepeats(first)) cellsOf.set(idx, named)
  }
  return unknown.map((idx) => {
    const named = (cellsOf.get(idx) ?? []).map((value, i) =>
      table.maskedColumn && i < key.length ? loggedIdentity(value) : loggedText(value),
    )
    return [idx, ...named, ...(reference ? [] : [null])]
  })
}

function loggedText(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null
  const characters = value.length > MAX_LOGGED_TEXT ? [...value] : []
  return characters.length > MAX_LOGGED_TEXT
    ? `${characters.slice(0, MAX_LOGGED_TEXT).join('')}…`
    : value
}

/**
 * Returns the identity of a brand's activity for the log. That of a daily aggregate is JSON: its event
 * and its customer, which are ids, and then members that the log does not keep.
 */
function loggedIdentity(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('d [')) return loggedText(value)
  const [event = null, customer = null]: unknown[] = JSON.parse(value.slice('d '.length))
  return `d ${JSON.stringify([event, customer])}`
}

/** Returns the code of the error of a record with an unknown reference. */
const codeOfKey = ({ input }: Delivery, cells: readonly unknown[]): string => {
  if (input.resource !== 'customers') return 'unknown_customer'
  return cells.at(-1) === null ? 'length' : 'unknown_affiliate'
}

/** Returns the id by which a record with an unknown reference is found; `KEYED_ID` has the same as SQL. */
function idOfKey({ input }: Delivery, [, first, second]: readonly unknown[]): unknown {
  if (input.resource === 'trading-activity') return second
  if (input.resource !== 'activities') return first
  return isText(first) && first.startsWith('e ') ? first.slice('e '.length) : second
}

function insertDelivery(
  delivery: Delivery,
  { decision, facts }: Decided,
  rows: readonly WrittenRow[],
  log: Logged,
): D1PreparedStatement {
  const { session, statements, input, table } = delivery
  const { counts } = decision
  const writes = rows.map(({ write }) => write)
  return bindStatement(session, statements.insertDelivery, {
    ...valuesOf(delivery),
    ...counts,
    form: input.form,
    dry_run: Number(input.dryRun),
    errors_total: decision.errorsTotal,
    written: writes.length,
    hold_refused: Number(decision.holdRefused),
    reused: Number(decision.isReused),
    days: JSON.stringify(writes.length > 0 ? decision.days : []),
    errors: log.errors,
    unknown_keys: log.unknownKeys,
    open_days: JSON.stringify(daysOf(table, rows)),
    references: JSON.stringify(
      table.reference
        ? distinct(delivery, rows, table.reference.column, ({ isMissing }) => isMissing)
        : [],
    ),
    erased: JSON.stringify(
      table.personalColumns.length > 0
        ? distinct(
            delivery,
            rows.filter(hasPersonal(delivery)),
            'customer_id',
            ({ isErased }) => isErased,
          )
        : [],
    ),
    closed_through: facts.request.closed_through,
    new_held: writes.length > 0 ? decision.newHeld : 0,
    max_held: HELD_LIMITS.account,
  })
}

/** Returns the condition that a record has members which an erasure removes. */
function hasPersonal({ table, statements }: Delivery): (row: WrittenRow) => boolean {
  const at = 1 + statements.cells.indexOf(HAS_MASK)
  return ({ cells }) => table.maskedColumn === null || cells[at] === 1
}

/** Returns the values of a column of the records that are written, each once, and what was found with it. */
const distinct = (
  { statements: { cells } }: Delivery,
  rows: readonly WrittenRow[],
  column: string,
  findingOf: (found: Found) => 0 | 1,
): [unknown, 0 | 1][] => {
  const at = 1 + cells.indexOf(column)
  return [...new Map(rows.map(({ cells, write }) => [cells[at], findingOf(write.found)] as const))]
}

/** Returns what is counted of a delivery in its hour. Of a dry run only what it logs. */
function arrivalOf({ input }: Delivery, { counts, errorsTotal }: Decision, logged: number) {
  const hour = Math.floor(input.receivedAt / HOUR_MS)
  if (input.dryRun) {
    const none = { deliveries: 0, received: 0, refused: 0, yesterday: 0, today: 0 }
    return { hour, feed: 'dry-run', ...none, logged_bytes: logged }
  }
  const isAccepted = counts.refused === 0 && counts.rejected < counts.received
  return {
    hour,
    feed: input.resource,
    deliveries: 1,
    received: counts.received,
    refused: refusedRecords(counts),
    yesterday: Number(input.hasYesterday && isAccepted),
    today: Number(input.hasToday && isAccepted),
    logged_bytes: errorsTotal > 0 ? logged : 0,
  }
}

/** The codes that an event lists. */
const MAX_CODES = 20

const eventOf = ({ input }: Delivery, { counts, errorsTotal }: Decision, { codes }: Logged) => ({
  delivery_id: input.id,
  resource: input.resource,
  received: counts.received,
  refused: refusedRecords(counts),
  errors_total: errorsTotal,
  codes: [...codes].sort().slice(0, MAX_CODES),
})
