import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { archiveStep } from '../src/archive/archive-month.ts'
import { ARCHIVE_LIST_LIMITS } from '../src/archive/list-records.ts'
import { READ_LIMITS } from '../src/archive/reader.ts'
import { restoreStep } from '../src/archive/restore-month.ts'
import { readMonth } from '../src/db/archive/months.ts'
import type { ArchivedResource } from '../src/db/archive/tables.ts'
import {
  archive,
  formOfResource,
  keepTotals,
  monthOf,
  place,
  restore,
  takeSmallSteps,
  takeUsualSteps,
} from './archive-steps.ts'
import { deposited, eve, storedBrand } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { overriding } from './overriding.ts'
import { ada, askAdmin, deposit, json, ORIGIN, partner, traded } from './partner.ts'
import { countCalls } from './watched.ts'

// Lists answer from the objects of archived months: every record once, in the order of days.

beforeEach(takeSmallSteps)
afterEach(takeUsualSteps)

/** Customers whose ids sort differently as UTF-16 and as UTF-8, and one whose id is stored shorter. */
const CUSTOMERS = ['c-1', 'c-\u{1f600}', 'c-\ufb01', crypto.randomUUID()]
const MONTHS = ['2026-07', '2026-08', '2026-09', '2026-10', '2026-11']

type Firm = Awaited<ReturnType<typeof partner>>
type Reading = Pick<Firm, 'get'>

/** Returns a firm with records of five months. */
async function firm(): Promise<Firm> {
  const acme = await partner('forex', { account: 'acme' })
  await acme.post(
    'customers',
    CUSTOMERS.map((customer_id) => ({ ...ada, customer_id })),
  )
  const records = MONTHS.flatMap((month, m) =>
    Array.from({ length: 13 }, (_, i) => ({
      customer_id: CUSTOMERS[(i * 7 + m) % 4]!,
      day: `${month}-${String(1 + ((i * 5) % 7)).padStart(2, '0')}`,
      id: i % 3 === 0 ? crypto.randomUUID() : `${i}-${month}`,
    })),
  )
  const sent = await acme.post(
    'transactions',
    records.map(({ customer_id, day, id }, i) => ({
      ...{ ...deposit, customer_id, transaction_id: id, amount_currency: 100 + i / 4 },
      transaction_date: `${day}T09:30:00.000Z`,
    })),
  )
  expect(sent.status).toBe(200)
  const activity = records.map(({ customer_id, day }, i) => ({
    ...{ ...traded, customer_id, date: day, instrument: `EUR${i % 5}` },
  }))
  expect((await acme.post('trading-activity', activity)).status).toBe(200)
  await keepTotals('acme', 'forex', '2026-07-01', '2026-11-30')
  return acme
}

interface Walked {
  readonly data: Record<string, unknown>[]
  readonly pages: { readonly meta: Record<string, unknown>; readonly length: number }[]
}

/** Reads all pages of a list by cursor. `between` runs after each. */
async function walk(acme: Reading, path: string, between = async () => {}): Promise<Walked> {
  const data: Record<string, unknown>[] = []
  const pages: Walked['pages'] = []
  let cursor: string | null = null
  do {
    const [base, query] = path.split('?')
    const parameters = new URLSearchParams(query)
    if (cursor !== null) parameters.set('cursor', cursor)
    const page = await json(acme.get(`${base}?${parameters}`))
    expect(page).not.toHaveProperty('detail')
    data.push(...page.data)
    pages.push({ meta: page.meta, length: page.data.length })
    cursor = page.meta.next_cursor
    // A walk that is not over has shown something.
    if (cursor !== null) expect(page.data.length).toBeGreaterThan(0)
    await between()
  } while (cursor !== null)
  return { data, pages }
}

const sorted = (records: readonly object[]) => records.map((one) => JSON.stringify(one)).sort()

const customer = encodeURIComponent(CUSTOMERS[1]!)
const LISTS: readonly [path: string, resource: ArchivedResource][] = [
  ['transactions', 'transactions'],
  ['transactions?from=2026-08-03&to=2026-10-05', 'transactions'],
  ['transactions?to=2026-09-03', 'transactions'],
  ['transactions?from=2026-09-03', 'transactions'],
  [`transactions?customer_id=${customer}`, 'transactions'],
  [`transactions?customer_id=${CUSTOMERS[3]}&from=2026-08-02&to=2026-09-06`, 'transactions'],
  ['trading-activity', 'trading-activity'],
  ['trading-activity?from=2026-09-02&to=2026-09-30', 'trading-activity'],
  [`trading-activity?customer_id=${customer}&to=2026-10-04`, 'trading-activity'],
]

