import { describe, expect, test } from 'vitest'
import { LIST_LIMITS } from '../../src/platform/db/paginate.ts'
import { brand, deposited, eve } from '../brand.ts'
import { restoring } from '../limits.ts'
import { ada, askAdmin, deposit, json, partner, traded } from '../partner.ts'

// Lists read a bounded number of rows: beyond the limits a total is not exact.

restoring(LIST_LIMITS)

type Get = (path: string) => Promise<Response>

const many = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i))
const dayOf = (i: number) => `2026-10-${String(i + 1).padStart(2, '0')}`

/** A firm with two customers, and for each 6 transactions and 6 activities on four days. */
async function firm() {
  const acme = await partner()
  await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
  const customerOf = (i: number) => `c-${1 + (i % 2)}`
  await acme.post(
    'transactions',
    // The order by id is not that by day.
    many(12, (i) => ({
      ...deposit,
      transaction_id: `t-${String((i * 7) % 12).padStart(2, '0')}`,
      customer_id: customerOf(i),
      transaction_date: `${dayOf(Math.floor(i / 3))}T00:00:00.000Z`,
    })),
  )
  await acme.post(
    'trading-activity',
    many(12, (i) => ({
      ...traded,
      customer_id: customerOf(i),
      instrument: `i-${i}`,
      date: dayOf(Math.floor(i / 3)),
    })),
  )
  return acme
}

/** A brand with one customer and 12 activities on four days. */
async function casino() {
  const acme = await brand()
  await acme.post('customers', eve)
  await acme.post(
    'activities',
    many(12, (i) => ({
      ...deposited,
      eventid: `e-${(i * 5) % 12}`,
      createtime: `${dayOf(Math.floor(i / 3))} 09:30`,
    })),
  )
  return acme
}

const idOf = (record: Record<string, string>) =>
  record.transaction_id ??
  record.eventid ??
  `${record.date} ${record.customer_id} ${record.instrument}`
const dayIn = ({ transaction_date, createtime, date }: Record<string, string>) =>
  (transaction_date ?? createtime ?? date ?? '').slice(0, 10)

/** Follows a list to its end and returns its pages. */
async function walk(get: Get, path: string, filter: string, size: number) {
  const pages = [await json(get(`${path}?${filter}&per_page=${size}`))]
  for (;;) {
    const cursor = pages.at(-1).meta.next_cursor
    if (cursor === null) return pages
    pages.push(await json(get(`${path}?${filter}&cursor=${cursor}`)))
  }
}

const LISTS = [
  ['transactions', firm, 'customer_id=c-1'],
  ['trading-activity', firm, 'customer_id=c-1'],
  ['activities', casino, 'customerid=p-1'],
] as const

describe.each(LISTS)('%s', (path, create, customer) => {
  const filters = [
    'from=2026-10-01',
    'to=2026-10-04',
    'from=2026-10-02&to=2026-10-03',
    customer,
    `${customer}&from=2026-10-02`,
    `${customer}&to=2026-10-02`,
    `${customer}&from=2026-10-02&to=2026-10-03`,
  ]

  test('a filtered walk has each record once, by day', async () => {
    const { get } = await create()
    const all: Record<string, string>[] = (await json(get(`${path}?per_page=500`))).data
    for (const filter of filters) {
      const { from = '', to = '9999', ...of } = Object.fromEntries(new URLSearchParams(filter))
      const [id] = Object.values(of)
      const expected = all.filter(
        (record) =>
          dayIn(record) >= from &&
          dayIn(record) <= to &&
          (id === undefined || (record.customer_id ?? record.customerid) === id),
      )
      // A page ends within a day.
      for (const size of [2, 50]) {
        const pages = await walk(get, path, filter, size)
        const found: Record<string, string>[] = pages.flatMap(({ data }) => data)

        expect(found.map(idOf).sort()).toEqual(expected.map(idOf).sort())
        expect(found.map(dayIn)).toEqual(found.map(dayIn).sort())
        expect(found).toEqual(expect.arrayContaining(expected))
        expect(pages.map(({ meta }) => meta.total)).toEqual(pages.map(() => expected.length))
        for (const [i, { data, meta }] of pages.entries()) {
          expect(meta.page).toBe(i + 1)
          if (size > 2) continue
          const byNumber = await json(get(`${path}?${filter}&per_page=${size}&page=${i + 1}`))
          expect(byNumber.data).toEqual(data)
        }
      }
    }
  })

  test('a total beyond the limit is limited, on all pages of the walk', async () => {
    const { get } = await create()
    LIST_LIMITS.total = 3
    for (const filter of ['from=2026-10-01', customer]) {
      for (const { meta } of await walk(get, path, filter, 5)) {
        expect(meta).toMatchObject({ total: 3, total_is_limited: true })
      }
      const pages = await walk(get, path, filter, 5)
      LIST_LIMITS.total = 100
      const [{ meta }] = await walk(get, path, filter, 50)
      expect(pages.flatMap(({ data }) => data)).toHaveLength(meta.total)
      expect(meta).not.toHaveProperty('total_is_limited')
      LIST_LIMITS.total = 3
    }
    expect((await json(get(path))).meta).not.toHaveProperty('total_is_limited')
  })
})

test('records that arrive during a walk by day change neither its total nor its earlier records', async () => {
  const acme = await firm()
  const first = await json(acme.get('transactions?from=2026-10-01&per_page=8'))
  await acme.post('transactions', { ...deposit, transaction_id: 'new' })
  const next = await json(acme.get(`transactions?from=2026-10-01&cursor=${first.meta.next_cursor}`))

  expect([first.meta.total, next.meta.total]).toEqual([12, 12])
  expect(next.data).toHaveLength(4)
  expect((await json(acme.get('transactions?from=2026-10-01'))).meta.total).toBe(13)
})

test('deliveries and the lists of the team are counted up to the limit', async () => {
  const acme = await firm()
  for (const affiliate_id of ['a', 'b']) {
    await askAdmin(`accounts/${acme.account}/affiliates`, 'PUT', [{ affiliate_id }])
  }
  LIST_LIMITS.total = 1
  const limited = { total: 1, total_is_limited: true }
  for (const get of [
    () => acme.get('deliveries'),
    () => askAdmin(`accounts/${acme.account}/affiliates?per_page=1`),
    () => askAdmin('audit-log'),
  ]) {
    expect((await json(get())).meta).toMatchObject(limited)
  }
  const { data, meta } = await json(askAdmin(`accounts/${acme.account}/affiliates?per_page=1`))
  LIST_LIMITS.total = 100
  const next = await json(
    askAdmin(`accounts/${acme.account}/affiliates?cursor=${meta.next_cursor}`),
  )
  expect([data.length, next.data.length]).toEqual([1, 1])
  expect(next.meta).toMatchObject(limited)
})
