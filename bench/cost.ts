import type { Scale } from './compete.ts'
import { expectOk } from './http.ts'
import {
  ASSUMPTIONS,
  CLICK_ROWS_WRITTEN,
  DELIVERY_ROWS_WRITTEN,
  modelTable,
  ROWS_WRITTEN,
} from './model.ts'
import { type Chapter, format } from './print.ts'
import { PER_BULK } from './records.ts'
import { MIGRATIONS } from './schema.ts'
import { callAdmin, newToken, startMetered, takeCounts } from './service.ts'
import { execute, type Running } from './worker.ts'

/** Makes a record: of a later version, or on another day. */
type RecordMaker = (i: number, version: { changed?: boolean; moved?: boolean }) => object

/** One resource, and the least rows that a new record of it writes: itself and each entry of an index. */
interface Work {
  readonly resource: string
  readonly to: 'partner' | 'brand'
  readonly path: string
  readonly floor: number
  readonly make: RecordMaker
  /** Whether its records can move to another day: otherwise the day is part of their key. */
  readonly canMove: boolean
}

const DAYS = ['2026-10-02', '2026-10-03'] as const
const SIGNUP_DAYS = ['2026-09-30', '2026-10-01'] as const
const dayOf = (days: readonly string[], moved = false) => days[Number(moved)]

const WORKS: readonly Work[] = [
  {
    resource: 'customers',
    to: 'partner',
    path: '/api/v1/forex/customers',
    floor: ROWS_WRITTEN.customers,
    make: (i, { changed, moved }) => ({
      customer_id: `C-${i}`,
      signup_date: `${dayOf(SIGNUP_DAYS, moved)}T08:30:00.000Z`,
      last_modified_date: '2026-10-04T08:30:00.000Z',
      affiliate_id: 'IB-07',
      tracking_data: 'click-42',
      country_code: 'DE',
      email: changed ? `new-${i}@example.com` : `c-${i}@example.com`,
    }),
    canMove: true,
  },
  {
    resource: 'transactions',
    to: 'partner',
    path: '/api/v1/forex/transactions',
    floor: ROWS_WRITTEN.transactions,
    make: (i, { changed, moved }) => ({
      transaction_id: `T-${i}`,
      customer_id: `C-${i}`,
      transaction_type: i % 3 ? 'deposit' : 'withdrawal',
      amount_currency: 100 + (i % 900) / 4,
      currency: 'EUR',
      transaction_date: `${dayOf(DAYS, moved)}T09:30:00.000Z`,
      status: changed ? 'approved' : 'pending',
    }),
    canMove: true,
  },
  {
    resource: 'trading-activity',
    to: 'partner',
    path: '/api/v1/forex/trading-activity',
    floor: ROWS_WRITTEN['trading-activity'],
    make: (i, { changed }) => ({
      customer_id: `C-${i}`,
      date: DAYS[0],
      instrument: 'EURUSD',
      currency: 'USD',
      lots_traded: changed ? 2.5 : 1.5,
      pnl: (i % 100) / 4,
    }),
    canMove: false,
  },
  {
    resource: 'customers of a brand',
    to: 'brand',
    path: '/tracking/events/customers',
    floor: 2,
    make: (i, { changed, moved }) => ({
      customerId: `P-${i}`,
      regtime: `${dayOf(SIGNUP_DAYS, moved)} 08:30`,
      country: 'DE',
      newsletter: changed ? 'no' : 'yes',
    }),
    canMove: true,
  },
  {
    resource: 'activities of a brand',
    to: 'brand',
    path: '/tracking/events/activities',
    floor: 2,
    make: (i, { changed, moved }) => ({
      eventname: 'Deposit',
      customerid: `P-${i}`,
      eventid: `E-${i}`,
      createtime: `${dayOf(DAYS, moved)} 09:30`,
      Value: changed ? '120.00' : '100.00',
      Currency: 'EUR',
    }),
    canMove: true,
  },
]

/** What happens to records, and how many rows each writes at least. */
const PHASES: readonly {
  readonly phase: string
  readonly outcome: string
  readonly version: Parameters<RecordMaker>[1]
  readonly floorOf: (work: Work) => number
}[] = [
  { phase: 'new', outcome: 'created', version: {}, floorOf: ({ floor }) => floor },
  { phase: 'changed', outcome: 'updated', version: { changed: true }, floorOf: () => 1 },
  {
    phase: 'on another day',
    outcome: 'updated',
    version: { changed: true, moved: true },
    // The record is written at its new place, and an index points there.
    floorOf: () => 2,
  },
  { phase: 'repeated', outcome: 'unchanged', version: { changed: true }, floorOf: () => 0 },
]

/** Clicks are followed one at a time, and stored in batches of the queue. */
const MOST_CLICKS = 200
const CLICKS_PER_BATCH = 100

/** How far the rows written may be above those of the model, as a share of them. */
const TOLERANCE = 0.1

/** The rows of one kind of work. */
interface Measured {
  readonly what: string
  readonly records: number
  readonly requests: number
  readonly floor: number
  readonly rowsWritten: number
  readonly rowsRead: number
}

