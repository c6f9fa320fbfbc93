import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'
import { DAY_MS } from '../src/durations.ts'
import { formatInteger, formatTenths } from './chapter.ts'
import { table } from './figures.ts'
import { FRAME_BYTES, mulberry32, newHexDigits, newUuids, PER_BULK } from './records.ts'

// Compares layouts of the table of transactions in SQLite alone: bytes a record, and the pages that a
// bulk of 1000 inserts changes. Both are the same on every machine. docs/storage.md has the result.

interface Options {
  records: number
}

const { records } = readOptions<Options>(
  'npm run layouts',
  'Compares layouts of the table of transactions in SQLite: bytes, pages and time.',
  (command) =>
    command.option('--records <count>', 'records stored', wholeNumber(1000, 1e8), 1_000_000),
)

/** Bulks that are measured when the records are stored. */
const MEASURED = 20
const DAYS = 270
const END = Date.UTC(2026, 9, 1)

/** A workload: ids that are random or in order, days that are recent or spread over nine months. */
const WORKLOADS = {
  'random ids, recent days': { isRandom: true, isRecent: true, customers: 50_000 },
  'random ids, scattered days': { isRandom: true, isRecent: false, customers: 300 },
  'ids in order, recent days': { isRandom: false, isRecent: true, customers: 50_000 },
} as const
type Workload = (typeof WORKLOADS)[keyof typeof WORKLOADS]

/** How a layout stores a column: its type, and the cell of a record that has the value. */
const TEXTS = {
  account: ["'acme-trading'", 'text'],
  id: 1,
  customer: 2,
  date: 3,
  day: 4,
  delivery: 5,
}
const INTEGERS = { ...TEXTS, date: 6, day: 7, delivery: 8 }
const NUMBERED = { ...INTEGERS, account: ['7', 'integer'], customer: 9 }
const isInteger = (cell: number) => cell > 5

interface Layout {
  cells: typeof TEXTS
  /** The primary key; null for a table with rowids. */
  key: string | null
  indexes: readonly string[]
}

const BY_KEY = 'unique (account, id)'
const CLUSTERED = 'account, day, customer, id'
const PARTIAL = ['(account, day) where held = 0', '(account, customer) where held = 0']

const LAYOUTS: Record<string, Layout> = {
  'key (account, id), indexes (day) and (customer)': {
    cells: TEXTS,
    key: 'account, id',
    indexes: PARTIAL,
  },
  'the same, integers': { cells: INTEGERS, key: 'account, id', indexes: PARTIAL },
  'key (account, id), index (day, customer)': {
    ...{ cells: TEXTS, key: 'account, id', indexes: ['(account, day, customer)'] },
  },
  'rowid, unique (account, id), index (day, customer)': {
    ...{ cells: TEXTS, key: null, indexes: [BY_KEY, '(account, day, customer)'] },
  },
  'key (account, day, customer, id), unique (account, id)': {
    ...{ cells: TEXTS, key: CLUSTERED, indexes: [BY_KEY] },
  },
  'the same with an index (customer)': {
    ...{ cells: TEXTS, key: CLUSTERED, indexes: [BY_KEY, '(account, customer)'] },
  },
  'key (account, day, customer, id), unique (account, id), integers': {
    ...{ cells: INTEGERS, key: CLUSTERED, indexes: [BY_KEY] },
  },
  'the same, numbers for account and customer': {
    ...{ cells: NUMBERED, key: CLUSTERED, indexes: [BY_KEY] },
  },
}

const OTHERS = 'transaction_type, amount, currency, status, amount_usd, held, idx, revision'.split(
  ', ',
)
const OTHER_TYPES = ['text', 'real', 'text', 'text', 'real', 'integer', 'integer', 'integer']
const OTHER_VALUES = "'deposit', value ->> 10, 'EUR', 'approved', value ->> 10, 0, value ->> 0, 1"

