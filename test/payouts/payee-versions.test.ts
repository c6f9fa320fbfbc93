import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { flatDetails, nestedDetails } from '../../src/payouts/fields.ts'
import type { Details } from '../../src/payouts/model.ts'
import * as payees from '../../src/payouts/payees.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import type { ApiError } from '../../src/platform/errors.ts'
import { askAda } from '../books/book-rows.ts'
import { at } from '../days.ts'
import { askAs, keyOfRole } from '../members.ts'
import { askAdmin, json, register } from '../partner.ts'
import { ADA, change, OTHER_IBAN, PATH, PAYER, sent, enter as store } from './payout-rows.ts'

const PAYEE = `${PATH}/affiliates/aff-7/payee`

/** Details with all that is hidden. */
const FULL = {
  ...ADA,
  email: 'ada@x.example',
  address: { ...ADA.address, street: 'Main Street', building: '1', postcode: '10115' },
  tax: { vat_id: 'DE123456789' },
} as const satisfies Details

const HIDDEN = ['iban', 'email', 'street', 'building', 'postcode', 'vat_id']

beforeEach(() => register('forex', { affiliates: ['aff-7'] }))

const enter = async (actor: string, details: object, role: payees.Caller['role'] = 'approver') => {
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const call = { env, db: env.DB, account, actor, role, waitUntil: () => {} }
  return payees.enterDetails(call, 'payee', [{ id: 'aff-7', sent: details }])
}

const reveal = async () =>
  (await json(askAdmin(`${PAYEE}/reveal`, 'POST', { reason: 'R' }))).details as Details

const without = (names: readonly string[]) =>
  nestedDetails(flatDetails(FULL).filter(([name]) => !names.includes(name)))

test('§20.1 whatever is hidden and left empty stays, and what is seen and left empty goes', async () => {
  const play = async (names: string[], state: 'approved' | 'returned' | 'own') => {
    await env.DB.exec('delete from payees')
    const more = { state: state === 'own' ? 'entered' : state, entered_by: 'mia' } as const
    await store('payee', 'aff-7', { ...FULL, bic: 'COBADEFF' }, more)
    await enter('mia', { ...without(names), name: 'Bob' }, 'manager')
    expect(await reveal()).toEqual({ ...FULL, name: 'Bob' })
  }
  const states = fc.constantFrom('approved', 'returned', 'own')
  const property = fc.asyncProperty(fc.subarray(HIDDEN), states, play as never)
  await fc.assert(property, { seed: env.SEED, numRuns: 25 })
})

test('§20.1 nobody makes another person enter their account: what nobody approved is not kept', async () => {
  await store('payee', 'aff-7', { ...FULL, method: 'wise' }, { state: 'entered' })
  const refusal = await enter('mia', { ...without(HIDDEN), method: 'wise' }).catch(
    (e: ApiError) => e,
  )
  expect((refusal as ApiError).details.errors).toMatchObject([
    { pointer: '/iban', code: 'required' },
  ])
  await change(`update payees set state = 'blocked'`)
  expect((await askAdmin(PAYEE, 'PUT', without(HIDDEN))).status).toBe(422)
})

const NUMBER = { account: '123456', bic: 'BOFAUS3N', currency: 'USD' }

test.each<[string, object, Partial<Record<string, string>>]>([
  ['another kind of number', { method: 'bank', ...NUMBER }, { account: '123456' }],
  ['a method without one', { method: 'paypal' }, { email: FULL.email }],
  [
    'another method with it',
    { method: 'bank', bic: 'COBADEFF', currency: 'EUR' },
    { iban: ADA.iban },
  ],
])('§20.1 %s takes the place of an account, or keeps it', async (_, typed, expected) => {
  await store('payee', 'aff-7', FULL)
  await enter('mia', { ...without(HIDDEN), ...typed })
  const { iban, account, email } = await reveal()
  expect({ iban, account, email }).toEqual({ email: FULL.email, ...expected })
})

test('§20.1 no answer tells a manager whether an account that looks the same is the same', async () => {
  const told = async (iban: string) => {
    at('2030-01-10T12:00:00.000Z')
    await env.DB.exec('delete from payees')
    await store('payee', 'aff-7', ADA)
    await enter('mia', { ...ADA, iban }, 'manager')
    const key = await keyOfRole('manager')
    const read = (path: string) => json(askAs(key, path))
    return [await read(PAYEE), await read(`${PAYEE}/versions`)]
  }
  const same = await told(ADA.iban)
  expect(await told('DE40370400440532023000')).toEqual(same)
  const { data } = await json(askAdmin(`${PAYEE}/versions`))
  expect(data[0].changes).toEqual([{ field: 'iban', before: 'DE…3000', now: 'DE…3000' }])
})

test('§20.1 the versions say who entered and approved each, when, what was changed, and which transfers used it', async () => {
  const now = Date.now()
  await store('payer', 'main', PAYER)
  await askAdmin(PAYEE, 'PUT', ADA)
  await askAda(`${PAYEE}/approve`, 'POST', { version: 1 })
  await change('update payees set payable_from = 1')
  const paid = await sent({ 'aff-7': '5.00' })
  await change(
    `insert into affiliate_members (account, affiliate_id, id, name, created_at, last_seen_at, invited_by)
      values ('acme-forex', 'aff-7', 'm-1', 'Eve Adams', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'ada')`,
  )
  at(new Date(now + 1000).toISOString())
  await enter('affiliate-member m-1 aff-7', { ...ADA, iban: OTHER_IBAN, email: 'ada@x.example' })
  const { data } = await json(askAdmin(`${PAYEE}/versions`))
  expect(data).toMatchObject([
    {
      ...{ version: 2, state: 'entered', author: 'Eve Adams', invited_by: 'ada', approvals: [] },
      ...{ approved_at: null, transfers: [] },
      changes: [
        { field: 'email', before: null, now: 'a…@x.example' },
        { field: 'iban', before: 'DE…3000', now: 'FR…2606' },
      ],
    },
    {
      ...{
        version: 1,
        state: 'approved',
        entered_by: 'root-key',
        author: null,
        approvals: ['ada@team.example'],
      },
      transfers: [{ id: paid['aff-7'].id, batch: paid['aff-7'].batch }],
    },
  ])
  expect(data[1].changes).toContainEqual({ field: 'iban', before: null, now: 'DE…3000' })
  expect(Date.parse(data[1].approved_at)).toBeGreaterThanOrEqual(now)
})

test('§20.1 what a bank said stands until other details are approved', async () => {
  await store('payee', 'aff-7', ADA, { state: 'returned', reason: 'Account closed' })
  const said = async () => (await json(askAdmin(PAYEE))).reason
  for (const iban of [OTHER_IBAN, 'BE68539007547034']) {
    await askAdmin(PAYEE, 'PUT', { ...ADA, iban })
    expect(await said()).toBe('Account closed')
  }
  await askAda(`${PAYEE}/approve`, 'POST', { version: 3 })
  expect(await said()).toBe(null)
  await askAdmin(PAYEE, 'PUT', ADA)
  expect(await said()).toBe(null)
})
