import { describe, expect, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { ada, deposit, json, partner, traded } from '../partner.ts'

watchMarks()

const hold = { unknown_customer: 'hold' } as const
const octoberTotals = 'totals?from=2026-10-01&to=2026-10-31'

test('unknown_customer=reject, the default for partners, is 422 and stores nothing', async () => {
  const acme = await partner()
  const response = await acme.post('transactions', [deposit])

  expect(response.status).toBe(422)
  expect(await json(response)).toMatchObject({
    errors: [
      {
        index: 0,
        key: { transaction_id: 't-1' },
        pointer: '/0/customer_id',
        code: 'unknown_customer',
        message: 'Customer `c-1` has not been received.',
      },
    ],
  })
  expect(await json(acme.get('held'))).toMatchObject({ data: [] })
})

describe('unknown_customer=hold', () => {
  test('a record of an unknown customer is held, outside lists and totals', async () => {
    const acme = await partner('forex', hold)
    const response = await acme.post('transactions', deposit)

    expect(response.status).toBe(200)
    expect(await json(response)).toMatchObject({
      summary: { received: 1, created: 0, held: 1 },
      results: [{ outcome: 'held' }],
    })
    for (const query of ['', '?customer_id=c-1', '?from=2026-10-01']) {
      expect(await json(acme.get(`transactions${query}`))).toMatchObject({
        data: [],
        meta: { total: 0 },
      })
    }
    expect((await acme.get('transactions/t-1')).status).toBe(404)
    expect(await json(acme.get(octoberTotals))).toEqual({ data: [] })
  })

  test('GET held lists each held record with its delivery', async () => {
    const acme = await partner('forex', hold)
    const { delivery_id } = await json(acme.post('transactions', deposit))
    await acme.post('trading-activity', traded)

    const { data, meta } = await json(acme.get('held'))
    expect(meta).toEqual({ total: 2, page: 1, per_page: 50, next_cursor: null })
    expect(data).toEqual([
      {
        resource: 'trading-activity',
        received_at: expect.any(String),
        delivery_id: expect.any(String),
        record: traded,
      },
      {
        resource: 'transactions',
        received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        delivery_id,
        record: deposit,
      },
    ])
  })

  test('held records are paginated like other lists', async () => {
    const acme = await partner('forex', hold)
    await acme.post('transactions', [
      deposit,
      { ...deposit, transaction_id: 't-2' },
      { ...deposit, transaction_id: 't-3' },
    ])
    const first = await json(acme.get('held?per_page=2'))
    expect(first.meta).toMatchObject({ total: 3, per_page: 2 })
    const second = await json(acme.get(`held?cursor=${first.meta.next_cursor}`))
    expect(second.meta).toMatchObject({ total: 3, page: 2, per_page: 2, next_cursor: null })
    expect(second).toEqual({
      ...(await json(acme.get('held?per_page=2&page=2'))),
      meta: second.meta,
    })
    expect([...first.data, ...second.data].map(({ record }) => record.transaction_id)).toEqual([
      't-1',
      't-2',
      't-3',
    ])
  })

  test('held records are released automatically when their customer arrives', async () => {
    const acme = await partner('forex', hold)
    await acme.post('transactions', [deposit, { ...deposit, transaction_id: 't-2' }])
    await acme.post('trading-activity', [traded])
    await acme.post('customers', [{ ...ada, customer_id: 'another' }])
    expect((await json(acme.get('held'))).meta.total).toBe(3)

    await acme.post('customers', [ada])
    expect((await json(acme.get('held'))).meta.total).toBe(0)
    expect((await json(acme.get('transactions'))).meta.total).toBe(2)
    expect((await json(acme.get('transactions?customer_id=c-1'))).meta.total).toBe(2)
    expect((await json(acme.get('transactions?from=2026-10-02&to=2026-10-02'))).meta.total).toBe(2)
    expect(await json(acme.get('trading-activity?customer_id=c-1'))).toMatchObject({
      data: [traded],
      meta: { total: 1 },
    })
    expect((await json(acme.get(octoberTotals))).data).toMatchObject([
      { resource: 'customers', count: 2 },
      { resource: 'transactions', count: 2, sums: { amount_currency: '200.5' } },
      { resource: 'trading-activity', count: 1 },
    ])
  })

  test('a bulk of known and unknown customers is stored completely', async () => {
    const acme = await partner('forex', hold)
    await acme.post('customers', ada)
    const body = [{ ...deposit, transaction_id: 't-0', customer_id: 'nobody' }, deposit]
    const {
      delivery_id: _,
      delivery_url: _u,
      ...predicted
    } = await json(acme.post('transactions?dry_run=true', body))
    const {
      delivery_id: __,
      delivery_url: __u,
      ...real
    } = await json(acme.post('transactions', body))

    expect(real).toMatchObject({
      summary: { received: 2, created: 1, held: 1 },
      results: [{ outcome: 'held' }, { outcome: 'created' }],
    })
    expect(predicted).toEqual({ ...real, dry_run: true })
    expect(real.summary).toMatchObject((await json(acme.get('deliveries'))).data[0].summary)
  })
})

describe('data that a delivery does not change', () => {
  const lenient = { Prefer: 'handling=lenient' }

  test('a delivery does not change the log of other deliveries or accounts', async () => {
    const acme = await partner('forex', hold)
    const other = await partner('forex', { account: 'other', ...hold })
    const unknownCustomer = { ...deposit, transaction_id: 't-2', customer_id: 'nobody' }
    const logged = async (skip: number) => {
      const lines = await json(acme.get('deliveries'))
      return [lines.data.slice(skip), (await json(other.get('deliveries'))).data]
    }
    for (const { post } of [other, acme]) {
      await post('customers', [ada])
      await post('transactions', [deposit, unknownCustomer])
      await post('transactions?dry_run=true', [{ ...deposit, status: 'foreseen' }])
    }
    const before = await logged(0)
    expect(before[0]).toMatchObject([
      { dry_run: true, summary: { updated: 1 } },
      { summary: { created: 1, held: 1 } },
      { summary: { created: 1 } },
    ])

    const bulk = [deposit, unknownCustomer].map((sent) => ({ ...sent, status: 'changed' }))
    for (const query of ['?dry_run=true', '', '?dry_run=true', '']) {
      await acme.post(`transactions${query}`, [...bulk, { ...deposit, transaction_id: 't-3' }])
    }
    expect(await logged(4)).toEqual(before)
  })

  test('a rejected customer or one of another account releases no records', async () => {
    const acme = await partner('forex', { ...hold, unknown_affiliate: 'reject' })
    const other = await partner('forex', { account: 'other', ...hold })
    for (const { post } of [acme, other]) {
      await post('customers', { ...ada, customer_id: 'c-0' })
      await post('transactions', [{ ...deposit, transaction_id: 't-0', customer_id: 'c-0' }])
      await post('transactions', [deposit])
    }
    const rejected = { ...ada, affiliate_id: 'nobody' }
    const bulk = [rejected, { ...ada, customer_id: 'c-2' }]
    expect((await acme.post('customers', bulk, lenient)).status).toBe(207)
    expect((await json(acme.get('held'))).meta.total).toBe(1)

    await acme.post('customers', [ada])
    expect((await json(acme.get('held'))).meta.total).toBe(0)
    expect((await json(acme.get('transactions'))).meta.total).toBe(2)
    expect((await json(other.get('held'))).meta.total).toBe(1)
    expect((await json(other.get('transactions'))).meta.total).toBe(1)
  })

  test('an invalid correction does not release a held record', async () => {
    const acme = await partner('forex', hold)
    await acme.post('customers', ada)
    const unknownCustomer = { ...deposit, customer_id: 'nobody' }
    await acme.post('transactions', [unknownCustomer])
    const valid = { ...deposit, transaction_id: 't-2' }
    for (const customer_id of ['c-1', 'nobody else']) {
      const invalid = { ...deposit, customer_id, currency: 'EUX' }
      expect(await json(acme.post('transactions', [invalid, valid], lenient))).toMatchObject({
        summary: { received: 2, held: 0, rejected: 1 },
      })
      expect((await json(acme.get('transactions'))).meta.total).toBe(1)
    }
    expect((await json(acme.get('held'))).data).toMatchObject([{ record: unknownCustomer }])
  })
})

describe('unknown_affiliate', () => {
  test('warn, the default, stores the customer with a warning', async () => {
    const acme = await partner('forex', { affiliates: [] })
    const response = await acme.post('customers', ada)

    expect(response.status).toBe(201)
    expect(await json(response)).toMatchObject({
      results: [
        {
          outcome: 'created',
          warnings: [{ code: 'unknown_affiliate', pointer: '/affiliate_id' }],
        },
      ],
    })
  })

  test('reject answers 422 unknown_affiliate and stores nothing', async () => {
    const acme = await partner('forex', { unknown_affiliate: 'reject' })
    const unknownAffiliate = { ...ada, customer_id: 'c-2', affiliate_id: 'nobody' }
    const response = await acme.post('customers', [ada, unknownAffiliate])

    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({
      errors: [{ index: 1, pointer: '/1/affiliate_id', code: 'unknown_affiliate' }],
    })
    expect((await json(acme.get('customers'))).data).toEqual([])
  })
})
