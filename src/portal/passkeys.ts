import * as v from 'valibot'
import type { Passkey } from '../affiliates/db/affiliate-members.ts'
import { decodeBase64url, encodeBase64url } from '../platform/auth/base64url.ts'
import { passkeyOrigin } from '../platform/development.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { signText, verifyText } from '../platform/http/sign-text.ts'

// Passkeys by WebAuthn Level 3. The service asks for user verification and for keys that the browser finds
// without a user name. It does not ask who made the device (attestation), so nothing of a registration is signed, and the
// public key can be taken from the browser's JSON, in the form that WebCrypto reads.

/** How long a challenge can be answered, in milliseconds. */
const CHALLENGE_MS = 10 * MINUTE_MS

/** The algorithms of COSE that are accepted, as WebCrypto names them: ES256, which all devices have, Ed25519 and RS256. */
const ALGORITHMS = new Map([
  [-7, { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }],
  [-8, { name: 'Ed25519' }],
  [-257, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }],
])

/** A challenge as the page keeps it: signed, so that it can be answered only where it was asked for. */
export interface Challenge {
  readonly challenge: string
  /** The challenge with its end and the member that it is for, signed. */
  readonly state: string
}

/** What a challenge was signed for. */
export interface ExpectedChallenge {
  readonly challenge: string
  readonly until: number
  /** The member who registers; null at the sign-in. */
  readonly member: string | null
}

const contextOf = (account: string, purpose: string) => `portal challenge ${account} ${purpose}`

/** Returns a new challenge of 256 random bits for a purpose, which can be answered for `ms` milliseconds from `now` on. */
export async function newChallenge(
  env: Env,
  account: string,
  purpose: string,
  { member = null, now, ms = CHALLENGE_MS }: { member?: string | null; now: number; ms?: number },
): Promise<Challenge> {
  const challenge = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const expected: ExpectedChallenge = { challenge, until: now + ms, member }
  const state = await signText(env, contextOf(account, purpose), JSON.stringify(expected))
  return { challenge, state }
}

/** Returns the challenge that was signed; null if the state is of another purpose or account, or too old. */
export async function readChallenge(
  env: Env,
  account: string,
  purpose: string,
  { state, now }: { state: string; now: number },
): Promise<ExpectedChallenge | null> {
  const text = await verifyText(env, contextOf(account, purpose), state)
  if (text === null) return null
  const expected: ExpectedChallenge = JSON.parse(text)
  return expected.until > now ? expected : null
}

/** Marks a challenge as answered. Returns false if it was before: its answer is a replay. */
export const useChallenge = (env: Env, { challenge, until }: ExpectedChallenge): Promise<boolean> =>
  env.CLIENT_GATE.getByName(`challenge:${challenge}`).useOnce(until)

const hostOf = (env: Env) => passkeyOrigin(env).hostname
const originOf = (env: Env) => passkeyOrigin(env).origin

const userIdOf = (member: string) => encodeBase64url(new TextEncoder().encode(member))

/** Whom a new passkey is for, as the device shows it. */
export interface PasskeyOwner {
  readonly member: string
  readonly name: string
  readonly service: string
}

const descriptorOf = ({ credential_id, transports }: Passkey) => ({
  type: 'public-key',
  id: credential_id,
  transports: JSON.parse(transports),
})

/** Returns the options of `navigator.credentials.create` as JSON. `existing` are the passkeys of the member. */
export const creationOptions = (
  env: Env,
  { challenge }: Challenge,
  { member, name, service }: PasskeyOwner,
  existing: readonly Passkey[],
) => ({
  rp: { id: hostOf(env), name: service },
  user: { id: userIdOf(member), name, displayName: name },
  challenge,
  pubKeyCredParams: [...ALGORITHMS.keys()].map((alg) => ({ type: 'public-key', alg })),
  timeout: CHALLENGE_MS,
  excludeCredentials: existing.map(descriptorOf),
  authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  attestation: 'none',
})

/** Returns the options of `navigator.credentials.get` as JSON. Any passkey may answer if none are named. */
export const requestOptions = (
  env: Env,
  { challenge }: Challenge,
  keys: readonly Passkey[] = [],
) => ({
  rpId: hostOf(env),
  challenge,
  timeout: CHALLENGE_MS,
  userVerification: 'required',
  ...(keys.length > 0 && { allowCredentials: keys.map(descriptorOf) }),
})

/** Bytes, which the browser writes in base64url. */
const BYTES = v.pipe(v.string(), v.transform(decodeBase64url), v.instance(Uint8Array))

/** A public key: its DER, whose length is that of a long RSA key at most. */
const PUBLIC_KEY = v.pipe(v.string(), v.maxLength(2000))

const answer = <R extends v.ObjectEntries>(entries: R) =>
  v.pipe(
    v.string(),
    v.parseJson(),
    v.object({
      id: v.pipe(v.string(), v.regex(/^[\w-]{1,1400}$/)),
      type: v.literal('public-key'),
      response: v.object({ clientDataJSON: BYTES, authenticatorData: BYTES, ...entries }),
    }),
  )

/** The answer of `navigator.credentials.create`: a RegistrationResponseJSON. */
const REGISTRATION = answer({
  publicKey: PUBLIC_KEY,
  publicKeyAlgorithm: v.number(),
  transports: v.optional(v.array(v.string()), []),
})

/** The answer of `navigator.credentials.get`: an AuthenticationResponseJSON. */
const ASSERTION = answer({ signature: BYTES, userHandle: v.nullish(v.string()) })

