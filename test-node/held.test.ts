import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Shared, shareService } from './shared-service.ts'

// A brand sends its events before its customers, in parallel bulks, and no cron is fired by hand.

const EVENTS = 4000
const CUSTOMERS = 1200
const BULK = 500
/** How many bulks are sent at the same time. */
const PARALLEL = 8
/** How long the release may take after the last response, in milliseconds. */
const RELEASE_LIMIT_MS = 30_000

let service: Shared
before(async () => {
  service = await shareService('held')
})
after(() => service?.stop())

async function request(path: string, body?: object) {
  const { base_url, accounts } = service.demo
  const { brand_token } = accounts.find(({ vertical }) => vertical === 'igaming')!
  const response = await fetch(`${base_url}/tracking/events/${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': brand_token, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${response.status} ${text.slice(0, 900)}`)
  return JSON.parse(text)
}

/** Sends records in bulks, several at the same time. Returns the sums of their outcomes. */
async function sendAll(path: string, records: readonly object[]) {
  const sums: Record<string, number> = {}
  let next = 0
  const sendNext = async () => {
    while (next < records.length) {
      const bulk = records.slice(next, next + BULK)
      next += BULK
      const { summary } = await request(path, bulk)
      for (const [name, n] of Object.entries<number>(summary)) sums[name] = (sums[name] ?? 0) + n
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, sendNext))
  return sums
}

/** Each bulk of customers has more events than one request releases. */
const customerOf = (i: number) => `h-${i % CUSTOMERS}`

test('4,000 held events are released within seconds after their customers, and counted exactly', async () => {
  const events = Array.from({ length: EVENTS }, (_, i) => ({
    eventname: 'Deposit',
    customerid: customerOf(i),
    eventid: `e-${i}`,
    createtime: `2026-10-${String(1 + (i % 28)).padStart(2, '0')} 10:00`,
    Value: 1 + (i % 7) / 100,
    Currency: 'EUR',
  }))
  const customers = [...new Set(events.map(({ customerid }) => customerid))].map((customerId) => ({
    customerId,
    regtime: '2026-09-01 08:00',
    country: 'DE',
  }))
  const held = await sendAll('activities', events)
  assert.deepEqual([held.received, held.held], [EVENTS, EVENTS])
  const bulks = await sendAll('customers', customers)
  assert.equal(bulks.created, customers.length)

  const deadline = Date.now() + RELEASE_LIMIT_MS
  const heldNow = async () => (await request('held?per_page=1')).meta.total
  while ((await heldNow()) > 0 && Date.now() < deadline) await sleep(250)
  assert.equal(await heldNow(), 0)
  const { data } = await request('totals?from=2026-10-01&to=2026-10-31')
  const cents = (amounts: readonly (number | string)[]) =>
    amounts.reduce<number>((sum, amount) => sum + Math.round(Number(amount) * 100), 0)
  const ofActivities = data.filter((one: { resource: string }) => one.resource === 'activities')
  const counts = ofActivities.map(({ count }: { count: number }) => count)
  assert.equal(
    counts.reduce((sum: number, count: number) => sum + count, 0),
    EVENTS,
  )
  assert.equal(
    cents(ofActivities.map(({ sums }: { sums: { Value: string } }) => sums.Value)),
    cents(events.map(({ Value }) => Value)),
  )
  const replay = await request('activities', events.slice(0, BULK))
  assert.equal(replay.summary.unchanged, BULK)
})
