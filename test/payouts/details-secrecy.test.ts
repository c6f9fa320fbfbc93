import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { fetchWith } from '../checked-fetch.ts'
import { ask, askAdmin, json, ORIGIN, register } from '../partner.ts'
import { ofTheTeam } from '../team.ts'
import { confirmed, due, enter, enterPayer, PATH, SEPA } from './batch-rows.ts'

// Who neither reads bank details, nor has them paid, although they hold a key, a session or the database.

const KEYS = { manager: 'm'.repeat(32), ada: 'a'.repeat(32), ben: 'b'.repeat(32) }
const WORLD = {
  ...env,
  ADMIN_KEYS: JSON.stringify({
    manager: { key: KEYS.manager, role: 'manager' },
    ada: { key: KEYS.ada, role: 'approver' },
    ben: { key: KEYS.ben, role: 'approver' },
  }),
} as Env

/** Sends a request of a member of the team. */
const as = (who: keyof typeof KEYS, method: string, path: string, body?: object) => {
  const headers = { Authorization: `Bearer ${KEYS[who]}`, 'Content-Type': 'application/json' }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  return fetchWith(WORLD, new Request(`${ORIGIN}/admin/v1/${path}`, init), createExecutionContext())
}

beforeEach(async () => {
  await register('forex', { affiliates: ['aff-7', 'aff-8'] })
  await enterPayer()
  await enter('payee', 'aff-7', SEPA)
})

test('§20.1 one approver alone lowers no hold, and a manager shortens no retention', async () => {
  const set = async (who: keyof typeof KEYS, change: object) =>
    (await as(who, 'PATCH', PATH, change)).status
  expect(await set('ada', { payee_hold_hours: 0 })).toBe(409)
  expect(await set('ada', { payee_hold_hours: 0 })).toBe(409)
  expect(await set('ben', { payee_hold_hours: 1 })).toBe(409)
  expect(await json(askAdmin(PATH))).toMatchObject({ payee_hold_hours: 72 })
  expect(await set('ben', { payee_hold_hours: 0 })).toBe(200)
  expect(await set('ada', { payee_hold_hours: 100 })).toBe(200)
  expect(await set('ada', { payee_hold_hours: 0 })).toBe(409)
  expect(await set('manager', { retain_years: 1 })).toBe(403)
})

test('§20.3 a page of another site exports no file by the session of Access', async () => {
  await due('aff-7', '10.00')
  const { id } = await confirmed()
  const headers = { 'Cf-Access-Jwt-Assertion': await ofTheTeam(), 'Sec-Fetch-Site': 'cross-site' }
  expect((await ask(`/admin/v1/${PATH}/batches/${id}/file`, { headers })).status).toBe(401)
  expect(await json(askAdmin(`${PATH}/batches/${id}`))).toMatchObject({ state: 'created' })
})
