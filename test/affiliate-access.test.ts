import { beforeEach, expect, test } from 'vitest'
import { signedIn } from './console/browser.ts'
import { askAdmin, json, issuedPartner as partner } from './partner.ts'

// Who may sign in for an affiliate: its profile and state, invitations and members.

const AT = '/console/accounts/acme'

beforeEach(async () => {
  await partner('forex', { account: 'acme', affiliates: ['IB-07', 'IB-08'] })
})

const put = (...body: object[]) => askAdmin('accounts/acme/affiliates', 'PUT', body)
const read = async (id: string) =>
  (await json(askAdmin(`accounts/acme/affiliates?affiliate_id=${id}`))).data[0]
const auditLog = () => json(askAdmin('audit-log?account=acme'))

const PROFILE = {
  display_name: 'Forex Friends',
  contact_email: 'ada@friends.example',
  language: 'de',
  note: 'Call in the morning.',
  status: 'suspended',
}

test('a profile has language, note and status, and keeps what a request leaves out', async () => {
  expect(await read('IB-07')).toMatchObject({ language: null, note: null, status: 'active' })
  expect(await json(put({ affiliate_id: 'IB-07', ...PROFILE }))).toEqual({
    received: 1,
    changed: 1,
  })
  expect(await read('IB-07')).toEqual({ affiliate_id: 'IB-07', parent: null, ...PROFILE })

  await put({ affiliate_id: 'IB-07', note: null }, { affiliate_id: 'IB-09', language: 'pt' })
  expect(await read('IB-07')).toMatchObject({ ...PROFILE, note: null })
  expect(await read('IB-09')).toMatchObject({ language: 'pt', status: 'active' })
  expect(await json(put({ affiliate_id: 'IB-07', status: 'suspended' }))).toMatchObject({
    changed: 0,
  })
})

test('the audit log says what of a profile was changed, without personal values', async () => {
  await put({ affiliate_id: 'IB-07', ...PROFILE })
  const text = JSON.stringify(await auditLog())
  const changed = ['display_name', 'contact_email', 'language', 'note', 'status']
  expect((await json(askAdmin('audit-log?account=acme'))).data[0].details.profiles).toEqual([
    { affiliate_id: 'IB-07', changed, status: 'suspended' },
  ])
  expect(text).not.toMatch(/Friends|friends|morning/)
})

test('ids with white space around them, `*` and other values are refused', async () => {
  const refused = async (body: object) => {
    const { errors } = await json(put({ affiliate_id: 'IB-07', ...body }))
    return errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)
  }
  expect(await refused({ affiliate_id: ' IB-07' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ affiliate_id: 'IB-07\t' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ affiliate_id: '*' })).toEqual(['/0/affiliate_id pattern'])
  expect(await refused({ language: 'fr' })).toEqual(['/0/language enum'])
  expect(await refused({ status: null })).toEqual(['/0/status type'])
  expect(await refused({ status: 'closed' })).toEqual(['/0/status enum'])
  expect(await refused({ note: 'x'.repeat(501) })).toEqual(['/0/note length'])
})

test('the console suspends and reinstates an affiliate, and says so on page and list', async () => {
  const browser = await signedIn()
  const page = async (path: string) => (await browser.get(`${AT}${path}`)).text()
  const change = async (path: string, fields: Record<string, string>) =>
    browser.post(`${AT}${path}`, { csrf: await browser.csrf(`${AT}${path}`), ...fields })

  expect(await page('/affiliates/IB-07')).toContain('Suspend the affiliate')
  expect((await change('/affiliates/IB-07', { change: 'suspend' })).status).toBe(303)
  expect(await page('/affiliates/IB-07')).toMatch(/is suspended: nobody can sign in for it/)
  expect((await page('/affiliates')).match(/>suspended</g)).toHaveLength(1)

  const ticked = { change: 'reinstate', tick0: 'IB-07', tick1: 'IB-08' }
  await change('/affiliates', ticked)
  expect(await page('/affiliates')).toContain('1 affiliate reinstated. 1 had this state before.')
  expect(await read('IB-07')).toMatchObject({ status: 'active' })
  const log = (await page('/audit-log')).replaceAll(/<[^>]+>/g, ' ')
  expect(log.match(/IB-07\s*:\s*(?:suspended|reinstated)/g)).toHaveLength(2)
})
