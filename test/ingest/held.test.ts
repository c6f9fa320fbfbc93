import { describe, expect, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { deposit, json, partner, traded } from '../partner.ts'

watchMarks()

const hold = { unknown_customer: 'hold' } as const
describe('unknown_customer=hold', () => {
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
})
