import { withD1Retry } from '../retry.ts'
import type { Delivery } from '../schema.ts'
import { UPSERT_ARRIVAL } from './arrivals.ts'
import { type Policy, SELECT_DELIVERY } from './classify-sql.ts'
import { toRowChunks } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { FLAG, OWN_DELIVERY_ROW, type RowFlag } from './sql-fragments.ts'
import { buildStatements, type DeliveryStatements } from './upsert-sql.ts'

/** One record as it is kept: its place in the request, and its values by column. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  /** What is odd of it, if anything is. */
  flag?: RowFlag
}

/** What a request brings, judged: all that the database needs to decide on the rest. */
export interface DeliveryInput {
  id: string
  account: string
  resource: string
  form: Delivery['form']
  receivedAt: number
  dryRun: boolean
  lenient: boolean
  /** What becomes of records that refer to what is not known. */
  policy: Policy
  /** Whether anyone will ask what became of a single record. */
  returnRecordOutcomes: boolean
  received: number
  /** The records that are wrong already, their number of errors, and the first of these as JSON. */
  invalidCount: number
  errorsTotal: number
  errors: string | null
  /** What makes the request repeatable: its Idempotency-Key, and the digest of what it brings. */
  idempotency: { key: string; digest: string } | null
  /** Whether it brings what happened on the day before, on the same day (UTC). */
  hasYesterday: boolean
  hasToday: boolean
  /** All but those that are wrong: each key once, and in order what comes again under one of them. */
  rows: Row[]
  repeatedRows: Row[]
  /** What is wrong, as far as it is right: whether it also refers to what is not known. */
  invalidRows: Row[]
}

/** What became of a request: its line in the log, and the revision of each record written, if told. */
export interface DeliveryResult {
  delivery: Delivery
  revisions: ReadonlyMap<number, number>
}

/**
 * Stores one request in one atomic batch: references are checked, the delivery is logged, records
 * that may be stored are, and totals follow. All of that happens, or nothing does; tried again it
 * changes nothing and gives the same receipt, less what a later record of the same key wrote over.
 * It takes the records out of the input.
 */
export function storeDelivery(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
): Promise<DeliveryResult> {
  const { rows, repeatedRows, invalidRows, dryRun } = input
  const recount = dryRun ? dryRunRevisions(input, table) : null
  // What no record says is not sent, and not read a thousand times.
  const isSaid = (name: string) => (row: Row) => (row.values[name] ?? null) !== null
  const said = table.columns.filter((name) =>
    [rows, repeatedRows].some((all) => all.some(isSaid(name))),
  )
  const sql = buildStatements(table, said)
  const chunks = {
    lookup: toRowChunks(rows, sql.lookupColumns),
    flagged: toRowChunks([...repeatedRows, ...invalidRows], [...sql.lookupColumns, FLAG]),
    full: toRowChunks(rows, said),
    repeated: toRowChunks(repeatedRows, said),
  }
  // Memory has no room for a large body as records and as parameters.
  Object.assign(input, {
    rows: [],
    repeatedRows: [],
    invalidRows: [],
  } satisfies Partial<DeliveryInput>)
  let moves = false
  const send = (attempt: number) =>
    session.batch<Record<string, unknown>>(
      buildBatch(session, table, input, sql, chunks, { attempt, moves }),
    )
  return withD1Retry(async (attempt) => {
    let answers = await send(attempt)
    if (answers.at(-1)!.results.length === 0) {
      // Nothing happened: records move, which is rare, and what moves them was not sent along.
      moves = true
      answers = await send(attempt)
    }
    const delivery = answers.at(-1)!.results[0] as unknown as Delivery
    const revisions = new Map<number, number>()
    for (const { results } of answers.slice(1, -1)) {
      for (const { idx, revision } of results) revisions.set(Number(idx), Number(revision))
    }
    recount?.(revisions)
    return { delivery, revisions }
  })
}

/**
 * A dry run compares with what is stored: what comes again would find there the first of its key, if
 * that was to be created.
 */
