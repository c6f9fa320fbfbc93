import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Passkey } from '../../src/affiliates/db/affiliate-members.ts'
import { verifyRegistration, verifySignIn } from '../../src/portal/passkeys.ts'
import { ALGORITHMS, newPasskey } from './authenticator.ts'

const RP = 'api.example'
const MEMBER = 'mem-1'

async function register(algorithm: keyof typeof ALGORITHMS) {
  const device = await newPasskey(algorithm)
  const user = { id: btoa(MEMBER).replaceAll('=', '') }
  const answer = await device.create({ challenge: 'new', rp: { id: RP }, user })
  const made = await verifyRegistration(env, 'new', answer)
  return { device, answer, passkey: { ...made, member: MEMBER } as Passkey }
}

const algorithms = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[]

test.each(algorithms)('a device whose keys are of the algorithm %s signs in', async (algorithm) => {
  const { device, passkey } = await register(algorithm)
  expect(passkey.algorithm).toBe(Number(algorithm))
  const answer = await device.get({ challenge: 'in', rpId: RP })
  expect(await verifySignIn(env, 'in', answer, passkey)).toBe(2)
  expect(await verifySignIn(env, 'other', answer, passkey)).toBe(null)
})

// Of 256 numbers in a signature one is shorter, since DER leaves out zeros in front.
test('each signature in DER is read', async () => {
  const { device, passkey } = await register('-7')
  for (let i = 0; i < 600; i++) {
    const answer = await device.get({ challenge: 'in', rpId: RP })
    expect(await verifySignIn(env, 'in', answer, passkey)).toBe(i + 2)
  }
})

/** Yields answers each of which has one byte that the device did not send. */
function* altered(answer: string, members: readonly string[]) {
  const { response, ...others } = JSON.parse(answer)
  for (const member of members) {
    const bytes = Uint8Array.fromBase64(response[member], { alphabet: 'base64url' })
    for (let i = 0; i < bytes.length; i++) {
      const changed = bytes.with(i, bytes[i]! ^ 0x10)
      const text = changed.toBase64({ alphabet: 'base64url', omitPadding: true })
      yield JSON.stringify({ ...others, response: { ...response, [member]: text } })
    }
    yield JSON.stringify({ ...others, response: { ...response, [member]: '' } })
    yield JSON.stringify({ ...others, response: { ...response, [member]: undefined } })
  }
}

test.each(algorithms)('no altered answer signs in with %s', async (algorithm) => {
  const { device, passkey } = await register(algorithm)
  const answer = await device.get({ challenge: 'in', rpId: RP })
  const members = ['clientDataJSON', 'authenticatorData', 'signature']
  for (const one of altered(answer, members)) {
    expect(await verifySignIn(env, 'in', one, passkey), one).toBe(null)
  }
  for (const text of ['', '{}', 'null', '[]', '{"id":"a","type":"public-key","response":{}}']) {
    expect(await verifySignIn(env, 'in', text, passkey)).toBe(null)
    expect(await verifyRegistration(env, 'new', text)).toBe(null)
  }
})

test('a registration names the key that the device made', async () => {
  const { answer } = await register('-7')
  const { response, ...others } = JSON.parse(answer)
  const other = JSON.parse((await register('-7')).answer).response
  const wrong = [
    { ...others, id: 'b3RoZXI', response },
    { ...others, response: { ...response, authenticatorData: other.authenticatorData } },
    { ...others, response: { ...response, publicKey: 'AAAA' } },
    { ...others, response: { ...response, publicKeyAlgorithm: -257 } },
    { ...others, response: { ...response, publicKeyAlgorithm: -36 } },
  ]
  for (const one of wrong) {
    expect(await verifyRegistration(env, 'new', JSON.stringify(one))).toBe(null)
  }
})
