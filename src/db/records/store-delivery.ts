import { tried } from '../retry.ts'
import type { Delivery } from '../schema.ts'
import { arrived } from './arrivals.ts'
import { type Policy, READ } from './classify-sql.ts'
import { chunksOf } from './json-chunks.ts'
import type { RecordTable } from './record-table.ts'
import { ODD, type Odd, OWN_LINE } from './sql-fragments.ts'
import { type Statements, statementsOf } from './upsert-sql.ts'

/** One record as it is kept: its place in the request, and its values by column. */
export interface Row {
  idx: number
  values: Record<string, unknown>
  /** What is odd of it, if anything is. */
  odd?: Odd
}

/** What a request brings, judged: all that the database needs to decide on the rest. */
export interface Parcel {
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
  told: boolean
  received: number
  /** The records that are wrong already, their number of errors, and the first of these as JSON. */
  wrong: number
  errorsTotal: number
  errors: string | null
  /** What makes the request repeatable: its Idempotency-Key, and the digest of what it brings. */
  idempotency: { key: string; digest: string } | null
  /** Whether it brings what happened on the day before, on the same day (UTC). */
  yesterday: boolean
  today: boolean
  /** All but those that are wrong: each key once, and in order what comes again under one of them. */
  rows: Row[]
  later: Row[]
  /** What is wrong, as far as it is right: whether it also refers to what is not known. */
  strays: Row[]
}

/** What became of a request: its line in the log, and the revision of each record written, if told. */
export interface Receipt {
  delivery: Delivery
  revisions: ReadonlyMap<number, number>
}

/**
 * Stores one request in one atomic batch: references are checked, the delivery is logged, records
 * that may be stored are, and totals follow. All of that happens, or nothing does; tried again it
 * changes nothing and gives the same receipt, less what a later record of the same key wrote over.
 * It takes the records out of the parcel.
 */
export function deliver(
  session: D1DatabaseSession,
  shelf: RecordTable,
  parcel: Parcel,
): Promise<Receipt> {
  const { rows, later, strays, dryRun } = parcel
  const recount = dryRun ? recounting(parcel, shelf) : null
  // What no record says is not sent, and not read a thousand times.
  const isSaid = (name: string) => (row: Row) => (row.values[name] ?? null) !== null
  const said = shelf.columns.filter((name) => [rows, later].some((all) => all.some(isSaid(name))))
  const sql = statementsOf(shelf, said)
  const chunks = {
    short: chunksOf(rows, sql.short),
    odd: chunksOf([...later, ...strays], [...sql.short, ODD]),
    full: chunksOf(rows, said),
    later: chunksOf(later, said),
  }
  // Memory has no room for a large body as records and as parameters.
  Object.assign(parcel, { rows: [], later: [], strays: [] } satisfies Partial<Parcel>)
  let moves = false
  const send = (attempt: number) =>
    session.batch<Record<string, unknown>>(
      batchOf(session, shelf, parcel, sql, chunks, { attempt, moves }),
    )
  return tried(async (attempt) => {
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
function recounting({ rows, later }: Parcel, shelf: RecordTable) {
  const keyOf = ({ values }: Row) => JSON.stringify(shelf.key.map((name) => values[name]))
  return (revisions: Map<number, number>) => {
    const isCreated = ({ idx }: Row) => revisions.get(idx) === 1
    const created = new Set(later.length > 0 ? rows.filter(isCreated).map(keyOf) : [])
    for (const row of later.filter(isCreated)) {
      if (created.has(keyOf(row))) revisions.set(row.idx, 2)
      created.add(keyOf(row))
    }
  }
}

interface Chunks {
  short: string[]
  odd: string[]
  full: string[]
  later: string[]
}

function batchOf(
  session: D1DatabaseSession,
  shelf: RecordTable,
  parcel: Parcel,
  sql: Statements,
  { short, odd, full, later }: Chunks,
  { attempt, moves }: { attempt: number; moves: boolean },
): D1PreparedStatement[] {
  const { account, id, resource, policy, dryRun, idempotency } = parcel
  const bind = (text: string, ...more: unknown[]) =>
    session.prepare(text).bind(account, id, attempt, ...more)
  // Where all is refused already, nothing is left to write.
  const writes = !dryRun && full.length > 0 && (parcel.wrong === 0 || parcel.lenient)
  const log = bind(
    sql.log(policy, short.length, odd.length, writes && !moves),
    parcel.receivedAt,
    resource,
    parcel.form,
    Number(dryRun),
    Number(parcel.lenient),
    parcel.received,
    parcel.wrong,
    parcel.errorsTotal,
    parcel.errors,
    idempotency?.key ?? null,
    idempotency?.digest ?? null,
    ...short,
    ...odd,
  )
  const read = session.prepare(READ).bind(account, id)
  if (dryRun) {
    const would = [sql.dryCount, sql.dryRows]
    const both = [...full, ...later].flatMap((rows) => would.map((text) => bind(text, rows)))
    return [log, ...both, read]
  }
  const arrival = bind(arrived, Number(parcel.yesterday), Number(parcel.today))
  if (!writes) return [log, arrival, read]

  const returning = parcel.told ? sql.returning : ''
  const holds = shelf.holds && policy === 'hold'
  const recounts = shelf.holds && later.length > 0
  const listed = (text: string) => short.map((rows) => bind(text, resource, rows))
  const stored = (chunks: string[], text: string) =>
    chunks.flatMap((rows) => [bind(text + returning, rows), bind(sql.count)])
  return [
    log,
    arrival,
    ...(attempt > 1 && parcel.told ? short.map((rows) => bind(sql.writtenBefore, rows)) : []),
    ...(recounts ? listed(sql.subtractListed) : [bind(sql.addListed, resource)]),
    ...(moves ? stored(full, sql.upsertMoved) : []),
    ...stored(full, sql.upsert),
    ...(holds ? [bind(sql.countHeld(short.length), ...short)] : []),
    ...stored(later, sql.upsertLater),
    ...(recounts ? listed(sql.recountListed) : []),
    ...short.flatMap((rows) =>
      sql.releases.flatMap(({ release, addReleased }) => [
        bind(release, rows),
        session.prepare(addReleased).bind(account),
      ]),
    ),
    ...(idempotency ? [bind(KEEP_KEY, resource, idempotency.key, idempotency.digest)] : []),
    read,
  ]
}

/** Binds an Idempotency-Key to what was stored under it; where nothing was, it stays free. */
const KEEP_KEY = `
  insert into idempotency_keys (account, resource, key, digest, delivery)
  select ?1, ?4, ?5, ?6, ?2 from ${OWN_LINE} and refused = 0 and written > 0
  on conflict (account, resource, key) do nothing`
