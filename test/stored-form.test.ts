import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decode, encode } from '../src/db/column-types.ts'
import { presentLogged, shortenLogged } from '../src/db/records/list.ts'
import { transactionTable } from '../src/db/records/record-table.ts'
import { toRowChunks } from '../src/db/records/store-delivery.ts'
import { customers } from '../src/db/schema.ts'
import { fullId, shortId } from '../src/db/short-id.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner, traded } from './partner.ts'

// The database stores UUIDs, days and times shorter than the wire has them.

const UUID = '01a1fea7-f8d8-44c6-b057-d919a7f0e5c4'
const OTHER = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

test('each of very many days is stored as its number', () => {
  const days = Array.from({ length: 2500 }, (_, i) => i)
  const texts = days.map((number) => decode(customers.day, number))

  expect(new Set(texts).size).toBe(2500)
  expect(texts.map((text) => encode(customers.day, text))).toEqual(days)
})

describe('the short form of an id', () => {
  test('of a UUID has 21 characters that JSON does not escape', () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        const short = shortId(uuid)
        expect(short).toHaveLength(21)
        expect(JSON.stringify(short)).toHaveLength(23)
        expect(fullId(short)).toBe(uuid)
      }),
    )
  })

  test('sorts like the UUIDs', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        expect(shortId(a) < shortId(b)).toBe(a < b)
      }),
    )
  })

  test.each([
    'C-1',
    UUID.toUpperCase(),
    UUID.replaceAll('-', ''),
    UUID.replace('-', '_'),
    `${UUID.slice(0, 35)}g`,
    `${UUID.slice(0, 35)}Ä`,
    `${UUID}0`,
    ' '.repeat(36),
  ])('of any other id is the id: %s', (id) => {
    expect(shortId(id)).toBe(id)
    expect(fullId(id)).toBe(id)
  })

  test.each(['~', '~~', '~abc', shortId(UUID), `~${UUID}`])('keeps the mark of an id: %s', (id) => {
    expect(shortId(id)).toBe(`~${id}`)
    expect(fullId(shortId(id))).toBe(id)
  })
})

test.each(['0000-01-01', '1969-12-31', '1970-01-01', '2026-10-02', '9999-12-31'])(
  'a day is stored as a number, and read as it was: %s',
  (text) => {
    const column = customers.day
    const stored = encode(column, text)
    expect(Number.isInteger(stored)).toBe(true)
    expect(decode(column, stored)).toBe(text)
  },
)

test.each([
  '0000-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2026-10-02T10:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
])('a time is stored as a number, and read as it was: %s', (text) => {
  const column = customers.signup_date
  const stored = encode(column, text)
  expect(Number.isInteger(stored)).toBe(true)
  expect(decode(column, stored)).toBe(text)
})

test('the log shortens an id by its characters, not by its units of UTF-16', () => {
  const characters = (n: number) => '😀'.repeat(n)

  expect(shortenLogged(characters(40))).toBe(characters(40))
  expect(shortenLogged(characters(41))).toBe(`${characters(40)}…`)
})

test('a refused record keeps a time that is not valid as it was sent', () => {
  const { encoded } = transactionTable
  const stored = (transaction_date: unknown) => {
    const row = { idx: 0, values: { transaction_date }, flag: 'invalid' as const }
    const [[, value]] = JSON.parse(toRowChunks([row], ['transaction_date'], encoded)[0]!)
    return value
  }
  const shown = (value: unknown) =>
    presentLogged(transactionTable, 'transaction_date', stored(value))
  const time = '2026-10-02T10:20:30.456Z'

  expect([stored('soon'), stored(time), stored(7)]).toEqual(['soon', Date.parse(time), null])
  expect([shown('soon'), shown(time), shown(7)]).toEqual(['soon', time, null])
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

  test('of an unknown customer are refused under their ids, in the response and in the log', async () => {
    const acme = await partner()
    const error = {
      key: { transaction_id: OTHER },
      message: `Customer \`${UUID}\` has not been received.`,
    }
    const refused = await json(acme.post('transactions', [transaction]))
    expect(refused).toMatchObject({ errors: [error] })
    const { data } = await json(acme.get('deliveries'))
    expect(await json(acme.get(`deliveries/${data[0].delivery_id}`))).toMatchObject({
      errors: [error],
    })
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