const withSize = (path: string, size: number) =>
  `${path}${path.includes('?') ? '&' : '?'}per_page=${size}`

describe('a list with archived months', () => {
  test.for(LISTS)(
    'has every record once, at every state of a month: %s',
    async ([path, resource]) => {
      const acme = await firm()
      const before = await walk(acme, withSize(path, 500))
      expect(before.data.length).toBeGreaterThan(3)
      await archive(monthOf('acme', resource, '2026-08'))
      const month = monthOf('acme', resource, '2026-09')
      const states = new Set<string | undefined>()
      const check = async () => {
        states.add((await readMonth(env.DB, month))?.state)
        for (const size of [3, 500]) {
          const after = await walk(acme, withSize(path, size))
          if (path === 'transactions') expect(sorted(after.data)).toEqual(sorted(before.data))
          else expect(after.data).toEqual(before.data)
          expect(after.pages.map(({ meta }) => meta.total)).toEqual(
            after.pages.map(() => before.pages[0]?.meta.total),
          )
          expect(after.pages[0]!.length).toBe(Math.min(size, before.data.length))
        }
      }
      const task = { month, form: formOfResource(resource) }
      await check()
      while (await archiveStep(place, task, Date.now())) await check()
      await check()
      while (await restoreStep(place, month)) await check()
      expect([...states].toSorted()).toEqual([
        ...['archived', 'ended', 'restoring', 'sealed', 'writing', undefined],
      ])
      await check()
    },
  )

  test.for(LISTS)(
    'has every record once while months leave and come back: %s',
    async ([path, resource]) => {
      const acme = await firm()
      const before = await walk(acme, withSize(path, 500))
      const months = MONTHS.map((month) => monthOf('acme', resource, month))
      await archive(months[3]!)
      let pages = 0
      const after = await walk(acme, withSize(path, 2), async () => {
        const month = months[pages % months.length]!
        pages += 1
        if ((await readMonth(env.DB, month)) === null) {
          await keepTotals('acme', 'forex', '2026-07-01', '2026-11-30')
          await archive(month)
        } else await restore(month)
      })
      if (path === 'transactions') expect(sorted(after.data)).toEqual(sorted(before.data))
      else expect(after.data).toEqual(before.data)
    },
  )

  test.for(LISTS)('has its pages by number, too: %s', async ([path, resource]) => {
    const acme = await firm()
    for (const month of ['2026-08', '2026-09', '2026-11']) {
      await archive(monthOf('acme', resource, month))
    }
    const whole = await walk(acme, withSize(path, 500))
    for (const size of [1, 4]) {
      const numbered: unknown[] = []
      for (let page = 1; page <= Math.ceil(whole.data.length / size); page++) {
        const found = await json(acme.get(`${withSize(path, size)}&page=${page}`))
        expect(found.meta.total).toBe(whole.pages[0]?.meta.total)
        numbered.push(...found.data)
      }
      expect(numbered).toEqual(whole.data)
      const beyond = await json(
        acme.get(`${withSize(path, size)}&page=${whole.data.length / size + 1}`),
      )
      if (whole.data.length % size === 0) expect(beyond.data).toEqual([])
    }
  })

  test('says which pages have archived records, and is the same for the integrations team', async () => {
    const acme = await firm()
    await archive(monthOf('acme', 'transactions', '2026-08'))
    const { pages } = await walk(acme, 'transactions?from=2026-07-01&to=2026-09-30&per_page=13')
    expect(pages.map(({ meta }) => meta.archived)).toEqual([undefined, true, undefined])
    const own = await json(acme.get('transactions'))
    const team = await json(askAdmin('accounts/acme/records/transactions'))
    expect(team.meta.archived).toBe(true)
    expect(team.data).toEqual(own.data)
  })

  test('refuses a cursor from before the first month was archived', async () => {
    const acme = await firm()
    const { meta } = await json(acme.get('transactions?per_page=3'))
    await archive(monthOf('acme', 'transactions', '2026-08'))
    const refused = await acme.get(`transactions?cursor=${encodeURIComponent(meta.next_cursor)}`)
    expect([refused.status, (await json(refused)).detail]).toEqual([
      400,
      'Records were archived after this `cursor` was issued, so the order of the list has changed. Begin again without `cursor`.',
    ])
  })

  test('has activities of brands', async () => {
    const casino = await storedBrand({ account: 'casino' })
    await casino.post('customers', [eve])
    const events = Array.from({ length: 30 }, (_, i) => ({
      ...{ ...deposited, eventid: `e-${(i * 7) % 30}`, note: `Größe ${i}` },
      createtime: `2026-${i % 2 ? '09' : '10'}-${String(1 + (i % 9)).padStart(2, '0')} 10:00:00`,
    }))
    expect((await casino.post('activities', events)).status).toBe(200)
    await keepTotals('casino', 'igaming', '2026-09-01', '2026-10-31')
    const before = await walk(casino, 'activities?from=2026-09-01&per_page=500')
    const byId = await walk(casino, 'activities?per_page=500')
    expect(before.data).toHaveLength(30)
    await archive(monthOf('casino', 'activities', '2026-09'))
    expect((await walk(casino, 'activities?from=2026-09-01&per_page=4')).data).toEqual(before.data)
    expect(sorted((await walk(casino, 'activities')).data)).toEqual(sorted(byId.data))
  })
})

