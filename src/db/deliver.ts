import { chunk } from './chunks.ts'
import { READ, STRAY } from './log-statement.ts'
import { tried } from './run.ts'
import type { Shelf } from './shelf.ts'
import { statementsOf } from './statements.ts'
import type { Delivery } from './tables.ts'

/** One record as it is kept: its place in the request, and its values by column. */
export interface Row {
  idx: number
  values: Record<string, unknown>
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
  policy: 'reject' | 'hold' | 'warn'
  /** Whether anyone will ask what became of a single record. */
  told: boolean
  received: number
  /** The records that are wrong already, their number of errors, and the first of these as JSON. */
  wrong: number
  errorsTotal: number
  errors: string | null
  rows: Row[]
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
 * that may be stored are, and totals follow. All of that happens, or nothing does; asked again
 * with the same parcel it changes nothing and gives the same receipt.
 */
export function deliver(
  session: D1DatabaseSession,
  shelf: Shelf,
  parcel: Parcel,
): Promise<Receipt> {
  const chunks = {
    short: arrays(parcel.rows, statementsOf(shelf).short),
    strays: arrays(parcel.strays, [...statementsOf(shelf).short, STRAY]),
    full: arrays(parcel.rows, shelf.columns),
  }
  return tried(async (attempt) => {
    const answers = await session.batch<Record<string, unknown>>(
      batchOf(session, shelf, parcel, chunks, attempt),
    )
    const delivery = answers.at(-1)!.results[0] as unknown as Delivery
    const revisions = new Map<number, number>()
    for (const { results } of answers.slice(1, -1)) {
      for (const { idx, revision } of results) revisions.set(Number(idx), Number(revision))
    }
    return { delivery, revisions }
  })
}

interface Chunks {
  short: string[]
  strays: string[]
  full: string[]
}

function batchOf(
  session: D1DatabaseSession,
  shelf: Shelf,
  parcel: Parcel,
  { short, strays, full }: Chunks,
  attempt: number,
): D1PreparedStatement[] {
  const { account, id, resource, policy, dryRun } = parcel
  const sql = statementsOf(shelf)
  const bind = (text: string, ...more: unknown[]) =>
    session.prepare(text).bind(account, id, attempt, ...more)
  const log = bind(
    sql.log(short.length, strays.length),
    parcel.receivedAt,
    resource,
    parcel.form,
    Number(dryRun),
    Number(parcel.lenient),
    parcel.received,
    parcel.wrong,
    parcel.errorsTotal,
    parcel.errors,
    policy,
    ...short,
    ...strays,
  )
  const read = session.prepare(READ).bind(account, id)
  // Where all is refused already, nothing is left to write.
  if (full.length === 0 || (parcel.wrong > 0 && !parcel.lenient)) return [log, read]
  if (dryRun) {
    const { dryCount, dryRows } = sql
    const both = [dryCount, dryRows].map((text) => bind(text(full.length), ...full))
    return [log, ...both, read]
  }
  const { move } = sql
  const upsert = parcel.told ? sql.upsert + sql.returning : sql.upsert
  return [
    log,
    ...(attempt > 1 && parcel.told ? short.map((rows) => bind(sql.writtenBefore, rows)) : []),
    bind(sql.addListed, resource),
    ...(move ? short.map((rows) => bind(move, rows)) : []),
    ...full.flatMap((rows) => [bind(upsert, rows), bind(sql.count)]),
    ...(shelf.holds && policy === 'hold' ? [bind(sql.countHeld(short.length), ...short)] : []),
    ...short.flatMap((rows) =>
      sql.releases.flatMap(({ release, addReleased }) => [
        bind(release, rows),
        session.prepare(addReleased).bind(account),
      ]),
    ),
    read,
  ]
}

/** Rows as JSON arrays: half the bytes of objects, and quicker to read by place than by name. */
const arrays = (rows: Row[], columns: readonly string[]) =>
  chunk(rows.map(({ idx, values }) => [idx, ...columns.map((name) => values[name] ?? null)]))
