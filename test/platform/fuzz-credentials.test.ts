import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWellFormed, newSecret } from '../../src/platform/auth/secret.ts'
import { brand } from '../brand.ts'
import { everyEdit, isSendable, mangled, singleEdits } from '../fuzz/edits.ts'
import { holds, isLong, PATIENCE } from '../fuzz/runs.ts'
import { type Answer, listening, send } from '../fuzz/send.ts'
import { forger } from '../fuzz/tokens.ts'
import { partner } from '../partner.ts'

// An almost valid credential is refused. The validating functions are tried with every edit by one
// character; HTTP requests are made with some of the edits, or with all of them in a long run.

/** One in so many edits of a token is sent over HTTP, and all in a long run of `npm run worlds -- fuzz`. */
const SENT_ONE_IN = isLong ? 1 : 8

const sentEdits = (token: string) =>
  [...new Set(isLong ? everyEdit(token) : singleEdits(token))].filter(
    (_, i) => i % SENT_ONE_IN === 0,
  )

describe('an access token', () => {
  const CHALLENGE = 'Bearer realm="api", error="invalid_token"'
  const isRefused = ({ status, headers, text }: Answer) =>
    status === 401 &&
    headers.get('WWW-Authenticate') === CHALLENGE &&
    JSON.parse(text).code === 'invalid_token'

  const sendTo = (world: Env) => (token: string) =>
    send('/api/v1/forex/customers', { headers: { Authorization: `Bearer ${token}` } }, world)

  test('an edited access token is refused without a call to an object', {
    timeout: PATIENCE,
  }, async () => {
    const { access_token } = await partner()
    const { world, objectNames } = listening()
    const attempt = sendTo(world)
    expect((await attempt(access_token)).status).toBe(200)
    objectNames.length = 0

    let attempts = 0
    const accepted: string[] = []
    for (const edited of sentEdits(access_token)) {
      // Space around the value is not part of a header.
      if (!isSendable(edited) || edited.trim() === access_token) continue
      attempts += 1
      if (!isRefused(await attempt(edited))) accepted.push(edited)
    }
    expect([accepted, objectNames]).toEqual([[], []])
    expect(attempts).toBeGreaterThan(access_token.length)
  })

  test('a forged access token is refused without a call to an object', {
    timeout: PATIENCE,
  }, async () => {
    const { access_token } = await partner()
    const { world, objectNames } = listening()
    const attempt = sendTo(world)
    await holds(80, await forger(access_token), async (make) => {
      const forged = await make()
      if (!isSendable(forged) || forged.trim() === access_token) return
      expect(await attempt(forged)).toSatisfy(isRefused)
    })
    expect(objectNames).toEqual([])
  })

  test('an access token with any scheme other than Bearer is refused', {
    timeout: PATIENCE,
  }, async () => {
    const { access_token } = await partner()
    const scheme = fc.oneof(
      fc.constantFrom('Basic ', 'Token ', 'bearer', 'Bearer:', 'Bearer\t', 'JWT ', '', 'DPoP '),
      mangled('Bearer '),
    )
    await holds(40, scheme, async (prefix) => {
      if (!isSendable(prefix) || /^\s*bearer +$/i.test(prefix)) return
      const Authorization = prefix + access_token
      const answer = await send('/api/v1/forex/customers', { headers: { Authorization } })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer realm="api"/)
    })
  })
})

describe('a Brand Token', () => {
  const bodyOf = ({ text }: Answer) => JSON.stringify({ ...JSON.parse(text), request_id: null })
  const sendTo = (world: Env) => (token: string) =>
    send('/tracking/events/customers', { headers: { 'x-api-key': token } }, world)

  test('a Brand Token with any one character edited is malformed', () => {
    const token = newSecret('tbt', 'test')
    expect(isWellFormed(token, 'tbt')).toBe(true)
    expect([...everyEdit(token)].filter((edited) => isWellFormed(edited, 'tbt'))).toEqual([])
  })

  test('an edited Brand Token is refused like a missing one, without an object call', {
    timeout: PATIENCE,
  }, async () => {
    const { brand_token } = await brand()
    const { world, objectNames } = listening()
    const attempt = sendTo(world)
    expect((await attempt(brand_token)).status).toBe(200)
    objectNames.length = 0

    const withoutToken = bodyOf(await attempt(''))
    const accepted: string[] = []
    for (const edited of sentEdits(brand_token)) {
      if (!isSendable(edited) || edited.trim() === brand_token) continue
      const answer = await attempt(edited)
      if (answer.status !== 401 || bodyOf(answer) !== withoutToken) accepted.push(edited)
    }
    expect([accepted, objectNames]).toEqual([[], []])
  })

  test('an unknown Brand Token gets the same response as a missing one', {
    timeout: PATIENCE,
  }, async () => {
    const { brand_token } = await brand()
    const attempt = sendTo(env)
    const withoutToken = bodyOf(await attempt(''))
    const unopened = newSecret('tbt', 'test')
    const guesses: fc.Arbitrary<() => string> = fc.oneof(
      { weight: 8, arbitrary: mangled(brand_token).map((text) => () => text) },
      { weight: 2, arbitrary: fc.string({ maxLength: 80 }).map((text) => () => text) },
      fc.constantFrom(
        () => unopened,
        () => newSecret('tcs', 'test'),
        () => brand_token.replace('test', 'live'),
        () => `Bearer ${brand_token}`,
        () => `${brand_token}, ${brand_token}`,
        () => `${brand_token}\t${brand_token}`,
        () => brand_token.repeat(1000),
      ),
    )
    await holds(60, guesses, async (guess) => {
      const token = guess()
      if (!isSendable(token) || token.trim() === brand_token) return
      const answer = await attempt(token)
      expect([answer.status, bodyOf(answer)]).toEqual([401, withoutToken])
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^ApiKey /)
    })
  })
})