/**
 * Counts the rows of each kind of record, compares them with those of the model, and prints what the model makes
 * of them. Sets the exit code 1 if the service writes more.
 */
export async function cost(folder: string, { records }: Scale): Promise<Chapter> {
  const running = await startMetered(folder)
  try {
    await execute(running, MIGRATIONS)
    const measured = await measure(running, records)
    const above = measured.filter(isAboveModel).map(({ what }) => what)
    if (above.length > 0) process.exitCode = 1
    return {
      title: 'Cost',
      notes: `Rows that the platform bills, counted at ${format(records)} records of each kind in bulks of ${format(PER_BULK)}. The floor is the record and each new entry of an index. ${above.length === 0 ? 'All are within those of the model.' : `Above the model: ${above.join(', ')}.`}\n\n${ASSUMPTIONS}`,
      tables: [
        [
          ['a record', 'floor', 'rows written', 'rows read', 'besides, a request'],
          ...measured.map(({ what, records, requests, floor, rowsWritten, rowsRead }) => [
            what,
            format(floor, 2),
            format(rowsWritten / records, 2),
            format(rowsRead / records, 1),
            format((rowsWritten - floor * records) / requests, 1),
          ]),
        ],
        modelTable(),
      ],
    }
  } finally {
    await running.end()
  }
}

const isAboveModel = ({ records, requests, floor, rowsWritten }: Measured): boolean =>
  rowsWritten > floor * records * (1 + TOLERANCE) + DELIVERY_ROWS_WRITTEN * requests

async function measure(running: Running, records: number): Promise<Measured[]> {
  const newHeaders = {
    partner: await partnerOf(running),
    brand: await brandOf(running),
  }
  const measured: Measured[] = []
  for (const work of WORKS) {
    const headers = { ...(await newHeaders[work.to]()), 'Content-Type': 'application/json' }
    for (const phase of PHASES) {
      if (phase.version.moved && !work.canMove) continue
      const version = phase.outcome === 'unchanged' ? lastVersionOf(work) : phase.version
      const url = new URL(work.path, running.url)
      await takeCounts(running)
      let requests = 0
      for (let i = 0; i < records; i += PER_BULK, requests++) {
        const count = Math.min(PER_BULK, records - i)
        const bulk = Array.from({ length: count }, (_, j) => work.make(i + j, version))
        const text = await expectOk(url, { headers, body: JSON.stringify(bulk) })
        const { summary } = JSON.parse(text)
        if (summary[phase.outcome] !== count) throw new Error(`${work.resource}: ${text}`)
      }
      const { rowsRead, rowsWritten } = await takeCounts(running)
      const what = `${work.resource}: ${phase.phase}`
      measured.push({
        ...{ what, records, requests, floor: phase.floorOf(work), rowsRead, rowsWritten },
      })
    }
  }
  return [...measured, await measureClicks(running, Math.min(records, MOST_CLICKS))]
}

const lastVersionOf = ({ canMove }: Work) => ({ changed: true, moved: canMove })

/** Creates an account with one affiliate, and returns its path. */
async function newAccount(running: Running, account: string, vertical: string): Promise<string> {
  const policies = { name: account, vertical, unknown_customer: 'reject', mode: 'test' }
  await callAdmin(running, 'POST', 'accounts', { account, ...policies })
  await callAdmin(running, 'PUT', `accounts/${account}/affiliates`, [{ affiliate_id: 'IB-07' }])
  return `accounts/${account}`
}

/** Creates an account, and returns a function that issues a token: each allows 1000 requests a minute. */
async function partnerOf(running: Running): Promise<() => Promise<Record<string, string>>> {
  const at = await newAccount(running, 'partner', 'forex')
  const client = await callAdmin(running, 'POST', `${at}/clients`, {})
  return () => newToken(running, client)
}

async function brandOf(running: Running): Promise<() => Promise<Record<string, string>>> {
  const at = await newAccount(running, 'brand', 'igaming')
  return async () => {
    const { brand_token } = await callAdmin(running, 'POST', `${at}/brand-tokens`, {})
    return { 'x-api-key': brand_token }
  }
}

/** Follows a link, and waits until the queue has stored all clicks. */
async function measureClicks(running: Running, records: number): Promise<Measured> {
  const link = { affiliate_id: 'IB-07', landing_page: 'https://landing.example/start' }
  const { link_id } = await callAdmin(running, 'POST', 'accounts/brand/links', link)
  await takeCounts(running)
  for (let i = 0; i < records; i++) await expectOk(new URL(`/go/${link_id}`, running.url))
  const count = running.database.prepare('select count(*) as n from clicks')
  for (let tries = 0; (await count.first('n')) !== records; tries++) {
    if (tries === 100) throw new Error('The queue did not deliver all clicks.')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const { rowsRead, rowsWritten } = await takeCounts(running)
  const requests = Math.ceil(records / CLICKS_PER_BATCH)
  return { what: 'clicks', records, requests, floor: CLICK_ROWS_WRITTEN, rowsRead, rowsWritten }
}
