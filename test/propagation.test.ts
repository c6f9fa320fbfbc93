import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { brand } from './brand.ts'
import { ask, askAdmin, askToken, json, partner } from './partner.ts'
import { watched } from './watched.ts'

// A change of settings calls the objects of live credentials only: an object that it calls is woken.

const changeSettings = (account: string, name: string) =>
  watched(`/admin/v1/accounts/${account}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name }),
  })

/** The name of the account in the settings that a change of settings sent to a token's object. */
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

describe('a change of settings', () => {
  test('reaches live access tokens, and leaves revoked ones asleep', async () => {
    const acme = await partner()
    const revoked = await tokenOf(acme)
    expect((await revoke(acme, revoked)).status).toBe(200)
    await changeSettings(acme.account, 'Renamed')

    expect(await sentName(acme.access_token)).toBe('Renamed')
    expect(await sentName(revoked)).toBeUndefined()
  })

  test('leaves expired access tokens asleep', async () => {
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

  test('leaves the tokens that a rotation without overlap ended asleep', async () => {
    const acme = await partner()
    await askAdmin(`accounts/${acme.account}/clients/${acme.client_id}/rotate`, 'POST')
    const gate = env.TOKEN_GATE.getByName(decodeJwt(acme.access_token).jti!)
    const alarm = () => runInDurableObject(gate, (_, { storage }) => storage.getAlarm())
    const before = await alarm()
    await scheduler.wait(5)
    await changeSettings(acme.account, 'Renamed')

    expect(await alarm()).toBe(before)
    expect(await sentName(acme.access_token)).toBeUndefined()
  })

  test('calls a revoked client only until it is known to be revoked', async () => {
    const acme = await partner()
    await askAdmin(`accounts/${acme.account}/clients`, 'POST')
    expect((await changeSettings(acme.account, 'One')).calls).toHaveLength(2)
    await askAdmin(`accounts/${acme.account}/clients/${acme.client_id}`, 'DELETE')

    expect((await changeSettings(acme.account, 'Two')).calls).toEqual(['applySettings'])
    expect((await acme.get('account')).status).toBe(401)
  })

  test('calls an ended Brand Token only until it is known to be ended', async () => {
    const casino = await brand()
    await askAdmin(`accounts/${casino.account}/brand-tokens`, 'POST')

    expect((await changeSettings(casino.account, 'One')).calls).toEqual(['open'])
    expect((await casino.get('account')).status).toBe(401)
  })
})

test('a revoked token still counts as minted', async () => {
  const acme = await partner()
  for (let i = 1; i < 60; i++) await revoke(acme, await tokenOf(acme))
  const { client_id, client_secret } = acme
  const refused = await askToken({ grant_type: 'client_credentials', client_id, client_secret })

  expect(refused.status).toBe(429)
})