describe('a page with archived records', () => {
  /** Requests a list from a Worker with another bucket. */
  const getWith = (acme: Firm, bucket: Partial<Record<keyof R2Bucket, unknown>>, path: string) =>
    fetchWith(
      { ...env, ARCHIVE: overriding(env.ARCHIVE, bucket) },
      new Request(new URL(`/api/v1/forex/${path}`, ORIGIN), {
        headers: { Authorization: `Bearer ${acme.access_token}` },
      }),
      createExecutionContext(),
    )

  /** Returns a bucket that notes what is read. */
  function reading() {
    const keys: string[] = []
    const get = (key: string) => {
      keys.push(key)
      return env.ARCHIVE.get(key)
    }
    return { keys, bucket: { get } }
  }

  test('reads the objects that it needs, of at most so many records', async () => {
    const acme = await firm()
    for (const month of MONTHS.slice(0, 4)) await archive(monthOf('acme', 'transactions', month))
    expect((await env.ARCHIVE.list()).objects).toHaveLength(8)
    const readsOf = async (path: string) => {
      const { keys, bucket } = reading()
      const page = await json(getWith(acme, bucket, path))
      return [keys.length, page.data.length]
    }
    // A month of 13 records has an object of 9 and one of 4.
    expect(await readsOf('transactions?per_page=5')).toEqual([1, 5])
    expect(await readsOf('transactions?per_page=9')).toEqual([1, 9])
    expect(await readsOf('transactions?per_page=10')).toEqual([2, 10])
    expect(await readsOf('transactions?per_page=5&page=3')).toEqual([2, 5])
    expect(await readsOf('transactions?from=2026-11-01')).toEqual([0, 13])
    expect(await readsOf('transactions?customer_id=nobody')).toEqual([0, 0])
    Object.assign(ARCHIVE_LIST_LIMITS, { records: 15 })
    expect(await readsOf('transactions')).toEqual([2, 13])
    Object.assign(ARCHIVE_LIST_LIMITS, { records: 5 })
    expect(await readsOf('transactions')).toEqual([1, 9])
    Object.assign(ARCHIVE_LIST_LIMITS, { records: 20_000, objects: 3 })
    expect(await readsOf('transactions')).toEqual([3, 22])
    const before = await walk(acme, 'transactions')
    Object.assign(ARCHIVE_LIST_LIMITS, { records: 1, objects: 1, spans: 1 })
    expect((await walk(acme, 'transactions')).data).toEqual(before.data)
    Object.assign(ARCHIVE_LIST_LIMITS, { records: 20_000, objects: 10, spans: 4 })
  })

  test('takes few round trips to the database, and reads few rows there', async () => {
    const acme = await firm()
    const month = monthOf('acme', 'transactions', '2026-07')
    await archive(month)
    const headers = { Authorization: `Bearer ${acme.access_token}` }
    const calls = async (path: string) => {
      const { trips, rowsRead } = await countCalls(`/api/v1/forex/${path}`, { headers })
      return { trips, isBounded: rowsRead < 300 }
    }
    const first = await json(acme.get('transactions?per_page=5'))
    const next = `transactions?cursor=${encodeURIComponent(first.meta.next_cursor)}`
    expect([
      await calls('transactions?per_page=5'),
      await calls(next),
      await calls('transactions?from=2026-07-01&per_page=5'),
      await calls('transactions?from=2026-10-01&per_page=5'),
      await calls(`transactions?customer_id=${customer}&per_page=2`),
    ]).toEqual([3, 1, 3, 1, 7].map((trips) => ({ trips, isBounded: true })))
  })

  test('is cut where its records have more bytes than a page may', async () => {
    const acme = await firm()
    const note = '🙂'.repeat(250)
    const records = Array.from({ length: 90 }, (_, i) => ({
      ...{
        ...deposit,
        transaction_id: `long-${i}`,
        note,
        transaction_date: '2026-06-03T09:30:00.000Z',
      },
    }))
    takeUsualSteps()
    expect((await acme.post('transactions', records)).status).toBe(200)
    await keepTotals('acme', 'forex', '2026-06-01', '2026-06-30')
    await archive(monthOf('acme', 'transactions', '2026-06'))
    const { data, pages } = await walk(acme, 'transactions?to=2026-06-30&per_page=60')
    expect(data).toHaveLength(90)
    expect(pages[0]!.length).toBeLessThan(60)
  })

  test.for([
    ['missing', (key: string) => env.ARCHIVE.delete(key)],
    ['of another size', (key: string) => env.ARCHIVE.put(key, 'PAR1')],
    [
      'of other bytes',
      async (key: string) => {
        const bytes = new Uint8Array(await (await env.ARCHIVE.get(key))!.arrayBuffer())
        bytes[20]! ^= 1
        return env.ARCHIVE.put(key, bytes)
      },
    ],
  ] as const)('names an object that is %s, and never uses it', async ([, damage]) => {
    const acme = await firm()
    const month = monthOf('acme', 'transactions', '2026-07')
    await archive(month)
    const [{ key }] = (await env.ARCHIVE.list()).objects as [R2Object]
    const whole = await (await env.ARCHIVE.get(key))!.arrayBuffer()
    const before = await walk(acme, 'transactions')
    await damage(key)
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const refused = await acme.get('transactions')
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '60'])
    expect((await json(refused)).detail).toBe(
      `Records of 2026-07 are archived. An object of the archive is damaged: \`${key}\`. The integrations team must repair it. Repeat the same request after 60 seconds.`,
    )
    expect(errors.mock.calls).toContainEqual([
      JSON.stringify({
        ...{ fault: 'damaged_archive', account: 'acme', resource: 'transactions' },
        ...{ month: '2026-07', object: key },
      }),
    ])
    expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived', fault: key })
    await env.ARCHIVE.put(key, whole)
    expect((await walk(acme, 'transactions')).data).toEqual(before.data)
    expect(await readMonth(env.DB, month)).toMatchObject({ fault: null, wanted_at: null })
  })

  test.for([
    ['fails', () => Promise.reject(new Error('get: We encountered an internal error. (10001)'))],
    ['does not answer', () => new Promise(() => {})],
  ] as const)('is 503 if R2 %s', async ([, get]) => {
    const acme = await firm()
    await archive(monthOf('acme', 'transactions', '2026-07'))
    vi.spyOn(console, 'error').mockImplementation(() => {})
    Object.assign(READ_LIMITS, { waitMs: 50 })
    const refused = await getWith(acme, { get }, 'transactions')
    expect([refused.status, Number(refused.headers.get('Retry-After'))]).toEqual([
      503,
      expect.any(Number),
    ])
  })

  test('is read anew if its month comes back meanwhile, and its objects are deleted', async () => {
    const acme = await firm()
    const month = monthOf('acme', 'transactions', '2026-07')
    await archive(month)
    const before = await walk(acme, 'transactions?from=2026-07-01&per_page=500')
    const get = async (key: string) => {
      await restore(month)
      await env.ARCHIVE.delete(key)
      return env.ARCHIVE.get(key)
    }
    const found = await json(getWith(acme, { get }, 'transactions?from=2026-07-01&per_page=500'))
    expect(found.data).toEqual(before.data)
    expect(found.meta).not.toHaveProperty('archived')
  })
})
