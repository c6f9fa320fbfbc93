import { rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fractions } from '../scripts/dev/fractions.ts'
import { shortId } from '../src/db/short-id.ts'
import { DAY_MS } from '../src/durations.ts'
import { type Chapter, formatHundredths, formatInteger, formatTenths } from './chapter.ts'
import { phasesOf, timeRoute } from './compete.ts'
import { type Contestant, inSqlite, type Ours, PHASES, type Phase } from './contestants.ts'
import { median } from './figures.ts'
import { expectOk } from './http.ts'
import { storeRaw } from './peers/raw.ts'
import { ACCOUNT } from './peers/upsert.ts'
import {
  type Bulk,
  CUSTOMERS,
  FRAME_BYTES,
  newBulks,
  newUuids,
  PER_BULK,
  type Transaction,
  toBulk,
} from './records.ts'
import type { World } from './world.ts'

/** The days over which the records are spread, and the first of them. */
const DAYS = 270
const FIRST_DAY = '2026-01-01'

/** How the time of an insert grows with what is stored. */
export interface Curve {
  name: string
  points: { stored: number; recordsPerSecond: number }[]
}

type GrowthChapter = Chapter & { curves: readonly Curve[] }

/**
 * Measures bulks of 1000 records as the number of stored records grows. Ids are random UUIDs, and days and
 * customers are random. This is the worst case for a tree, because each record is stored in another page.
 */
export async function growth({ scale, us, peers, limits }: World): Promise<GrowthChapter> {
  const contestants = [...(await peers()), ...(await limits())].filter(
    ({ name }) => !/Drizzle|full answer|by place|Fastify \+ node/.test(name),
  )
  const names = contestants.map(({ name }) => name)
  const times = new Map(names.map((name) => [name, PHASES.map((): number[] => [])]))
  const reads = new Map<string, string[]>()
  for (const contestant of contestants) await contestant.renew()
  let stored = 0
  for (const [i, size] of scale.grown.entries()) {
    for (const contestant of contestants) await insertDirectly(contestant, size - stored)
    const bulks = scatteredBulks(scale.bulks, 7000 + i)
    for (const contestant of contestants) {
      const measured = await timeBulks(contestant, bulks)
      for (const [p, phase] of PHASES.entries())
        times.get(contestant.name)![p]!.push(measured[phase])
    }
    stored = size + scale.bulks * bulks[0]!.records.length
    for (const [what, ms] of await timeReads(us, scale.requests, 8000 + i)) {
      reads.set(what, [...(reads.get(what) ?? []), formatTenths(ms)])
    }
  }
  const head = scale.grown.map(formatInteger)
  const size = pagesAndBytes(scale.grown)
  const curves = names.map((name) => ({
    name,
    points: scale.grown.map((stored, i) => ({
      stored,
      recordsPerSecond: (PER_BULK * 1000) / times.get(name)![0]![i]!,
    })),
  }))
  return {
    title: 'Growth',
    curves,
    notes: `Bulks of 1000 transactions into a store that already has records, with random UUIDs, ${CUSTOMERS.length} customers and ${DAYS} days; medians of ${scale.bulks} bulks. Pages are those that the insert of a bulk adds to SQLite's write-ahead log, the same on every machine.`,
    tables: [
      ...PHASES.map((phase, p) => [
        [`ms a bulk, ${phase}, by records stored`, ...head],
        ...names.map((name) => [name, ...times.get(name)![p]!.map(formatTenths)]),
      ]),
      [
        ['ours, insert, relative to an empty store', ...head],
        [
          'speed',
          ...times
            .get(us.name)![0]!
            .map((ms) => formatHundredths(times.get(us.name)![0]![0]! / ms)),
        ],
      ],
      [['ours, ms a request, by records stored', ...head], ...[...reads].map((row) => row.flat())],
      [['the table of transactions, by records stored', ...head], ...size],
    ],
  }
}

/** Inserts records without HTTP. */
async function insertDirectly({ name, run }: Contestant, count: number) {
  if (count <= 0) return
  const isPostgres = name.includes('PostgreSQL')
  const sql = isPostgres ? POSTGRES_FILL : name === 'ours' ? OUR_FILL : SQLITE_FILL
  for (let left = count; left > 0; left -= 100_000) {
    await run(sql.replace(':count', String(Math.min(left, 100_000))))
  }
}

const COLUMNS = `account, transaction_id, customer_id, transaction_type, amount_currency, currency,
  transaction_date, status, transaction_subtype, day, held, delivery, idx, revision`

const sqliteFill = (id: string) => `insert into transactions (${COLUMNS})
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < :count),
  drawn as (select n, lower(hex(randomblob(16))) as id, abs(random()) % ${CUSTOMERS.length} as customer,
    ${Date.parse(FIRST_DAY) / DAY_MS} + abs(random()) % ${DAYS} as day from numbers)
  select '${ACCOUNT}', ${id}, 'CU-' || (10001 + customer), 'deposit',
    n % 250000 / 100.0, 'EUR', day * ${DAY_MS} + 34200000, 'approved', 'credit_card', day, 0,
    'dlv_00000000000000000000000000', n % 1000, 1
  from drawn`

