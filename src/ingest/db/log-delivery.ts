import { byteLength } from '../../platform/db/json-chunks.ts'
import { bindStatement, type Statement } from '../../platform/db/statement.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { Decision } from './decide.ts'
import type { Found } from './find-sql.ts'
import { HAS_MASK } from './record-fragments.ts'
import { HELD_LIMITS } from './release.ts'
import { type Decided, type Delivery, valuesOf, type WrittenRow } from './request.ts'
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
  const values = valuesOf(delivery)
  const bind = (statement: Statement, own: object) =>
    bindStatement(session, statement, { ...values, ...own })
  const isFull = facts.request.logged >= MAX_LOGGED_BYTES_PER_DAY
  const hasErrors = decision.errorsTotal > 0
  const hasRow = !isFull || !(input.dryRun || (hasErrors && decision.status === 422))
  const described = hasErrors ? input.describeErrors(decision) : null
  const errors = isFull ? null : (described?.json ?? null)
  const bytes = hasRow ? BYTES_PER_ROW + byteLength(errors ?? '') : 0
  const { addArrival, notifyRefusal } = COMMON_STATEMENTS
  return [
    ...(hasRow ? [insertDelivery(delivery, decided, rows, errors)] : []),
    ...records,
    ...(hasRow || !input.dryRun ? [bind(addArrival, arrivalOf(delivery, decision, bytes))] : []),
    ...(!input.dryRun && decision.summary.rejected > 0
      ? [
          bind(notifyRefusal, {
            about: `${input.resource} ${Math.floor(input.receivedAt / HOUR_MS)}`,
            data: JSON.stringify(eventOf(delivery, decision, described?.codes ?? [])),
          }),
        ]
      : []),
  ]
}

/** What a row of the log takes beside its errors. */
const BYTES_PER_ROW = 200

function insertDelivery(
  delivery: Delivery,
  { decision, facts }: Decided,
  rows: readonly WrittenRow[],
  errors: string | null,
): D1PreparedStatement {
  const { session, statements, input, table } = delivery
  const writes = rows.map(({ write }) => write)
  return bindStatement(session, statements.insertDelivery, {
    ...valuesOf(delivery),
    status: decision.status,
    summary: JSON.stringify(decision.summary),
    dry_run: Number(input.dryRun),
    errors_total: decision.errorsTotal,
    written: writes.length,
    days: JSON.stringify(writes.length > 0 ? decision.days : []),
    errors,
    references: JSON.stringify(
      table.reference
        ? distinct(delivery, rows, table.reference.column, ({ isMissing }) => isMissing).filter(
            // What is known is deleted by a reset only, and all at once: the first stands for the others.
            ([, isMissing], i, all) => isMissing || i === all.findIndex(([, other]) => !other),
          )
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
function arrivalOf({ input }: Delivery, decision: Decision, logged: number) {
  const hour = Math.floor(input.receivedAt / HOUR_MS)
  if (input.dryRun) {
    const none = { received: 0, rejected: 0, not_stored: 0 }
    return { hour, feed: 'dry-run', ...none, logged_bytes: logged }
  }
  const { received, rejected, not_stored } = decision.summary
  return {
    hour,
    feed: input.resource,
    received,
    rejected,
    not_stored,
    logged_bytes: decision.errorsTotal > 0 ? logged : 0,
  }
}

/** The codes that an event lists. */
const MAX_CODES = 20

function eventOf(
  { input }: Delivery,
  { summary, errorsTotal }: Decision,
  codes: readonly string[],
) {
  const { received, rejected, not_stored } = summary
  return {
    delivery_id: input.id,
    resource: input.resource,
    received,
    rejected,
    not_stored,
    errors_total: errorsTotal,
    codes: [...codes].sort().slice(0, MAX_CODES),
  }
}
