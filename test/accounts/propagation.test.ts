import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { ask, askAdmin, askToken, json, issuedPartner as partner } from '../partner.ts'

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

test('a change of settings calls live access tokens but not revoked ones', async () => {
  const acme = await partner()
  const revoked = await tokenOf(acme)
  expect((await revoke(acme, revoked)).status).toBe(200)
  await askAdmin(`accounts/${acme.account}`, 'PATCH', { name: 'Renamed' })

  expect(await sentName(acme.access_token)).toBe('Renamed')
  expect(await sentName(revoked)).toBeUndefined()
})

test('a revoked token still counts toward the hourly limit', async () => {
  const acme = await partner()
  for (let i = 2; i < 60; i++) await tokenOf(acme)
  await revoke(acme, await tokenOf(acme))
  const { client_id, client_secret } = acme
  const refused = await askToken({ grant_type: 'client_credentials', client_id, client_secret })

  expect(refused.status).toBe(429)
})
