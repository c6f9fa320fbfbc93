import {
  customersPerReading,
  type FactReading,
  type RowKind,
} from '../../db/commission/fact-readings.ts'
import { readFactRows } from '../../db/commission/facts.ts'
import { selectKeptDays } from '../../db/commission/kept-days.ts'
import {
  KEPT_LIMITS,
  type KeptCustomer,
  putKept,
  selectKept,
  toKept,
} from '../../db/commission/kept-facts.ts'
import {
  type CustomersReading,
  type FactRow,
  readPacked,
} from '../../db/commission/packed-facts.ts'
import { memoize } from '../engine/memoize.ts'
import { checkKept } from './check-kept.ts'
import { type KeptReading, openDays, usedOf } from './kept.ts'
import { fromKeptRow, keptRowsOf } from './kept-rows.ts'
import { type Database, ofCustomers, type Rows, readRecords } from './read-records.ts'

/** Which kinds of rows are needed of each customer, by stored id. */
export type NeededKinds = ReadonlyMap<string, ReadonlySet<RowKind>>

/** How often a reading begins again because kept days changed meanwhile. */
const ATTEMPTS = 3

/**
 * Reads the rows of each reading's customers: those of kept days from what is kept, others from the
 * records. A customer is read either so, in one batch, or from the records alone. Runs keep what was
 * not kept yet.
 */
export async function readRows(
  database: Database,
  kept: KeptReading | null,
  readings: readonly CustomersReading[],
  needed: NeededKinds,
): Promise<Rows> {
  const { db, account } = database
  if (kept === null || readings.length === 0) return readFactRows(db, account.id, readings)
  const { rows, lacking } = await readAll(database, kept, readings, ATTEMPTS)
  if (kept.run !== null && !(await checkKept(database, kept, readings, rows, lacking))) {
    return readFactRows(db, account.id, readings)
  }
  if (kept.filled.length > 0) {
    const byKind = new Map(readings.map(({ reading: { kind } }, i) => [kind, rows[i] ?? []]))
    await putKept(db, account.id, keptRowsOf(kept, needed, byKind, lacking))
  }
  return rows
}

/** The rows of some readings, and the customers of whom too little was kept. */
interface Read {
  readonly rows: Rows
  readonly lacking: ReadonlySet<string>
}

async function readAll(
  database: Database,
  kept: KeptReading,
  readings: readonly CustomersReading[],
  attempts: number,
): Promise<Read> {
  const ids = [...new Set(readings.flatMap((one) => one.ids))]
  const fromRecords = async (): Promise<Read> => ({
    rows: await readRecords(database, readings, new Set(ids)),
    lacking: new Set(ids),
  })
  if (kept.usable.length === 0 || attempts === 0) return fromRecords()
  const { db, account } = database
  const isOpen = openDays(kept.usable)
  const open = readings.map((one) => withDays(one, (day) => isOpen(day)))
  const asked = open.filter(({ reading, ids: own }) => reading.days.length > 0 && own.length > 0)
  const packed = await readPacked(db, account.id, asked, [
    selectKeptDays(db, account.id),
    selectKept(db, account.id, ids, kept.usable),
  ])
  const found = packed && toKept(packed.beside[1] ?? [])
  if (packed === null || found === null || packed.rows.includes(null)) {
    if (ids.length === 1) return fromRecords()
    const half = new Set(ids.slice(0, Math.ceil(ids.length / 2)))
    return joined([
      await readAll(
        database,
        kept,
        ofCustomers(readings, (id) => half.has(id)),
        attempts,
      ),
      await readAll(
        database,
        kept,
        ofCustomers(readings, (id) => !half.has(id)),
        attempts,
      ),
    ])
  }
  const current = usedOf(kept, (packed.beside[0] ?? []) as never)
  if (JSON.stringify(current.usable) !== JSON.stringify(kept.usable)) {
    return readAll(database, current, readings, attempts - 1)
  }
  const openRows = new Map(asked.map(({ reading: { kind } }, i) => [kind, packed.rows[i] ?? []]))
  return combine(database, kept, readings, { found, openRows, isOpen })
}

interface Parts {
  readonly found: readonly KeptCustomer[]
  readonly openRows: ReadonlyMap<RowKind, readonly FactRow[]>
  readonly isOpen: (day: number) => boolean
}

/** Puts together what was kept and what was read; customers of whom too little is kept are read anew. */
async function combine(
  database: Database,
  { usable }: KeptReading,
  readings: readonly CustomersReading[],
  { found, openRows, isOpen }: Parts,
): Promise<Read> {
  const byCustomer = Map.groupBy(found, ({ customer_id }) => customer_id)
  const isKept = (id: string, kind: RowKind): boolean => {
    const own = byCustomer.get(id) ?? []
    return own.length === usable.length && own.every(({ rows }) => rows[kind] !== undefined)
  }
  const lacking = new Set(
    readings.flatMap(({ ids, reading }) => ids.filter((id) => !isKept(id, reading.kind))),
  )
  // They lie between the others.
  const scattered = readings.map((one) => ({
    ...one,
    share: (one.share * lacking.size) / Math.max(1, one.ids.length),
  }))
  const others = lacking.size > 0 ? await readRecords(database, scattered, lacking) : []
  const rows = readings.map(({ ids, reading: { kind, days, statements } }, i) => {
    const ofReading = new Set(ids.filter((id) => !lacking.has(id)))
    const wanted = new Set(days.filter((day) => !isOpen(day)))
    const all: FactRow[] = []
    for (const id of ofReading) {
      for (const own of byCustomer.get(id) ?? []) {
        for (const values of own.rows[kind] ?? []) {
          const row = fromKeptRow(id, statements.columns, values)
          if (wanted.has(Number(row.day))) all.push(row)
        }
      }
    }
    for (const row of openRows.get(kind) ?? []) {
      if (ofReading.has(String(row.customer_id))) all.push(row)
    }
    for (const row of others[i] ?? []) all.push(row)
    return all
  })
  return { rows, lacking }
}

const joined = (parts: readonly Read[]): Read => ({
  rows: (parts[0]?.rows ?? []).map((_, i) => parts.flatMap(({ rows }) => rows[i] ?? [])),
  lacking: new Set(parts.flatMap(({ lacking }) => [...lacking])),
})

const withDays = (one: CustomersReading, isWanted: (day: number) => boolean): CustomersReading => ({
  ...one,
  reading: { ...one.reading, days: one.reading.days.filter(isWanted) },
})

/** Returns how many customers are read at once: fewer if much is kept of each. */
export function keptCustomers({ usable }: KeptReading, readings: readonly FactReading[]): number {
  const isOpen = openDays(usable)
  const open = readings.map((one) => ({ ...one, days: one.days.filter(isOpen) }))
  const mean = usable.reduce((sum, one) => sum + one.mean, 0)
  const fitting = Math.floor(KEPT_LIMITS.facts / Math.max(1, 2 * mean))
  return Math.max(1, Math.min(customersPerReading(open), fitting))
}

/** Returns how much a fact of a day counts: facts of kept days are read faster. */
export function weightOf(kept: KeptReading | null, share: number): (day: number) => number {
  if (kept === null || kept.usable.length === 0) return () => 1
  const isOpen = memoize(openDays(kept.usable))
  return (day) => (isOpen(day) ? 1 : share)
}
