import { join } from 'node:path'
import type { Usage } from '../../scripts/capacity/prices.ts'
import { shortId } from '../../src/db/short-id.ts'
import { buildPeer } from '../build.ts'
import { type Counts, METER_PATH } from '../cost/meter.ts'
import { expectOk } from '../http.ts'
import { MIGRATIONS } from '../schema.ts'
import { execute, type Running, start } from '../worker.ts'
import { ACCOUNT, DAYS, VERTICAL, type Work } from './work.ts'

/** A resource of the account. */
export type Filled = 'customers' | 'transactions' | 'trading-activity'

/** The resources, and their shares of all records in percent. */
const SHARES = { customers: 5, transactions: 45, 'trading-activity': 50 } satisfies Record<
  Filled,
  number
>
const RESOURCES = Object.keys(SHARES) as Filled[]

const FIRST_DAY = Date.parse(DAYS[0]) / 86_400_000
const DELIVERY = `'dlv_' || hex(zeroblob(9)) || substr('0000000' || (i / 100), -8)`
const upTo = (count: number) =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`

/** Stores random UUIDs by numbers, as columns of ids have them. */
async function storeIds(running: Running, count: number): Promise<void> {
  await execute(running, ['create table ids (i integer primary key, id text not null)'])
  const sql = 'insert into ids (id) select value from json_each(?)'
  for (let left = count; left > 0; left -= 10_000) {
    const ids = Array.from({ length: Math.min(left, 10_000) }, () => shortId(crypto.randomUUID()))
    await running.database.prepare(sql).bind(JSON.stringify(ids)).run()
  }
}

/** Returns the statement that stores the rows of each resource. */
function fillStatements({ customers, ...counts }: Record<Filled, number>): Record<Filled, string> {
  const customer = `(select id from ids where i = 1 + n.i % ${customers})`
  return {
    customers: `insert into customers (account, customer_id, affiliate_id, day, delivery, idx, revision, email, lang_id)
      select '${ACCOUNT}', id, 'aff-' || i % 50, ${FIRST_DAY} + i % 30, ${DELIVERY}, i % 100, 1,
        'customer' || i || '@example.com', 'de' from ids where i <= ${customers}`,
    transactions: `${upTo(counts.transactions)} insert into transactions (account, transaction_id, customer_id,
        transaction_type, amount_currency, currency, transaction_date, status, amount_usd, day, held, delivery, idx,
        revision)
      select '${ACCOUNT}', (select id from ids where i = ${customers} + n.i), ${customer}, 'deposit', (i % 100000) / 100.0, 'EUR',
        (${FIRST_DAY} + i % 30) * 86400000 + i % 86400 * 1000, 'completed', (i % 90000) / 100.0,
        ${FIRST_DAY} + i % 30, 0, ${DELIVERY}, i % 100, 1 from n`,
    'trading-activity': `${upTo(counts['trading-activity'])} insert into activity (account, date, customer_id,
        instrument, currency, lots_traded, pnl, volume_usd, held, delivery, idx, revision)
      select '${ACCOUNT}', ${FIRST_DAY} + i % 30, ${customer}, 'PAIR-' || (i / ${customers}), 'USD',
        (i % 1000) / 100.0, (i % 70000) / 100.0, i % 1000000, 0, ${DELIVERY}, i % 100, 1 from n`,
  }
}

/** What something reads and writes, and what it leaves. */
export interface ObjectCost {
  readonly title: string
  /** The records that it is about. */
  readonly records: number
  /** What the platform bills, with the CPU time of the whole local runtime. */
  readonly usage: Usage
  /** The objects that it leaves, and their bytes. */
  readonly objects: number
  readonly bytes: number
  /** The bytes of D1 that it frees. */
  readonly freed: number
}

/** Bytes for each record. */
export interface RecordBytes {
  readonly resource: Filled
  readonly database: number
  readonly exported: number
}

/** Returns the bytes of the pages that the database uses. */
async function usedBytes({ database }: Running): Promise<number> {
  const { meta } = await database.prepare('select 1').run()
  return meta.size_after
}

/** Does something to its end. Returns what the platform bills for it. */
async function billOf(running: Running, work: Work): Promise<Usage> {
  const cpu = running.cpu() ?? Number.NaN
  await expectOk(running.url, { body: JSON.stringify(work) })
  const cpuMs = (running.cpu() ?? Number.NaN) - cpu
  const { usage }: Counts = JSON.parse(await expectOk(new URL(METER_PATH, running.url)))
  return { ...usage, cpuMs }
}

/** Returns how many objects the bucket has whose keys begin with a text, and their bytes. */
async function objectsOf({ miniflare }: Running, prefix: string) {
  const bucket = await miniflare.getR2Bucket('ARCHIVE')
  let [objects, bytes] = [0, 0]
  for (let cursor: string | undefined; ; ) {
    const page = await bucket.list({ prefix, ...(cursor && { cursor }) })
    objects += page.objects.length
    bytes += page.objects.reduce((sum, { size }) => sum + size, 0)
    if (!page.truncated) return { objects, bytes }
    cursor = page.cursor
  }
}

const ARCHIVED = ['transactions', 'trading-activity'] as const
const NOTHING = { objects: 0, bytes: 0, freed: 0 }

/** Exports the records, twice, then archives each resource, and restores it. */
async function measureCosts(running: Running, counts: Record<Filled, number>) {
  const records = Object.values(counts).reduce((sum, count) => sum + count, 0)
  await billOf(running, { work: 'keepTotals' })
  const costs: ObjectCost[] = []
  for (const title of ['exported', 'exported again, unchanged']) {
    const usage = await billOf(running, { work: 'exportAll' })
    costs.push({ title, records, usage, ...NOTHING })
  }
  const exported = new Map<Filled, number>()
  for (const resource of RESOURCES) {
    const { bytes } = await objectsOf(running, `exports/${ACCOUNT}/${resource}/`)
    exported.set(resource, bytes / counts[resource])
  }
  costs[0] = { ...costs[0]!, ...(await objectsOf(running, 'exports/')) }
  for (const resource of ARCHIVED) {
    const before = await usedBytes(running)
    const usage = await billOf(running, { work: 'archive', resource })
    const left = await objectsOf(running, `archive/${ACCOUNT}/${resource}/`)
    const freed = before - (await usedBytes(running))
    costs.push({ title: `${resource}: archived`, records: counts[resource], usage, ...left, freed })
  }
  for (const resource of ARCHIVED) {
    const usage = await billOf(running, { work: 'restore', resource })
    costs.push({ title: `${resource}: restored`, records: counts[resource], usage, ...NOTHING })
  }
  return { costs, exported }
}

/** Returns how many of some records are of each resource. */
export const countsOf = (records: number): Record<Filled, number> =>
  Object.fromEntries(
    RESOURCES.map((resource) => [resource, Math.round((records * SHARES[resource]) / 100)]),
  ) as Record<Filled, number>

/** Stores this many records of a month, and measures what their export and their archive cost. */
export async function measureObjects(
  folder: string,
  records: number,
): Promise<{ readonly bytes: readonly RecordBytes[]; readonly costs: readonly ObjectCost[] }> {
  const script = await buildPeer('bench/objects/worker.ts')
  const running = await start(script, join(folder, 'objects'), {
    env: { ARCHIVE: { type: 'r2', name: 'archive' } },
  })
  try {
    const counts = countsOf(records)
    await execute(running, [
      ...MIGRATIONS,
      `insert into accounts (id, name, vertical, mode, unknown_customer, exports, created_at)
       values ('${ACCOUNT}', 'Acme', '${VERTICAL}', 'test', 'reject', 'without_personal_data',
         '2026-01-01T00:00:00.000Z')`,
    ])
    await storeIds(running, counts.customers + counts.transactions)
    const fills = fillStatements(counts)
    const database = new Map<Filled, number>()
    for (const resource of RESOURCES) {
      const before = await usedBytes(running)
      await execute(running, [fills[resource]])
      database.set(resource, ((await usedBytes(running)) - before) / counts[resource])
    }
    const { costs, exported } = await measureCosts(running, counts)
    const bytes = RESOURCES.map((resource) => ({
      resource,
      database: database.get(resource) ?? 0,
      exported: exported.get(resource) ?? 0,
    }))
    return { bytes, costs }
  } finally {
    await running.end()
  }
}
