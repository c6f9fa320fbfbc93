import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shortId } from '../../src/platform/db/short-id.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner, traded } from '../partner.ts'

// The database stores UUIDs, days and times shorter than the wire has them.

const UUID = '01a1fea7-f8d8-44c6-b057-d919a7f0e5c4'
const OTHER = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

describe('the short form of an id', () => {
  test('sorts like the UUIDs', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        expect(shortId(a) < shortId(b)).toBe(a < b)
      }),
    )
  })
})

describe('records with UUIDs', () => {
  const customer = { ...ada, customer_id: UUID }
  const transaction = { ...deposit, transaction_id: OTHER, customer_id: UUID }
  const activity = { ...traded, customer_id: UUID }

  test('are stored short, and returned as they were sent', async () => {
    const acme = await partner()
    for (const [path, record] of Object.entries({
      customers: customer,
      transactions: transaction,
      'trading-activity': activity,
    })) {
      expect((await acme.post(path, record)).status).toBe(201)
      expect((await acme.post(path, [record])).status).toBe(200)
      for (const query of ['', `?customer_id=${UUID}`]) {
        const { data } = await json(acme.get(path + query))
        expect(data).toMatchObject([{ customer_id: UUID }])
      }
    }
    expect(await json(acme.get(`customers/${UUID}`))).toMatchObject({ customer_id: UUID })
    expect(await json(acme.get(`transactions/${OTHER}`))).toMatchObject({
      transaction_id: OTHER,
      customer_id: UUID,
    })
    const row = await env.DB.prepare('select transaction_id, customer_id from transactions').first()
    expect(row).toEqual({ transaction_id: shortId(OTHER), customer_id: shortId(UUID) })
  })

  test('are paged by cursor', async () => {
    const acme = await partner()
    const ids = [OTHER, 'T-1', '~', UUID].map((transaction_id) => ({ ...deposit, transaction_id }))
    await acme.post('customers', ada)
    await acme.post('transactions', ids)
    const found: string[] = []
    let query = '?per_page=1'
    for (let i = 0; i < 4; i++) {
      const { data, meta } = await json(acme.get(`transactions${query}`))
      found.push(data[0].transaction_id)
      query = `?per_page=1&cursor=${meta.next_cursor}`
    }
    expect(found.sort()).toEqual(ids.map(({ transaction_id }) => transaction_id).sort())
  })

  test('of an unknown customer are held until the customer arrives', async () => {
    const acme = await partner('forex', { unknown_customer: 'hold' })
    await acme.post('transactions', transaction)
    await acme.post('trading-activity', activity)
    const { data } = await json(acme.get('held'))
    expect(data.map((held: { record: object }) => held.record)).toMatchObject([
      activity,
      transaction,
    ])
    await acme.post('customers', customer)
    expect(await json(acme.get('held'))).toMatchObject({ data: [] })
    expect(await json(acme.get('transactions'))).toMatchObject({ data: [transaction] })
  })

  test('of a customer are erased by their id', async () => {
    const acme = await partner()
    await acme.post('customers', { ...customer, email: 'ada@example.com' })
    const at = `accounts/${acme.account}/customers/${UUID}/personal-data`
    expect((await askAdmin(at, 'DELETE')).status).toBe(200)
    const stored = await json(acme.get(`customers/${UUID}`))
    expect(stored.customer_id).toBe(UUID)
    expect(stored.email).toBeUndefined()
    const { data } = await json(askAdmin(`accounts/${acme.account}/erasures`))
    expect(data).toMatchObject([{ customer_id: UUID }])
    const again = await json(acme.post('customers', { ...customer, email: 'ada@example.com' }))
    expect(again.results?.[0]?.warnings ?? again.warnings).toBeDefined()
  })
})
