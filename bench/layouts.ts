import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { readOptions, wholeNumber } from '../scripts/command-line.ts'
import { fractions } from '../scripts/dev/fractions.ts'
import { DAY_MS } from '../src/durations.ts'
import { formatInteger, formatTenths } from './chapter.ts'
import { table } from './figures.ts'
import { FRAME_BYTES, newHexDigits, newUuids, PER_BULK } from './records.ts'

// Compares layouts of the table of transactions in SQLite alone: bytes a record, and the pages that a
// bulk of 1000 inserts changes. Both are the same on every machine. docs/storage.md has the result.

interface Options {
  records: number
}

const { records } = readOptions<Options>(
  'npm run layouts',
  'Compares layouts of the table of transactions in SQLite: bytes, pages and time.',
  (command) =>
    command.option('--records <count>', 'records to store', wholeNumber(1000, 1e8), 1_000_000),
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

/** How a layout stores a column: its type, and the value of a record. */
type Column = readonly [type: string, sql: string]
const TEXTS: Record<string, Column> = {
  account: ['text', "'acme-trading'"],
  id: ['text', 'value ->> 1'],
  customer: ['text', 'value ->> 2'],
  date: ['text', 'value ->> 3'],
  day: ['text', 'value ->> 4'],
  delivery: ['text', 'substr(value ->> 5, 1, 30)'],
}
/** Days as numbers of days, times as milliseconds. */
const DATES: typeof TEXTS = {
  ...TEXTS,
  date: ['integer', 'value ->> 6'],
  day: ['integer', 'value ->> 7'],
}
/** Ids that are UUIDs as 21 characters. */
const SHORT: typeof TEXTS = {
  ...DATES,
  id: ['text', "'~' || substr(replace(value ->> 1, '-', ''), 1, 20)"],
}
/** Ids that are UUIDs, and the ULIDs of deliveries, in their 16 bytes. */
const BYTES: typeof TEXTS = {
  ...DATES,
  id: ['any', "ifnull(unhex(value ->> 1, '-'), value ->> 1)"],
  delivery: ['blob', 'unhex(substr(value ->> 5, 5))'],
}
/** Accounts and customers by number. */
const NUMBERS: typeof TEXTS = {
  ...DATES,
  account: ['integer', '7'],
  customer: ['integer', 'value ->> 8'],
}
const ALL = { ...BYTES, account: NUMBERS.account!, customer: NUMBERS.customer! }

interface Layout {
  columns: typeof TEXTS
  /** The primary key; null for a table with rowids. */
  key: string | null
  indexes: readonly string[]
}

const BY_KEY = 'unique (account, id)'
const CLUSTERED = 'account, day, customer, id'
const PARTIAL = ['(account, day) where held = 0', '(account, customer) where held = 0']

const LAYOUTS: Record<string, Layout> = {
  'key (account, id), indexes (day) and (customer)': {
    columns: TEXTS,
    key: 'account, id',
    indexes: PARTIAL,
  },
  'key (account, id), index (day, customer)': {
    columns: TEXTS,
    key: 'account, id',
    indexes: ['(account, day, customer)'],
  },
  'rowid, unique (account, id), index (day, customer)': {
    columns: TEXTS,
    key: null,
    indexes: [BY_KEY, '(account, day, customer)'],
  },
  'key (account, day, customer, id), unique (account, id)': {
    columns: TEXTS,
    key: CLUSTERED,
    indexes: [BY_KEY],
  },
  'the same with an index (customer)': {
    columns: TEXTS,
    key: CLUSTERED,
    indexes: [BY_KEY, '(account, customer)'],
  },
  'the same without it; days and times as integers': {
    columns: DATES,
    key: CLUSTERED,
    indexes: [BY_KEY],
  },
  'the same; UUIDs as 21 characters': {
    columns: SHORT,
    key: CLUSTERED,
    indexes: [BY_KEY],
  },
  'integers; UUIDs and deliveries as 16 bytes': {
    columns: BYTES,
    key: CLUSTERED,
    indexes: [BY_KEY],
  },
  'integers; numbers for account and customer': {
    columns: NUMBERS,
    key: CLUSTERED,
    indexes: [BY_KEY],
  },
  'integers, 16 bytes and numbers': { columns: ALL, key: CLUSTERED, indexes: [BY_KEY] },
}

const OTHERS = 'transaction_type, amount, currency, status, amount_usd, held, idx, revision'.split(
  ', ',
)
const OTHER_TYPES = ['text', 'real', 'text', 'text', 'real', 'integer', 'integer', 'integer']
const OTHER_VALUES = "'deposit', value ->> 9, 'EUR', 'approved', value ->> 9, 0, value ->> 0, 1"

/** Returns the statements that create the table, and the one that stores a bulk. */
function buildStatements({ columns, key, indexes }: Layout) {
  const stored = Object.values(columns)
  const types = [...stored.map(([type]) => type), ...OTHER_TYPES]
  const names = [...Object.keys(columns), ...OTHERS]
  const declared = names.map((name, i) => `${name} ${types[i]} not null`)
  const create = key
    ? `create table t (${declared.join()}, primary key (${key})) strict, without rowid`
    : `create table t (n integer primary key, ${declared.join()}) strict`
  const createIndexes = indexes.map((index, i) => {
    const isUnique = index.startsWith('unique ')
    return `create ${isUnique ? 'unique ' : ''}index i${i} on t ${index.replace('unique ', '')}`
  })
  return {
    create: [create, ...createIndexes].join(';'),
    store: `insert into t (${names.join()}) select ${stored.map(([, sql]) => sql).join()}, ${OTHER_VALUES}
      from jsonb_each(?1) where true
      on conflict (account, id) do update set amount = excluded.amount, revision = t.revision + 1
      where excluded.amount is not t.amount`,
  }
}

/** Returns a function that makes the next bulk, as the parameter of the statement. */
function bulksOf({ isRandom, isRecent, customers }: Workload): (place: number) => string {
  const random = fractions(7)
  let made = 0
  const digits = newHexDigits(random)
  const uuid = newUuids(random)
  const id = () => (isRandom ? uuid() : `T-${String(made).padStart(10, '0')}`)
  return (place) => {
    const delivery = `dlv_${digits()}${digits()}${digits()}${digits()}`
    const rows = Array.from({ length: PER_BULK }, (_, idx) => {
      made += 1
      const age = isRecent ? (1 - place) * DAYS + random() * 2 : random() * DAYS
      const at = Math.floor(END - age * DAY_MS)
      const date = new Date(at).toISOString()
      const customer = Math.floor(random() * customers)
      const amount = Math.round(random() * 1e6) / 100
      const texts = [id(), `C-${100_000 + customer}`, date, date.slice(0, 10), delivery]
      return [idx, ...texts, at, Math.floor(at / DAY_MS), customer, amount]
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
  const { create, store } = buildStatements(layout)
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