/** Reads the id of the passkey that answers a challenge; null if the text is no answer. */
export function credentialIdOf(text: string): string | null {
  const read = v.safeParse(ASSERTION, text)
  return read.success ? read.output.id : null
}

const sha256 = async (bytes: BufferSource) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

/** Returns whether a browser answered a challenge of this service, on its own page. */
const isClientData = (env: Env, bytes: Uint8Array, type: string, challenge: string): boolean =>
  v.is(
    v.pipe(
      v.string(),
      v.parseJson(),
      v.object({
        type: v.literal(type),
        challenge: v.literal(challenge),
        origin: v.literal(originOf(env)),
        crossOrigin: v.optional(v.literal(false)),
      }),
    ),
    new TextDecoder().decode(bytes),
  )

/** User present, and verified. */
const VERIFIED = 0b101

/** Where the counter stands in the data of an authenticator (WebAuthn §6.1), and what it says of a new key. */
const AT = { flags: 32, counter: 33, idLength: 53, id: 55 }

/** Returns the counter of an authenticator that verified a user for this service; null if the data is of none. */
async function counterOf(env: Env, data: Uint8Array): Promise<number | null> {
  const host = encodeBase64url(await sha256(new TextEncoder().encode(hostOf(env))))
  const isVerified = ((data[AT.flags] ?? 0) & VERIFIED) === VERIFIED
  if (data.length < AT.counter + 4 || !isVerified) return null
  if (encodeBase64url(data.subarray(0, AT.flags)) !== host) return null
  return viewOf(data).getUint32(AT.counter)
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

/** Returns the id of the key that an authenticator made; null if it made none. */
function newIdOf(data: Uint8Array): string | null {
  if (data.length < AT.id) return null
  return encodeBase64url(data.subarray(AT.id, AT.id + viewOf(data).getUint16(AT.idLength)))
}

/** Returns a public key with its algorithm; null if it is of no algorithm that is accepted, or no key. */
async function importKey({ public_key, algorithm }: Pick<Passkey, 'public_key' | 'algorithm'>) {
  const by = ALGORITHMS.get(algorithm)
  const bytes = decodeBase64url(public_key)
  if (!by || !bytes) return null
  const key = await crypto.subtle.importKey('spki', bytes, by, false, ['verify']).catch(() => null)
  return key && { by, key }
}

/**
 * Returns a signature of ES256 as WebCrypto reads it: r and s, each of 32 bytes. WebAuthn writes it in DER, as a sequence
 * of two integers (§6.5.5). Null if it is none.
 */
function fromDer(der: Uint8Array): Uint8Array | null {
  const raw = new Uint8Array(64)
  let at = 2
  for (const end of [32, 64]) {
    const start = at + 2
    const next = start + (der[at + 1] ?? 0)
    // A zero stands before a number whose first bit is set: others would be negative.
    const digits = der.subarray(der[start] === 0 ? start + 1 : start, next)
    if (der[at] !== 2 || digits.length === 0 || digits.length > 32) return null
    raw.set(digits, end - digits.length)
    at = next
  }
  return der[0] === 0x30 && der[1] === der.length - 2 && at === der.length ? raw : null
}

/** What is stored of a new passkey. */
export type NewPasskey = Pick<
  Passkey,
  'credential_id' | 'public_key' | 'algorithm' | 'counter' | 'transports'
>

/** Verifies the answer of `navigator.credentials.create`. Returns null if it is not acceptable. */
export async function verifyRegistration(
  env: Env,
  challenge: string,
  text: string,
): Promise<NewPasskey | null> {
  const read = v.safeParse(REGISTRATION, text)
  if (!read.success) return null
  const { id, response } = read.output
  const { publicKey, publicKeyAlgorithm, authenticatorData, clientDataJSON, transports } = response
  const counter = await counterOf(env, authenticatorData)
  const key = { public_key: publicKey, algorithm: publicKeyAlgorithm }
  const isAnswer = isClientData(env, clientDataJSON, 'webauthn.create', challenge)
  if (!isAnswer || counter === null || newIdOf(authenticatorData) !== id) return null
  if ((await importKey(key)) === null) return null
  const known = transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 8)
  return { credential_id: id, ...key, counter, transports: JSON.stringify(known) }
}

/**
 * Verifies the answer of `navigator.credentials.get` with a stored passkey: origin, user verification and signature.
 * Returns the new counter, which must not have gone back; null if the answer is not acceptable.
 */
export async function verifySignIn(
  env: Env,
  challenge: string,
  text: string,
  passkey: Passkey,
): Promise<number | null> {
  const read = v.safeParse(ASSERTION, text)
  const imported = await importKey(passkey)
  if (!read.success || !imported) return null
  const { authenticatorData, clientDataJSON, signature, userHandle } = read.output.response
  const { by, key } = imported
  const signed = new Uint8Array([...authenticatorData, ...(await sha256(clientDataJSON))])
  const bytes = by.name === 'ECDSA' ? fromDer(signature) : signature
  // WebCrypto throws at a signature of another length.
  const isSigned = bytes && (await crypto.subtle.verify(by, key, bytes, signed).catch(() => false))
  const isOwn = (userHandle ?? userIdOf(passkey.member)) === userIdOf(passkey.member)
  const isAnswer = isClientData(env, clientDataJSON, 'webauthn.get', challenge)
  return isSigned && isOwn && isAnswer ? counterOf(env, authenticatorData) : null
}
