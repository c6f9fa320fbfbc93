import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { verifyRegistration, verifySignIn } from '../../src/platform/auth/passkeys.ts'
import { ALGORITHMS, type Deviation, FLAGS, newPasskey, REFUSED } from '../portal/authenticator.ts'

// Each step of WebAuthn Level 3 at which a passkey is refused, with a device in software that can answer wrongly.

const RP = 'api.example'
const MEMBER = 'mem-1'

type Device = Awaited<ReturnType<typeof newPasskey>>

const create = (device: Device, by?: Deviation) =>
  device.create({ challenge: 'new', rp: { id: RP }, user: { id: handleOf(MEMBER) } }, by)

const handleOf = (member: string) => btoa(member).replaceAll('=', '')

async function register(algorithm: keyof typeof ALGORITHMS = '-7', by?: Deviation) {
  const device = await newPasskey(algorithm)
  const answer = await create(device, by)
  const made = await verifyRegistration(env, 'new', answer)
  return { device, answer, passkey: { ...made!, member: MEMBER } }
}

const verify = (answer: string, passkey: Parameters<typeof verifySignIn>[3], challenge = 'in') =>
  verifySignIn(env, { challenge, member: null }, answer, passkey)

const algorithms = Object.keys(ALGORITHMS) as (keyof typeof ALGORITHMS)[]

test.each(algorithms)('a device whose keys are of the algorithm %s signs in', async (algorithm) => {
  const { device, passkey } = await register(algorithm)
  expect(passkey.algorithm).toBe(Number(algorithm))
  const answer = await device.get({ challenge: 'in', rpId: RP })
  expect(await verify(answer, passkey)).toEqual({ ...passkey, counter: 2 })
  expect(await verify(answer, passkey, 'other')).toBe(null)
})

// Of 256 numbers in a signature one is shorter, since DER leaves out zeros in front.
test('each signature in DER is read', async () => {
  const { device, passkey } = await register('-7')
  for (let i = 0; i < 600; i++) {
    const answer = await device.get({ challenge: 'in', rpId: RP })
    expect(await verify(answer, passkey)).toMatchObject({ counter: i + 2 })
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
    expect(await verify(one, passkey), one).toBe(null)
  }
  for (const text of ['', '{}', 'null', '[]', '{"id":"a","type":"public-key","response":{}}']) {
    expect(await verify(text, passkey)).toBe(null)
    expect(await verifyRegistration(env, 'new', text)).toBe(null)
  }
})

/** Registers with a device whose answer is changed before it is sent. Returns what is stored. */
async function registerChanged(change: (response: Record<string, unknown>) => object) {
  const { answer } = await register('-7')
  const { response, ...others } = JSON.parse(answer)
  const sent = { ...others, response: { ...response, ...change(response) } }
  return verifyRegistration(env, 'new', JSON.stringify(sent))
}

test('§7.1 a registration is refused whose key is not of the algorithm that the browser names', async () => {
  expect(await registerChanged(() => ({}))).toMatchObject({ algorithm: -7, counter: 1 })
  for (const wrong of [
    { publicKey: 'AAAA' },
    // As EdDSA, with which its owner could not sign in.
    { publicKeyAlgorithm: -8 },
    { publicKeyAlgorithm: -257 },
    { publicKeyAlgorithm: -36 },
  ]) {
    expect([wrong, await registerChanged(() => wrong)]).toEqual([wrong, null])
  }
})

test.each(algorithms)('§7.1 no part of a key of the algorithm %s is registered', async (by) => {
  const { response, ...others } = JSON.parse((await register(by)).answer)
  const key = Uint8Array.fromBase64(response.publicKey, { alphabet: 'base64url' })
  for (let length = 0; length < key.length; length++) {
    const publicKey = key.slice(0, length).toBase64({ alphabet: 'base64url', omitPadding: true })
    const sent = JSON.stringify({ ...others, response: { ...response, publicKey } })
    expect([length, await verifyRegistration(env, 'new', sent)]).toEqual([length, null])
  }
})

test('§7.1 RSA keys have 2048 bits or more, and ids at most 1023 bytes', async () => {
  for (const [algorithm, size, isAccepted] of [
    ['-257', { modulusLength: 2048 }, true],
    ['-257', { modulusLength: 1024 }, false],
    ['-7', { idLength: 1023 }, true],
    ['-7', { idLength: 1024 }, false],
  ] as const) {
    const made = await verifyRegistration(
      env,
      'new',
      await create(await newPasskey(algorithm, size)),
    )
    expect([size, made !== null]).toEqual([size, isAccepted])
  }
})

const { UP, UV, BE, BS, AT } = FLAGS

test('§7.1 a registration is refused from an iframe, without its user or with impossible flags', async () => {
  for (const by of [...REFUSED, { flags: UP | UV }]) {
    const answer = await create(await newPasskey(), by)
    expect([by, await verifyRegistration(env, 'new', answer)]).toEqual([by, null])
  }
})

test('§7.2 a sign-in is refused from an iframe, without its user or with impossible flags', async () => {
  const { device, passkey } = await register()
  for (const by of REFUSED) {
    const answer = await device.get({ challenge: 'in', rpId: RP }, by)
    expect([by, await verify(answer, passkey)]).toEqual([by, null])
  }
})

test('§7.2 whether a passkey can be copied never changes, and whether it is copied is kept', async () => {
  for (const [registered, used, backed_up] of [
    [0, 0, 0],
    [BE, BE, 0],
    [BE, BE | BS, 1],
    [BE | BS, BE, 0],
    [0, BE, null],
    [BE, 0, null],
  ] as const) {
    const { device, passkey } = await register('-7', { flags: UP | UV | AT | registered })
    const answer = await device.get({ challenge: 'in', rpId: RP }, { flags: UP | UV | used })
    const found = await verify(answer, passkey)
    expect([registered, used, found?.backed_up ?? null]).toEqual([registered, used, backed_up])
  }
})

test('§7.2 a device says whose passkey signs in; of a member who is known it may say nothing', async () => {
  const { device, passkey } = await register()
  const ask = async (userHandle: string | null | undefined, member: string | null) => {
    const answer = await device.get(
      { challenge: 'in', rpId: RP },
      userHandle === undefined ? {} : { userHandle },
    )
    return (await verifySignIn(env, { challenge: 'in', member }, answer, passkey)) !== null
  }
  for (const [userHandle, member, isAccepted] of [
    [undefined, null, true],
    [null, null, false],
    [handleOf('mem-2'), null, false],
    [undefined, MEMBER, true],
    [null, MEMBER, true],
    [handleOf('mem-2'), MEMBER, false],
    [undefined, 'mem-2', false],
    [null, 'mem-2', false],
    [handleOf('mem-2'), 'mem-2', false],
  ] as const) {
    expect([userHandle, member, await ask(userHandle, member)]).toEqual([
      userHandle,
      member,
      isAccepted,
    ])
  }
})