function dryRunRevisions({ rows, repeatedRows }: DeliveryInput, table: RecordTable) {
  const keyOf = ({ values }: Row) => JSON.stringify(table.key.map((name) => values[name]))
  return (revisions: Map<number, number>) => {
    const isCreated = ({ idx }: Row) => revisions.get(idx) === 1
    const created = new Set(repeatedRows.length > 0 ? rows.filter(isCreated).map(keyOf) : [])
    for (const row of repeatedRows.filter(isCreated)) {
      if (created.has(keyOf(row))) revisions.set(row.idx, 2)
      created.add(keyOf(row))
    }
  }
}

interface Chunks {
  lookup: string[]
  flagged: string[]
  full: string[]
  repeated: string[]
}

function buildBatch(
  session: D1DatabaseSession,
  table: RecordTable,
  input: DeliveryInput,
  sql: DeliveryStatements,
  { lookup, flagged, full, repeated }: Chunks,
  { attempt, moves }: { attempt: number; moves: boolean },
): D1PreparedStatement[] {
  const { account, id, resource, policy, dryRun, idempotency } = input
  const bind = (text: string, ...more: unknown[]) =>
    session.prepare(text).bind(account, id, attempt, ...more)
  // Where all is refused already, nothing is left to write.
  const writes = !dryRun && full.length > 0 && (input.invalidCount === 0 || input.lenient)
  const log = bind(
    sql.insertDelivery(policy, lookup.length, flagged.length, writes && !moves),
    input.receivedAt,
    resource,
    input.form,
    Number(dryRun),
    Number(input.lenient),
    input.received,
    input.invalidCount,
    input.errorsTotal,
    input.errors,
    idempotency?.key ?? null,
    idempotency?.digest ?? null,
    ...lookup,
    ...flagged,
  )
  const read = session.prepare(SELECT_DELIVERY).bind(account, id)
  if (dryRun) {
    const would = [sql.countDryRun, sql.selectDryRun]
    const both = [...full, ...repeated].flatMap((rows) => would.map((text) => bind(text, rows)))
    return [log, ...both, read]
  }
  const arrival = bind(UPSERT_ARRIVAL, Number(input.hasYesterday), Number(input.hasToday))
  if (!writes) return [log, arrival, read]

  const returning = input.returnRecordOutcomes ? sql.returningOutcome : ''
  const holds = table.canHold && policy === 'hold'
  const recounts = table.canHold && repeated.length > 0
  const listed = (text: string) => lookup.map((rows) => bind(text, resource, rows))
  const stored = (chunks: string[], text: string) =>
    chunks.flatMap((rows) => [bind(text + returning, rows), bind(sql.countWritten)])
  return [
    log,
    arrival,
    ...(attempt > 1 && input.returnRecordOutcomes
      ? lookup.map((rows) => bind(sql.selectEarlierWrites, rows))
      : []),
    ...(recounts ? listed(sql.subtractFromTotal) : [bind(sql.addToTotal, resource)]),
    ...(moves ? stored(full, sql.upsertMoved) : []),
    ...stored(full, sql.upsert),
    ...(holds ? [bind(sql.countHeld(lookup.length), ...lookup)] : []),
    ...stored(repeated, sql.upsertRepeated),
    ...(recounts ? listed(sql.recountTotal) : []),
    ...lookup.flatMap((rows) =>
      sql.releases.flatMap(({ release, addReleased }) => [
        bind(release, rows),
        session.prepare(addReleased).bind(account),
      ]),
    ),
    ...(idempotency
      ? [bind(INSERT_IDEMPOTENCY_KEY, resource, idempotency.key, idempotency.digest)]
      : []),
    read,
  ]
}

/** Binds an Idempotency-Key to what was stored under it; where nothing was, it stays free. */
const INSERT_IDEMPOTENCY_KEY = `
  insert into idempotency_keys (account, resource, key, digest, delivery)
  select ?1, ?4, ?5, ?6, ?2 from ${OWN_DELIVERY_ROW} and refused = 0 and written > 0
  on conflict (account, resource, key) do nothing`
