import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CUSTOMER_LIMITS } from '../../src/archive/customer-records.ts'
import { OBJECT_LIMITS } from '../../src/archive/object.ts'
import { archivedResources, archiveMonths, keepTotals } from '../archive-steps.ts'
import { ada, askAdmin, json } from '../partner.ts'
import { randomBrand, randomPartner, rowsOf } from './kept-firms.ts'
import { randomSource } from './worlds.ts'

// What archived records earn is read from their objects, and is what they earned before.

const usual = { ...OBJECT_LIMITS }
beforeEach(() => {
  Object.assign(OBJECT_LIMITS, { ...usual, records: 9, group: 4 })
})
afterEach(() => {
  Object.assign(OBJECT_LIMITS, usual)
  Object.assign(CUSTOMER_LIMITS, { objects: 24 })
})

const MONTHS = Array.from({ length: 24 }, (_, i) =>
  new Date(Date.UTC(2029, i)).toISOString().slice(0, 7),
)
const CUSTOMERS = Array.from({ length: 10 }, (_, i) => ({
  ...{ ...ada, customer_id: `c-${i}`, affiliate_id: 'a-1', signup_date: '2029-03-03T08:00:00Z' },
}))

const dayText = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)

/** Returns the paths of the earnings of all records of an account. */
async function pathsOf(account: string): Promise<string[]> {
  const transactions = await rowsOf('transactions', account)
  const activity = await rowsOf('activity', account)
  const events = await rowsOf('events', account)
  return [
    ...transactions.map(({ transaction_id }) => `transactions/${transaction_id}/earnings`),
    ...activity.map(({ date, customer_id, instrument, currency }) => {
      const key = { date: dayText(Number(date)), customer_id, instrument, currency }
      return `trading-activity/earnings?${new URLSearchParams(key as Record<string, string>)}`
    }),
    ...events.map(({ id }) => `activities/earnings?${new URLSearchParams({ id: String(id) })}`),
  ]
}

/** Archives all months of an account that may be archived. Returns their number. */
async function archiveAll(account: string, vertical: string) {
  await keepTotals(account, vertical, '2029-01-01', '2030-12-31')
  return archiveMonths(account, archivedResources(vertical), MONTHS)
}

/** The number of months that are to come back. */
const wanted = async () =>
  (await env.DB.prepare('select * from archived_months where wanted_at is not null').all()).results
    .length

/** Opens a firm with random records. */
async function world(kind: 'partner' | 'brand') {
  const open = kind === 'partner' ? randomPartner : randomBrand
  const firm = await open(kind, randomSource(env.SEED * 1000 + 7))
  for (let n = 0; n < 40; n++) await firm.change()
  if (kind === 'partner') await firm.post('customers', CUSTOMERS)
  const read = (path: string) => json(askAdmin(`accounts/${kind}/${path}`))
  return { read, vertical: kind === 'partner' ? 'forex' : 'igaming' }
}

test.each(['partner', 'brand'] as const)(
  'earnings of archived records of a random %s are those of before',
  async (kind) => {
    const { read, vertical } = await world(kind)
    const paths = await pathsOf(kind)
    const before = new Map<string, Record<string, unknown>>()
    for (const path of paths) before.set(path, await read(path))
    expect([...before.values()].some(({ lines }) => (lines as unknown[])?.length > 0)).toBe(true)
    expect(await archiveAll(kind, vertical)).toBeGreaterThan(3)
    let fromArchive = 0
    for (const [path, earnings] of before) {
      const { archived, ...after } = await read(path)
      if (archived) fromArchive += 1
      const same = after.request_id ? { ...earnings, request_id: after.request_id } : earnings
      expect(after, path).toEqual(same)
    }
    expect(fromArchive).toBeGreaterThan(3)
    expect(await wanted()).toBe(0)
  },
)

test.each(['partner', 'brand'] as const)(
  'what a customer of a random %s earned, and what they did not, is the same without their records',
  async (kind) => {
    const { read, vertical } = await world(kind)
    const rows = await rowsOf(kind === 'partner' ? 'activity' : 'events', kind)
    const places = rows.map(
      ({ customer_id, date, day }) => `${customer_id} ${dayText(Number(date ?? day)).slice(0, 7)}`,
    )
    const paths = [...new Set(places)].slice(0, 8).flatMap((place) => {
      const [customer, period] = place.split(' ')
      return [
        `customers/${customer}/lines?period=${period}`,
        `unearned?customer_id=${customer}&period=${period}`,
        `unearned/facts?customer_id=${customer}&period=${period}`,
        `qualifications?customer_id=${customer}&period=${period}`,
      ]
    })
    const before: unknown[] = []
    for (const path of paths) before.push(await read(path))
    expect(JSON.stringify(before)).toContain('line_id')
    expect(await archiveAll(kind, vertical)).toBeGreaterThan(3)
    for (const [i, path] of paths.entries()) expect(await read(path), path).toEqual(before[i])
    expect(await wanted()).toBe(0)
  },
)

test('earnings that need too many objects have their months restored', async () => {
  const { read, vertical } = await world('partner')
  const paths = await pathsOf('partner')
  await archiveAll('partner', vertical)
  Object.assign(CUSTOMER_LIMITS, { objects: 0 })
  const statuses = new Set<unknown>()
  for (const path of paths) statuses.add((await read(path)).status)
  expect(statuses).toContain(503)
  expect(await wanted()).toBeGreaterThan(0)
})
