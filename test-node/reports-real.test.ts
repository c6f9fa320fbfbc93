import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { execute, MIGRATIONS, type Running, start } from '../chaos/workerd.ts'
import { computeReport } from '../src/reports/compute.ts'
import { oracle } from '../test/reports/oracle.ts'
import { sortedReport } from '../test/reports/sorted.ts'
import { storeWorld } from '../test/reports/store-world.ts'
import { dayOf, type Vertical, type World } from '../test/reports/world.ts'
import { ratesOf } from './commission-real/worlds.ts'

// Reports on real records. These are not in the repository, since their sources state no licence:
// REAL_RECORDS names the folder that has them, beside the rates of the ECB. Elsewhere this file has no
// tests: test/reports/worlds.test.ts compares random records.

const FOLDER = process.env.REAL_RECORDS ?? '../shared/data/real'

type Sent = Record<string, string | number>
const records = (name: string): Sent[] =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))

const text = (value: string | number | undefined) => (value === undefined ? null : String(value))
const number = (value: string | number | undefined) => (value === undefined ? null : Number(value))

/** Returns a world without records. */
function emptyWorld(account: string, vertical: Vertical): World {
  const rates = ratesOf(readFileSync(join(FOLDER, '../ecb-euro-reference-rates.csv'), 'utf8'))
  return {
    account,
    vertical,
    statusMap: {},
    eventCurrencies: {},
    links: {},
    customers: [],
    transactions: [],
    activity: [],
    events: [],
    clicks: [],
    statements: [],
    configured: [],
    rates: rates.map((one) => ({ ...one, day: dayOf(one.day) })),
  }
}

const customer = (id: string, day: number, affiliate: string | null, country: string | null) => {
  const from = Number.NEGATIVE_INFINITY
  const fields = { country_code: country, kyc_status_id: null, sales_status_id: null, link: null }
  return {
    id,
    day,
    owners: [{ from, value: { affiliate, link: null } }],
    fields: [{ from, value: { ...fields, trading_account_type: null } }],
  }
}

function forexWorld(): World {
  // With those of earlier years there would be five times as many.
  const sent = records('forex-transactions').filter((one) => String(one.transaction_date) >= '1998')
  const activity = ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission']
  return {
    ...emptyWorld('real-forex', 'forex'),
    configured: [
      ...new Set(records('forex-customers').flatMap((one) => text(one.affiliate_id) ?? [])),
    ],
    customers: records('forex-customers').map((one) => {
      const day = dayOf(String(one.signup_date).slice(0, 10))
      return customer(String(one.customer_id), day, text(one.affiliate_id), text(one.country_code))
    }),
    transactions: sent.map((one) => ({
      id: String(one.transaction_id),
      customer: String(one.customer_id),
      held: false,
      type: String(one.transaction_type),
      status: String(one.status),
      currency: String(one.currency),
      amount: Number(one.amount_currency),
      day: dayOf(String(one.transaction_date).slice(0, 10)),
      at: Date.parse(String(one.transaction_date)),
      usd: number(one.amount_usd),
    })),
    activity: records('forex-trading-activity').map((one) => ({
      customer: String(one.customer_id),
      day: dayOf(String(one.date)),
      held: false,
      instrument: String(one.instrument),
      currency: String(one.currency),
      amounts: Object.fromEntries(activity.map((name) => [name, number(one[name])])),
    })),
  }
}

function brandWorld(): World {
  // With those of the first two months there would be three times as many.
  const sent = records('igaming-activities').filter((one) => String(one.createtime) >= '2016-12')
  return {
    ...emptyWorld('real-brand', 'igaming'),
    customers: records('igaming-customers').map(({ customerId, regtime, country }) =>
      customer(String(customerId), dayOf(String(regtime).slice(0, 10)), null, text(country)),
    ),
    events: sent.map((one) => ({
      id: `e ${one.eventid}`,
      customer: String(one.customerid),
      held: false,
      value: null,
      name: String(one.eventname),
      currency: text(one.Currency),
      day: dayOf(String(one.createtime).slice(0, 10)),
      product: text(one.Product)?.toLowerCase() ?? null,
      kpis: Object.fromEntries(
        ['GGR', 'NGR', 'Bets', 'Games'].flatMap((name) =>
          one[name] === undefined ? [] : [[name, Number(one[name])]],
        ),
      ),
    })),
  }
}

const tests = existsSync(FOLDER) ? describe : () => {}

tests('reports of real records equal those of the oracle', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-reports-'))
  let running: Running
  before(async () => {
    const worker = 'export default { fetch: () => new Response() }'
    running = await start(worker, folder)
    await execute(running, MIGRATIONS)
  })
  after(async () => {
    await running.end()
    rmSync(folder, { recursive: true })
  })

  const check = async (world: World, queries: readonly (readonly string[])[]) => {
    await storeWorld(running.database, world)
    for (const [from = '', to = '', currency = '', ...groups] of queries) {
      const query = { from, to, currency, groups }
      const { account, vertical } = world
      // Only the methods of both are used.
      const session = running.database as unknown as D1DatabaseSession & D1Database
      const report = await computeReport(
        { session, directory: session },
        { account, vertical },
        { ...query, metrics: null },
        Date.now(),
      )
      const clicksFrom = Math.floor(Date.now() / 86_400_000) - 30
      const expected = oracle(world, { ...query, clicksFrom })
      assert.ok(report.data.length > 0)
      assert.deepEqual(sortedReport(report), sortedReport(expected), JSON.stringify(query))
    }
  }

  test('deposits of a bank and lots of traders', async () => {
    await check(forexWorld(), [
      ['1998-01-01', '1998-12-31', 'CZK', 'affiliate_id', 'month'],
      ['1998-01-01', '1998-12-31', 'EUR', 'transaction_type', 'week'],
      ['1998-06-01', '1998-12-31', 'CZK', 'country_code'],
      ['2024-05-01', '2025-04-30', 'EUR', 'instrument', 'month'],
      ['2019-01-01', '2019-12-31', 'USD', 'day'],
    ])
  })

  test('revenue of brands by product and month', async () => {
    await check(brandWorld(), [
      ['2016-12-01', '2017-09-30', 'USD', 'product', 'month'],
      ['2016-12-01', '2017-09-30', 'EUR', 'country_code', 'week'],
      ['2019-06-01', '2020-05-30', 'GBP', 'day', 'eventname'],
    ])
  })
})
