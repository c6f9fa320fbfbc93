import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { readFile } from '../../src/payouts/answers/read.ts'
import { tendDetails } from '../../src/payouts/payees.ts'
import { digest } from '../../src/platform/auth/secret.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { rowsOf } from '../books/book-rows.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ask, askAdmin, json, ORIGIN, register } from '../partner.ts'
import { ofTheTeam } from '../team.ts'
import { askFile, confirmed, due, enter, enterPayer, PATH, SEPA } from './batch-rows.ts'

// Who neither reads bank details, nor has them paid, although they hold a key, a session or the database.

const KEYS = { manager: 'm'.repeat(32), approver: 'a'.repeat(32) }
const named = Object.entries(KEYS).map(([role, key]) => [role, { key, role }])
const WORLD = { ...env, ADMIN_KEYS: JSON.stringify(Object.fromEntries(named)) } as Env
type Role = keyof typeof KEYS

/** Sends a request of a member of the team. */
const as = (who: Role, method: string, path: string, sent: object | null = null, world = WORLD) => {
  const headers = { Authorization: `Bearer ${KEYS[who]}`, 'Content-Type': 'application/json' }
  const init = { method, headers, body: sent && JSON.stringify(sent) }
  const request = new Request(`${ORIGIN}/admin/v1/${PATH}${path}`, init)
  return fetchWith(world, request, createExecutionContext())
}

beforeEach(async () => {
  await register('forex', { affiliates: ['aff-7', 'aff-8'] })
  await enterPayer()
  await enter('payee', 'aff-7', SEPA)
  await due('aff-7', '10.00')
})

test('§20.3 a page of another origin exports no file by the session of Access', async () => {
  const { id } = await confirmed()
  for (const site of ['cross-site', 'same-site']) {
    const headers = { 'Cf-Access-Jwt-Assertion': await ofTheTeam(), 'Sec-Fetch-Site': site }
    expect((await ask(`/admin/v1/${PATH}/batches/${id}/file`, { headers })).status).toBe(401)
  }
  expect(await json(askAdmin(`${PATH}/batches/${id}`))).toMatchObject({ state: 'created' })
})

test('§20.1 no manager learns by trial whose number it is', async () => {
  const trial = { ...SEPA, iban: 'FR1420041010050500013M02606' }
  for (const id of ['aff-7', 'aff-8']) await as('manager', 'PUT', `/affiliates/${id}/payee`, trial)
  const told = async (who: Role) => {
    const { data } = await json(as(who, 'GET', '/payees'))
    const all = [...data, await json(as(who, 'GET', '/affiliates/aff-7/payee'))]
    return all.flatMap(({ changed, shared_with }) => [...changed, ...shared_with])
  }
  expect(await told('manager')).toEqual([])
  expect(await told('approver')).toEqual(['iban', 'aff-8', 'aff-7', 'iban', 'aff-8'])
})

test('§20.3 no number can be tried against what is stored of a file, which outlasts its key', async () => {
  const { id } = await confirmed()
  const text = await (await askFile(id)).text()
  const stored = [await rowsOf('payout_batches'), await rowsOf('audit_log')]
  expect(JSON.stringify(stored)).not.toContain(await digest(text))
  const account = (await findAccount(env.DB, 'acme-forex'))!
  const key = { kty: 'oct', alg: 'HS256', kid: 'new', k: 'A'.repeat(43) }
  for (const keys of [[key, ...JSON.parse(env.TRACKING_KEYS).keys], [key]]) {
    const world = { ...WORLD, TRACKING_KEYS: JSON.stringify({ keys }) }
    const file = await as('approver', 'GET', `/batches/${id}/file`, null, world)
    expect(await file.text()).toBe(text)
    await tendDetails(world, env.DB, account, Date.now())
  }
})

test('§20.4 numbers in the words of a bank are masked', () => {
  const words = 'Account DE89 3704 0044 0532 0130 00 is closed, DE89370400440532013000'
  const xml = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
    <OrgnlPmtInfAndSts><PmtInfSts>RJCT</PmtInfSts><StsRsnInf><AddtlInf>${words}</AddtlInf></StsRsnInf>
    </OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`
  readFile(new TextEncoder().encode(xml), ({ reason }) => {
    expect(reason).toBe('Account DE…0 00 is closed, DE…3000')
  })
  expect.hasAssertions()
})
