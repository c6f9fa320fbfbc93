import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { brand } from '../brand.ts'
import { statementRows } from '../commission/statement-rows.ts'
import { ada, askAdmin, deposit, json, issuedPartner as partner } from '../partner.ts'
import { emptyWorld } from '../world.ts'

// What the integrations team reads of an account beside what the account reads itself.

beforeEach(emptyWorld)

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)
const today = () => dayOf(Date.now())

async function acme() {
  const api = await partner('forex', { account: 'acme' })
  await api.post('customers', ada)
  return api
}

interface Code {
  readonly code: string
}

const read = (path: string) => json(askAdmin(`accounts/acme/${path}`))
const problem = async (path: string) => {
  const response = await askAdmin(`accounts/acme/${path}`)
  return [response.status, (await response.json<{ detail: string }>()).detail]
}

test('drafts of periods that have ended need the attention of the team only', async () => {
  const api = await acme()
  await env.DB.batch(statementRows(env.DB, 'acme'))
  const drafts = async () =>
    (await read('attention')).data.filter(({ code }: Code) => code === 'unapproved_drafts')
  const period = (value: string, status = 'draft') =>
    env.DB.prepare("update statements set period = ?, status = ?, payable = '5.00'")
      .bind(value, status)
      .run()

  await period(today().slice(0, 7))
  expect(await drafts()).toEqual([])
  for (const ended of ['2026-09', '2026-W40']) {
    await period(ended)
    expect(await drafts()).toEqual([
      {
        code: 'unapproved_drafts',
        count: 1,
        names: [ended],
        detail: expect.stringContaining(`: ${ended}.`),
      },
    ])
  }
  const own = (await json(api.get('account'))).attention
  expect(own.map(({ code }: Code) => code)).not.toContain('unapproved_drafts')
  // A draft that pays nothing is approved with the next one that pays something.
  await env.DB.prepare("update statements set payable = '0.00'").run()
  expect(await drafts()).toEqual([])
  await env.DB.prepare("update statements set payable = '5.00'").run()
  await period('2026-09', 'approved')
  expect(await drafts()).toEqual([])
})

test('records are those that their sender reads, of one customer or of all', async () => {
  const api = await acme()
  await api.post('transactions', deposit)

  const own = await json(api.get('transactions'))
  expect((await read('records/transactions')).data).toEqual(own.data)
  expect((await read(`records/transactions?customer_id=${ada.customer_id}`)).data).toHaveLength(1)
  expect((await read('records/customers?customer_id=nobody')).data).toEqual([])
  expect(await problem('records/activities')).toEqual([
    404,
    'The account has no resource `activities`. It has `customers`, `transactions`, `trading-activity`.',
  ])
})

test('a record is found by the id that was sent, in each resource that has it, and by its key', async () => {
  const api = await acme()
  const { delivery_id } = await json(api.post('transactions', deposit))
  const found = (id: string) => read(`records?id=${encodeURIComponent(id)}`)
  const [own] = (await json(api.get('transactions'))).data

  expect((await found(deposit.transaction_id)).data).toEqual([
    {
      resource: 'transactions',
      id: deposit.transaction_id,
      customer_id: deposit.customer_id,
      day: deposit.transaction_date.slice(0, 10),
      outcome: 'created',
      delivery_id,
      received_at: expect.any(String),
      revision: 1,
      record: own,
    },
  ])
  await api.post('transactions', { ...deposit, transaction_id: ada.customer_id })
  const both = await found(ada.customer_id)
  expect(both.data.map((one: { resource: string }) => one.resource)).toEqual([
    'customers',
    'transactions',
  ])
  const key = {
    date: '2026-10-05',
    customer_id: ada.customer_id,
    instrument: 'A.B',
    currency: 'EUR',
  }
  await api.post('trading-activity', { ...key, lots_traded: 2 })
  const [row] = (await found(Object.values(key).join('|'))).data
  expect(row).toMatchObject({ resource: 'trading-activity', day: key.date, record: key })
  for (const id of [
    'nothing',
    '..',
    '2026-10-05|x',
    `${'x'.repeat(1024)}`,
    '|||',
    '2026-10-45|a|b|c',
  ]) {
    expect((await found(id)).data).toEqual([])
  }
  expect(await problem('records')).toEqual([400, '`id` is required.'])
})

test('an event is found by its eventid and by the identity under which it is stored', async () => {
  const casino = await brand({ account: 'acme' })
  await casino.post('customers', [{ customerId: 'p-1' }])
  await casino.post('activities', [
    {
      eventname: 'Deposit',
      customerid: 'p-1',
      createtime: '2026-10-05 10:00',
      eventid: 'E-1',
      Value: 5,
    },
  ])
  for (const id of ['E-1', 'e E-1']) {
    const { data } = await read(`records?id=${encodeURIComponent(id)}`)
    expect(data).toEqual([
      expect.objectContaining({ resource: 'activities', id: 'e E-1', customer_id: 'p-1' }),
    ])
  }
})

test('customers are listed by id, a page at a time, or found by id', async () => {
  const casino = await brand({ account: 'acme' })
  await casino.post('customers', [{ customerId: 'p-2' }, { customerId: 'p-1' }])

  const ids = async (query: string) =>
    (await read(`customers?${query}`)).data.map((one: { customer_id: string }) => one.customer_id)
  expect(await ids('customer_id=p-2')).toEqual(['p-2'])
  expect(await ids('customer_id=P-2')).toEqual([])
  const { data, meta } = await read('customers?per_page=1')
  expect([data.length, meta.total]).toEqual([1, 2])
  expect(await ids(`per_page=1&cursor=${meta.next_cursor}`)).toEqual(['p-2'])
  expect(await ids('per_page=1&page=2')).toEqual(['p-2'])
})