/** The peers store a UUID as it is sent. */
const SQLITE_FILL =
  sqliteFill(`substr(id, 1, 8) || '-' || substr(id, 9, 4) || '-' || substr(id, 13, 4)
    || '-' || substr(id, 17, 4) || '-' || substr(id, 21)`)

/** The service stores its short form, of 21 characters. */
const OUR_FILL = sqliteFill(`'~' || substr(id, 1, 20)`)

const POSTGRES_FILL = `insert into transactions (${COLUMNS})
  select '${ACCOUNT}', gen_random_uuid()::text, 'CU-' || (10001 + floor(random() * ${CUSTOMERS.length})),
    'deposit', n % 250000 / 100.0, 'EUR', day * ${DAY_MS} + 34200000, 'approved', 'credit_card', day, 0,
    'dlv_00000000000000000000000000', n % 1000, 1
  from (select n, ${Date.parse(FIRST_DAY) / DAY_MS} + floor(random() * ${DAYS})::bigint as day
    from generate_series(1, :count) n) drawn`

const withShortId = (record: Transaction): Transaction => ({
  ...record,
  transaction_id: shortId(record.transaction_id),
})

/** Makes bulks of new transactions with random UUIDs on random days, the same for the same seed. */
function scatteredBulks(count: number, seed: number, size?: number): Bulk[] {
  const random = fractions(seed)
  const uuid = newUuids(random)
  return newBulks(count, size, seed).map(({ records }) =>
    toBulk(
      records.map((record) => ({
        ...record,
        transaction_id: uuid(),
        transaction_date: new Date(
          Date.parse(FIRST_DAY) + Math.floor(random() * DAYS * DAY_MS),
        ).toISOString(),
      })),
    ),
  )
}

/** Returns the median time of a bulk of each phase, in milliseconds. */
async function timeBulks({ store }: Contestant, bulks: readonly Bulk[]) {
  const found: Record<Phase, number> = { insert: 0, update: 0, replay: 0 }
  for (const phase of PHASES) {
    const times: number[] = []
    for (const bulk of phasesOf(bulks)[phase]) {
      const started = performance.now()
      await store(bulk, phase)
      times.push(performance.now() - started)
    }
    found[phase] = median(times)
  }
  return found
}

/** Returns the median times of small requests to the service, in milliseconds. */
async function timeReads(
  us: Ours,
  requests: number,
  seed: number,
): Promise<[what: string, ms: number][]> {
  const url = new URL('/api/v1/forex/transactions', us.running.url)
  const count = Math.ceil(requests / 10)
  const day = `from=${FIRST_DAY}&to=${FIRST_DAY}`
  await us.renewToken()
  const singles: number[] = []
  for (const { records } of scatteredBulks(count, seed, 1)) {
    const started = performance.now()
    const headers = { ...us.authorization(), 'Content-Type': 'application/json' }
    await expectOk(url, { body: JSON.stringify(records[0]), headers })
    singles.push(performance.now() - started)
  }
  const at = async (path: string) => {
    const { rounds } = await timeRoute(us, count, new URL(path, url), us.authorization())
    return median(rounds.flat())
  }
  return [
    ['a single record', median(singles)],
    ['a page', await at('?per_page=50')],
    ['a page of one customer', await at(`?per_page=50&customer_id=${CUSTOMERS[0]}`)],
    ['a page of one day', await at(`?per_page=50&${day}`)],
    ['control totals of one day', await at(`totals?${day}`)],
  ]
}

/** Measures pages and bytes with the statement of raw SQLite. */
function pagesAndBytes(sizes: readonly number[]): string[][] {
  const file = join(tmpdir(), `tributary-growth-${process.pid}.sqlite`)
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = off')
    void inSqlite(database).renew()
    const [empty] = [bytesOf(database)]
    let stored = 0
    const found = sizes.map((size, i) => {
      for (let left = size - stored; left > 0; left -= 100_000) {
        database.exec(OUR_FILL.replace(':count', String(Math.min(left, 100_000))))
      }
      stored = Math.max(size, stored)
      const bytes = stored === 0 ? null : (bytesOf(database) - empty) / stored
      database.exec('pragma wal_checkpoint(truncate); pragma wal_autocheckpoint = 0')
      for (const { records } of scatteredBulks(1, 9000 + i))
        storeRaw(database, records.map(withShortId))
      const pages = Math.floor(statSync(`${file}-wal`).size / FRAME_BYTES)
      database.exec('pragma wal_autocheckpoint = 1000')
      stored += 1000
      return { pages, bytes }
    })
    return [
      [
        'pages that a bulk of 1000 inserts changes',
        ...found.map(({ pages }) => formatInteger(pages)),
      ],
      [
        'bytes a record',
        ...found.map(({ bytes }) => (bytes === null ? '–' : formatInteger(bytes))),
      ],
    ]
  } finally {
    database.close()
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
  }
}

const bytesOf = (database: DatabaseSync) =>
  Number(database.prepare('pragma page_count').get()?.page_count) * 4096
