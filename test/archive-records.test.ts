import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { archiveStep } from '../src/archive/archive-month.ts'
import { restoreStep } from '../src/archive/restore-month.ts'
import { readMonth } from '../src/db/archive/months.ts'
import type { ArchivedResource } from '../src/db/archive/tables.ts'
import {
  archive,
  formOfResource,
  keepTotals,
  monthOf,
  place,
  takeSmallSteps,
  takeUsualSteps,
} from './archive-steps.ts'
import { deposited, eve, storedBrand } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { overriding } from './overriding.ts'
import { ada, askAdmin, deposit, json, ORIGIN, partner, traded } from './partner.ts'

// Single records of archived months are read from their objects.

beforeEach(takeSmallSteps)
afterEach(takeUsualSteps)

const UUID = '7d0c5f9a-1b2c-4d3e-8f4a-5b6c7d8e9f01'

/** Returns a firm with 13 transactions and 13 activities in October. */
async function firm() {
  const acme = await partner('forex', { account: 'acme' })
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
  const days = Array.from({ length: 13 }, (_, i) => ({
    day: `2026-10-${String(1 + ((i * 5) % 9)).padStart(2, '0')}`,
    customer_id: i % 2 ? 'c-1' : 'c-2',
    transaction_id: i === 7 ? UUID : `t/${i}`,
  }))
  const sent = await acme.post(
    'transactions',
    days.map(({ day, ...ids }) => ({ ...deposit, ...ids, transaction_date: `${day}T09:30:00Z` })),
  )
  expect(sent.status).toBe(200)
  const activity = days.map(({ day, customer_id }, i) => ({
    ...{ ...traded, customer_id, date: day, instrument: `EUR${i}` },
  }))
  expect((await acme.post('trading-activity', activity)).status).toBe(200)
  await keepTotals('acme', 'forex', '2026-10-01', '2026-10-31')
  return acme
}

type Firm = Awaited<ReturnType<typeof firm>>

/** Reads a path: of the account itself, or of the integrations team. */
const readAs = (acme: Firm, path: string) =>
  json(path.startsWith('transactions') ? acme.get(path) : askAdmin(`accounts/acme/${path}`))

/** Leaves out that records come from the archive. */
const withoutMark = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body, (name, value) => (name === 'archived' ? undefined : value)))

describe('an archived record', () => {
  test.for<[path: string, resource: ArchivedResource, isMarked: boolean]>([
    ['transactions/t%2F3', 'transactions', false],
    [`transactions/${UUID}`, 'transactions', false],
    ['records?id=t/4', 'transactions', true],
    [`records?id=${UUID}`, 'transactions', true],
    [`records?match=beginning&id=${UUID.slice(0, 11)}`, 'transactions', true],
    ['records?match=beginning&id=t/1', 'transactions', true],
    ['records?id=2026-10-06%7Cc-1%7CEUR1%7CUSD', 'trading-activity', true],
    ['deliveries?record_id=t/5', 'transactions', false],
  ])(
    'is read from its row group, at every state of its month: GET %s',
    async ([path, resource, isMarked]) => {
      const acme = await firm()
      const before = await readAs(acme, path)
      expect(before.detail).toBeUndefined()
      expect((before.stored ?? before.data ?? [1]).length).toBeGreaterThan(0)
      const month = monthOf('acme', resource)
      const task = { month, form: formOfResource(resource) }
      const check = async () => expect(withoutMark(await readAs(acme, path))).toEqual(before)
      while (await archiveStep(place, task, Date.now())) await check()
      expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived', wanted_at: null })
      const archived = await readAs(acme, path)
      expect(withoutMark(archived)).toEqual(before)
      expect(JSON.stringify(archived).includes('"archived":true')).toBe(isMarked)
      while (await restoreStep(place, month)) await check()
      await check()
    },
  )

  test('is one of a brand, too', async () => {
    const casino = await storedBrand({ account: 'casino' })
    await casino.post('customers', [eve])
    const events = Array.from({ length: 20 }, (_, i) => ({
      ...{ ...deposited, eventid: `e-${i}`, createtime: `2026-10-0${1 + (i % 9)} 10:00:00` },
    }))
    expect((await casino.post('activities', events)).status).toBe(200)
    await keepTotals('casino', 'igaming', '2026-10-01', '2026-10-31')
    const read = () => json(askAdmin('accounts/casino/records?id=e-11'))
    const before = await read()
    expect(before.data).toHaveLength(1)
    await archive(monthOf('casino', 'activities'))
    const archived = await read()
    expect(archived.data[0].archived).toBe(true)
    expect(withoutMark(archived)).toEqual(before)
  })

  test('needs one object, and nothing that is not archived needs any', async () => {
    const acme = await firm()
    await archive(monthOf('acme', 'transactions'))
    await archive(monthOf('acme', 'trading-activity'))
    const keys: string[] = []
    const get = (key: string) => {
      keys.push(key)
      return env.ARCHIVE.get(key)
    }
    const objectsOf = async (path: string) => {
      keys.length = 0
      const headers = { Authorization: `Bearer ${env.ADMIN_KEY}` }
      const { status } = await fetchWith(
        { ...env, ARCHIVE: overriding(env.ARCHIVE, { get }) },
        new Request(new URL(`/admin/v1/accounts/acme/${path}`, ORIGIN), { headers }),
        createExecutionContext(),
      )
      return [status, keys.length]
    }
    expect(await objectsOf('records?id=t/3')).toEqual([200, 1])
    expect(await objectsOf('records?id=2026-10-06%7Cc-1%7CEUR1%7CUSD')).toEqual([200, 1])
    expect(await objectsOf('records?id=2026-10-06%7Cc-9%7CEUR1%7CUSD')).toEqual([200, 0])
    expect(await objectsOf('records?id=nothing')).toEqual([200, 0])
    expect(await objectsOf('records?id=c-1')).toEqual([200, 0])
    expect((await acme.get('transactions/nothing')).status).toBe(404)
  })

  test('is refused if its object is damaged', async () => {
    const acme = await firm()
    await archive(monthOf('acme', 'transactions'))
    for (const { key } of (await env.ARCHIVE.list()).objects) await env.ARCHIVE.put(key, 'PAR1')
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const refused = await acme.get('transactions/t%2F3')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '60'])
    const { detail } = await json(refused)
    const { fault } = (await readMonth(env.DB, monthOf('acme', 'transactions')))!
    expect(detail).toContain(`An object of the archive is damaged: \`${fault}\``)
    expect(JSON.stringify(errors.mock.calls)).toContain('damaged_archive')
  })
})
