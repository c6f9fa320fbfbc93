import { beforeEach, expect, test } from 'vitest'
import type { Details } from '../../src/payouts/model.ts'
import { askAdmin, json, register } from '../partner.ts'
import { ADA, askFile, bookByHand, confirmed, due, enter, PATH, PAYER } from './payout-rows.ts'

// From the details of each method to the file that pays them, and what is booked of it.

const { iban: _, ...PERSON } = ADA
const ACH = {
  ...{ ...PERSON, method: 'bank', currency: 'USD' },
  ...{ account: '000123456789', routing: '021000021', account_type: 'savings' },
} as const satisfies Details
const WALLET = {
  ...{ ...PERSON, method: 'wallet', network: 'tron', asset: 'USDT' },
  wallet_address: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
} as const satisfies Details

beforeEach(async () => {
  await register('forex', { affiliates: ['ach-1', 'swift-1', 'tron-1'] })
  await enter('payer', 'main', { ...PAYER, currency: 'USD' })
  await enter('payee', 'ach-1', ACH)
  const { routing: __, ...swift } = ACH
  await enter('payee', 'swift-1', { ...swift, bic: 'BOFAUS3N' })
  await enter('payee', 'tron-1', WALLET)
})

const exporting = (id: string, body: object) =>
  askAdmin(`${PATH}/batches/${id}/export`, 'POST', body)

test('§20.3 a batch by ACH is an XML, or once and for all a CSV, which takes accounts in the United States alone', async () => {
  await due('swift-1', '3.00', { currency: 'USD' })
  const other = await confirmed({ method: 'bank', rows: [{ id: 'swift-1:USD' }] })
  const refused = await exporting(other.id, { template: 'ach' })
  expect([refused.status, (await json(refused)).detail]).toEqual([
    409,
    expect.stringContaining('`swift-1`'),
  ])
  await due('ach-1', '7.00', { currency: 'USD' })
  const { id } = await confirmed({ method: 'bank', rows: [{ id: 'ach-1:USD' }] })
  for (const body of [{ template: 'ach' }, {}]) {
    const { files } = await json(exporting(id, body))
    expect(files).toMatchObject([{ n: 1, rows: 1, name: `${id}.csv` }])
    const [, row] = (await (await askFile(id)).text()).split('\r\n')
    expect(row).toMatch(/^Ada Lovelace,person,021000021,000123456789,savings,7.00,USD,/)
  }
  const { files } = await json(exporting(other.id, {}))
  expect(files).toMatchObject([{ name: `${other.id}.xml` }])
})

test('§20.1 a wallet is paid what is due in USD, and its payment is booked with the hash of the transaction', async () => {
  await due('tron-1', '3.00')
  await due('tron-1', '9.00', { currency: 'USD' })
  const { data } = await json(askAdmin(`${PATH}/payable`))
  const seen = data.map((one: Record<string, unknown>) => [one.currency, one.account, one.reasons])
  expect(seen).toEqual([
    ['EUR', '…Lj6t', ['other_currency']],
    ['USD', '…Lj6t', []],
  ])
  const { id, transfers, total } = await confirmed({
    ...{ method: 'wallet', rows: [{ id: 'tron-1:USD' }] },
  })
  expect(total).toBe('9.00')
  await exporting(id, {})
  const [, row] = (await (await askFile(id)).text()).split('\r\n')
  expect(row).toContain(`tron,USDT,${WALLET.wallet_address},9.00,${transfers[0].id},`)
  const book = (bank_reference?: string) =>
    bookByHand(transfers[0].id, { amount: '9.00', bank_reference })
  expect((await json(book())).errors).toMatchObject([
    { pointer: '/bank_reference', code: 'required' },
  ])
  expect(await json(book('f'.repeat(64)))).toMatchObject({ outcome: 'booked' })
  expect(await json(askAdmin(`${PATH}/batches/${id}`))).toMatchObject({ state: 'paid' })
})