/** Returns the statements that create the table, and the one that stores a bulk. */
function statementsOf({ cells, key, indexes }: Layout) {
  const names = Object.keys(cells)
  const types = Object.values(cells).map((cell) =>
    typeof cell === 'number' ? (isInteger(cell) ? 'integer' : 'text') : cell[1],
  )
  const values = Object.values(cells).map((cell) =>
    typeof cell === 'number' ? `value ->> ${cell}` : cell[0],
  )
  const columns = [...names, ...OTHERS]
  const declared = columns.map((name, i) => `${name} ${[...types, ...OTHER_TYPES][i]} not null`)
  const create = key
    ? `create table t (${declared.join()}, primary key (${key})) strict, without rowid`
    : `create table t (n integer primary key, ${declared.join()}) strict`
  const createIndexes = indexes.map((index, i) => {
    const isUnique = index.startsWith('unique ')
    return `create ${isUnique ? 'unique ' : ''}index i${i} on t ${index.replace('unique ', '')}`
  })
  return {
    create: [create, ...createIndexes].join(';'),
    store: `insert into t (${columns.join()}) select ${values.join()}, ${OTHER_VALUES}
      from jsonb_each(?1) where true
      on conflict (account, id) do update set amount = excluded.amount, revision = t.revision + 1
      where excluded.amount is not t.amount`,
  }
}

/** Returns a function that makes the next bulk, as the parameter of the statement. */
function bulksOf({ isRandom, isRecent, customers }: Workload): (place: number) => string {
  const random = mulberry32(7)
  let made = 0
  const digits = newHexDigits(random)
  const uuid = newUuids(random)
  const id = () => (isRandom ? uuid() : `T-${String(made).padStart(10, '0')}`)
  return (place) => {
    const delivery = `dlv_${digits()}${digits()}${digits()}00`
    const rows = Array.from({ length: PER_BULK }, (_, idx) => {
      made += 1
      const age = isRecent ? (1 - place) * DAYS + random() * 2 : random() * DAYS
      const at = Math.floor(END - age * DAY_MS)
      const date = new Date(at).toISOString()
      const customer = Math.floor(random() * customers)
      const amount = Math.round(random() * 1e6) / 100
      const texts = [id(), `C-${100_000 + customer}`, date, date.slice(0, 10), delivery]
      return [idx, ...texts, at, Math.floor(at / DAY_MS), made, customer, amount]
    })
    return JSON.stringify(rows)
  }
}

/** Measures one layout under one workload, in a database that is deleted afterwards. */
function measure(layout: Layout, workload: Workload): string[] {
  const file = join(tmpdir(), `tributary-layout-${process.pid}.sqlite`)
  const remove = () => {
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  }
  remove()
  const { create, store } = statementsOf(layout)
  const bulk = bulksOf(workload)
  const bulks = records / PER_BULK
  const filling = new DatabaseSync(file)
  filling.exec('pragma journal_mode = wal; pragma synchronous = off; pragma cache_size = -1000000')
  filling.exec(create)
  const fill = filling.prepare(store)
  for (let i = 0; i < bulks; i++) fill.run(bulk(i / (bulks + MEASURED)))
  filling.exec('pragma wal_checkpoint(truncate)')
  filling.close()
  const bytes = statSync(file).size / records

  const database = new DatabaseSync(file)
  database.exec('pragma synchronous = full; pragma wal_autocheckpoint = 0')
  const insert = database.prepare(store)
  let ms = 0
  let pages = 0
  for (let i = 0; i < MEASURED; i++) {
    const rows = bulk((bulks + i) / (bulks + MEASURED))
    const started = performance.now()
    insert.run(rows)
    pages += Math.floor(statSync(`${file}-wal`).size / FRAME_BYTES)
    database.exec('pragma wal_checkpoint(truncate)')
    ms += performance.now() - started
  }
  database.close()
  remove()
  return [formatInteger(bytes), formatInteger(pages / MEASURED), formatTenths(ms / MEASURED)]
}

for (const [name, workload] of Object.entries(WORKLOADS)) {
  const rows = Object.entries(LAYOUTS).map(([layout, it]) => [layout, ...measure(it, workload)])
  console.log(`${table([[name, 'bytes a record', 'pages a bulk', 'ms a bulk'], ...rows])}\n`)
}
