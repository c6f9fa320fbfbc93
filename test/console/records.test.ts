import { describe, expect, test } from 'vitest'
import { monthly, storePlan } from '../commission/stored.ts'
import { ada, askAdmin, deposit, issuedPartner as partner } from '../partner.ts'
import { signedIn, textOf } from './browser.ts'

// The search by an id, and the page of a record: what it earned, or why it earned nothing.

const AT = '/console/accounts/acme'

/** A plan that pays once for five lots within 30 days, and a share of fees. */
const TERMS = monthly(
  [
    {
      id: 'cpa',
      kind: 'once',
      trigger: { transactions: ['deposit'], min: '100' },
      amount: '200',
      qualify: [{ sum: [{ activity: 'lots_traded' }], min: '5', within_days: 30 }],
    },
    {
      id: 'revenue',
      kind: 'share',
      percent: '25',
      base: [{ activity: 'spread_cost' }],
    },
  ],
  { name: 'IB 2026', hold_days: 0 },
)

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

const first = {
  ...deposit,
  transaction_id: 'T-1',
  transaction_date: daysAgo(17),
  amount_currency: 200,
}

async function open() {
  const acme = await partner('forex', { account: 'acme', affiliates: ['aff-7'] })
  await askAdmin('accounts/acme/status-map', 'PUT', { approved: 'approved' })
  await storePlan('acme', 'ib', TERMS)
  const assignment = { affiliate_id: '*', plan: 'ib', from: '2026-01-01', customers: 'all' }
  await askAdmin('accounts/acme/assignments', 'PUT', [assignment])
  await acme.post('customers', { ...ada, signup_date: daysAgo(18), affiliate_id: 'aff-7' })
  await acme.post('transactions', first)
  const browser = await signedIn()
  const get = (path: string) => browser.get(`${AT}${path}`)
  const read = async (path: string) => (await get(path)).text()
  /** Returns where the search for an id leads. */
  const found = async (id: string) => {
    const response = await get(`/find?record_id=${encodeURIComponent(id)}`)
    return response.headers.get('Location') ?? response.status
  }
  return { acme, get, read, found }
}

describe('the search', () => {
  test('leads from an id to the page of the record, customer or affiliate that has it', async () => {
    const { found } = await open()
    expect(await found('T-1')).toBe(`${AT}/records/transactions/T-1`)
    expect(await found(ada.customer_id)).toBe(`${AT}/customers/${ada.customer_id}`)
    expect(await found('aff-7')).toBe(`${AT}/affiliates/aff-7`)
    expect(await found(' T-1 ')).toBe(`${AT}/records/transactions/T-1`)
    expect(await found('t-1')).toBe(`${AT}/deliveries?record_id=t-1`)
    const delivery = `dlv_${'0'.repeat(26)}`
    expect(await found(delivery)).toBe(`${AT}/deliveries/${delivery}`)
  })

  test('finds affiliates by a part of their ids, names and addresses', async () => {
    const { found, read } = await open()
    const named = { display_name: 'Forex Friends', contact_email: 'Ada@friends.example' }
    await askAdmin('accounts/acme/affiliates', 'PUT', [
      { affiliate_id: 'FF-1', ...named },
      { affiliate_id: 'FF-2', display_name: 'Other' },
    ])

    for (const text of ['forex fr', 'Friends', 'ADA@', 'FF-1']) {
      expect(await found(text)).toBe(`${AT}/affiliates/FF-1`)
    }
    expect(textOf(await read('/find?record_id=FF'))).toMatch(
      /FF-1, Forex Friends, Ada@friends\.example Affiliate – FF-2, Other Affiliate/,
    )
  })
})

describe('the page of a record', () => {
  test('of another account is not found', async () => {
    const { get } = await open()
    const other = await partner('forex', { account: 'other' })
    await other.post('customers', { ...ada, customer_id: 'c-2' })
    await other.post('transactions', { ...first, transaction_id: 'T-2', customer_id: 'c-2' })
    expect((await get('/records/transactions/T-2')).status).toBe(404)
  })
})
