import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { brand } from '../brand.ts'
import { countCalls } from '../ingest/watched.ts'
import { ask, askAdmin, askToken, json, issuedPartner as partner } from '../partner.ts'

// A change of settings calls only the objects of live credentials, because a call wakes an object.

const changeSettings = (account: string, name: string) =>
  countCalls(`/admin/v1/accounts/${account}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  })

/** Returns the account name in the settings that were sent to a token's object, if any. */
const sentName = (token: string) =>
  runInDurableObject(env.TOKEN_GATE.getByName(decodeJwt(token).jti!), (_, { storage }) =>
    storage.kv.get<{ name: string }>('settings'),
  ).then((settings) => settings?.name)

const revoke = (acme: { client_id: string; client_secret: string }, token: string) =>
  ask('/oauth/revoke', {
    method: 'POST',
    body: new URLSearchParams({
      client_id: acme.client_id,
      client_secret: acme.client_secret,
      token,
    }),
  })

const tokenOf = async ({ client_id, client_secret }: Awaited<ReturnType<typeof partner>>) => {
  const grant = { grant_type: 'client_credentials', client_id, client_secret }
  return (await json(askToken(grant))).access_token as string
}

describe('changes of settings', () => {
  test('a change of settings calls live access tokens but not revoked ones', async () => {
    const acme = await partner()
    const revoked = await tokenOf(acme)
    expect((await revoke(acme, revoked)).status).toBe(200)
    await changeSettings(acme.account, 'Renamed')

    expect(await sentName(acme.access_token)).toBe('Renamed')
    expect(await sentName(revoked)).toBeUndefined()
  })

  test('a change of settings does not call expired access tokens', async () => {
    const acme = await partner()
    const issuedAt = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      vi.setSystemTime(issuedAt + 3_599_000)
      const fresh = await tokenOf(acme)
      vi.setSystemTime(issuedAt + 3_601_000)
      await changeSettings(acme.account, 'Renamed')

      expect(await sentName(fresh)).toBe('Renamed')
      expect(await sentName(acme.access_token)).toBeUndefined()
    } finally {
      vi.useRealTimers()
    }
  })

  test('a change of settings does not call tokens that a rotation ended', async () => {
    const acme = await partner()
    await askAdmin(`accounts/${acme.account}/clients/${acme.client_id}/rotate`, 'POST', {
      overlap: 'none',
    })
    const tokenObject = env.TOKEN_GATE.getByName(decodeJwt(acme.access_token).jti!)
    const alarm = () => runInDurableObject(tokenObject, (_, { storage }) => storage.getAlarm())
    const before = await alarm()
    await scheduler.wait(5)
    await changeSettings(acme.account, 'Renamed')

    expect(await alarm()).toBe(before)
    expect(await sentName(acme.access_token)).toBeUndefined()
  })

  test('a change of settings does not call a client known as revoked', async () => {
    const acme = await partner()
    await askAdmin(`accounts/${acme.account}/clients`, 'POST')
    expect((await changeSettings(acme.account, 'One')).calls).toHaveLength(2)
    await askAdmin(`accounts/${acme.account}/clients/${acme.client_id}`, 'DELETE')

    expect((await changeSettings(acme.account, 'Two')).calls).toEqual(['applySettings'])
    expect((await acme.get('account')).status).toBe(401)
  })

  test('a change of settings does not call a Brand Token known as ended', async () => {
    const casino = await brand()
    await askAdmin(`accounts/${casino.account}/brand-tokens`, 'POST', { overlap: 'none' })

    expect((await changeSettings(casino.account, 'One')).calls).toEqual(['open'])
    expect((await casino.get('account')).status).toBe(401)
  })
})

test('a revoked token still counts toward the hourly limit', async () => {
  const acme = await partner()
  for (let i = 1; i < 60; i++) await revoke(acme, await tokenOf(acme))
  const { client_id, client_secret } = acme
  const refused = await askToken({ grant_type: 'client_credentials', client_id, client_secret })

  expect(refused.status).toBe(429)
})
