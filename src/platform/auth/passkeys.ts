import * as v from 'valibot'
import { passkeyOrigin } from '../development.ts'
import type { PasskeyRecord } from '../directory/passkeys.ts'
import { MINUTE_MS } from '../durations.ts'
import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { signText, verifyText } from './sign-text.ts'

// Passkeys by WebAuthn Level 3. The service asks for user verification and for keys that the browser finds
// without a user name. It does not ask who made the device (attestation), so nothing of a registration is signed.
//
// Step of the specification         | Function
// ----------------------------------|---------------------------------------------------------------------
// §7.1 1 options                    | `creationOptions`
// §7.1 3–6 the answer               | `REGISTRATION`
// §7.1 7–11 client data, no iframe  | `isClientData`
// §7.1 13 authenticator data        | `REGISTRATION`, from `getAuthenticatorData()`; `verifyRegistration` (AT flag)
// §7.1 14–17 host, UP, UV, BE, BS   | `readState`
// §7.1 20 algorithm, public key     | `importStoredKey`, from `getPublicKey()`: the device signs neither that nor its own form of the key
// §7.1 25 id of at most 1023 bytes  | `answer`
// §7.1 26 id that is not registered | the caller: each account finds passkeys among its own alone
// §7.1 27, 29 record                | `verifyRegistration` returns it; the caller stores it
// §7.2 1 options                    | `requestOptions`
// §7.2 3, 7–9 the answer            | `ASSERTION`
// §7.2 5–6 whose passkey it is      | `verifySignIn`
// §7.2 10–14 client data, no iframe | `isClientData`
// §7.2 15–18 host, UP, UV, BE, BS   | `readState`
// §7.2 19 BE as at the registration | `verifySignIn`
// §7.2 20–21 signature              | `verifySignIn`
// §7.2 22, 24 counter, BS           | `verifySignIn` returns them; the caller stores them if the counter rose
//
// Without meaning here: §7.1 12 and 21–24 (attestation), §7.1 18–19 (policies about copies of a passkey), and
// §7.1 28 and §7.2 23 (extensions, which are ignored).

/** The algorithms of COSE that are accepted, as WebCrypto names them: ES256, which all devices have, Ed25519 and RS256. */
const ALGORITHMS = new Map<unknown, SubtleCryptoImportKeyAlgorithm>([
  [-7, { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }],
  [-8, { name: 'Ed25519' }],
  [-257, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }],
])

/** The bytes of a SubjectPublicKeyInfo of Ed25519 (RFC 8410 §4). */
const ED25519_BYTES = 44

/** The shortest RSA key that is accepted, in bits: shorter ones can be broken. */
const MIN_RSA_BITS = 2048

/** Returns a stored key for WebCrypto, and its algorithm; null if that is not accepted, or if it is no key. */
async function importStoredKey({
  public_key,
  algorithm,
}: Pick<PasskeyRecord, 'public_key' | 'algorithm'>) {
  const by = ALGORITHMS.get(algorithm)
  const bytes = decodeBase64url(public_key)
  // Under the name Ed25519 WebCrypto takes any other key, with which nobody could sign in.
  if (!by || !bytes || (by.name === 'Ed25519' && bytes.length !== ED25519_BYTES)) return null
  const key = await crypto.subtle.importKey('spki', bytes, by, false, ['verify']).catch(() => null)
  const { modulusLength = MIN_RSA_BITS } = (key?.algorithm ?? {}) as { modulusLength?: number }
  return key && modulusLength >= MIN_RSA_BITS ? { by, key } : null
}

/** How long a challenge can be answered, in milliseconds. */
const CHALLENGE_MS = 10 * MINUTE_MS

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

const contextOf = (realm: string, purpose: string) => `passkey challenge ${realm} ${purpose}`

/**
 * Returns a new challenge of 256 random bits for a purpose, which can be answered for `ms` milliseconds from `now` on.
 * `realm` is where it is asked for, such as an account: it is answered nowhere else.
 */
export async function newChallenge(
  env: Env,
  realm: string,
  purpose: string,
  { member = null, now, ms = CHALLENGE_MS }: { member?: string | null; now: number; ms?: number },
): Promise<Challenge> {
  const challenge = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const expected: ExpectedChallenge = { challenge, until: now + ms, member }
  const state = await signText(env, contextOf(realm, purpose), JSON.stringify(expected))
  return { challenge, state }
}

/** Returns the challenge that was signed; null if the state is of another purpose or realm, or too old. */
export async function readChallenge(
  env: Env,
  realm: string,
  purpose: string,
  { state, now }: { state: string; now: number },
): Promise<ExpectedChallenge | null> {
  const text = await verifyText(env, contextOf(realm, purpose), state)
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

/** A passkey of a member. */
type OwnPasskey = PasskeyRecord & { readonly member: string }

/** Whom a new passkey is for, as the device shows it. */
export interface PasskeyOwner {
  readonly member: string
  readonly name: string
  readonly service: string
}

const descriptorOf = ({ credential_id, transports }: PasskeyRecord) => ({
  type: 'public-key',
  id: credential_id,
  transports: JSON.parse(transports),
})

/** Returns the options of `navigator.credentials.create` as JSON. `existing` are the passkeys of the member. */
export const creationOptions = (
  env: Env,
  { challenge }: Challenge,
  { member, name, service }: PasskeyOwner,
  existing: readonly PasskeyRecord[],
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
  keys: readonly PasskeyRecord[] = [],
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

/** An id of at most 1023 bytes, in base64url. */
const ID = /^[\w-]{1,1364}$/

const answer = <R extends v.ObjectEntries>(entries: R) =>
  v.pipe(
    v.string(),
    v.parseJson(),
    v.object({
      id: v.pipe(v.string(), v.regex(ID)),
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
        // The page of the service is in no iframe: another site could cover it (clickjacking).
        crossOrigin: v.optional(v.literal(false)),
        topOrigin: v.optional(v.never()),
      }),
    ),
    new TextDecoder().decode(bytes),
  )

/** The flags of an authenticator (§6.1): user present and verified, backup eligible, backed up, key attested. */
const FLAGS = { verified: 0b101, eligible: 8, backedUp: 16, attested: 64 }

/** Where the parts of the data of an authenticator begin (§6.1). */
const AT = { flags: 32, counter: 33, end: 37 }

/** What changes of a passkey when it is used. */
type State = Pick<PasskeyRecord, 'counter' | 'backup_eligible' | 'backed_up'>

/** Returns what an authenticator says of a passkey; null unless it verified a user for this service. */
async function readState(env: Env, data: Uint8Array): Promise<State | null> {
  const host = encodeBase64url(await sha256(new TextEncoder().encode(hostOf(env))))
  const flags = data[AT.flags] ?? 0
  const isVerified = (flags & FLAGS.verified) === FLAGS.verified
  if (data.length < AT.end || !isVerified) return null
  if (encodeBase64url(data.subarray(0, AT.flags)) !== host) return null
  const backup_eligible = Number((flags & FLAGS.eligible) > 0)
  const backed_up = Number((flags & FLAGS.backedUp) > 0)
  if (backed_up > backup_eligible) return null
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return { counter: view.getUint32(AT.counter), backup_eligible, backed_up }
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

/** Verifies the answer of `navigator.credentials.create`. Returns null if it is not acceptable. */
export async function verifyRegistration(
  env: Env,
  challenge: string,
  text: string,
): Promise<PasskeyRecord | null> {
  const read = v.safeParse(REGISTRATION, text)
  if (!read.success) return null
  const { id, response } = read.output
  const { authenticatorData, clientDataJSON, transports } = response
  const stored = { public_key: response.publicKey, algorithm: response.publicKeyAlgorithm }
  const isAnswer = isClientData(env, clientDataJSON, 'webauthn.create', challenge)
  const state = await readState(env, authenticatorData)
  const isMade = ((authenticatorData[AT.flags] ?? 0) & FLAGS.attested) > 0
  if (!isAnswer || !state || !isMade || !(await importStoredKey(stored))) return null
  const known = transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 8)
  return { credential_id: id, ...stored, ...state, transports: JSON.stringify(known) }
}

/**
 * Verifies the answer of `navigator.credentials.get` with a stored passkey. Returns the passkey with its new state, whose
 * counter must have risen; null if the answer is not acceptable.
 */
export async function verifySignIn<P extends OwnPasskey>(
  env: Env,
  { challenge, member }: Pick<ExpectedChallenge, 'challenge' | 'member'>,
  text: string,
  passkey: P,
): Promise<P | null> {
  const read = v.safeParse(ASSERTION, text)
  const imported = await importStoredKey(passkey)
  if (!read.success || !imported) return null
  const { authenticatorData, clientDataJSON, signature, userHandle } = read.output.response
  const { by, key } = imported
  const signed = new Uint8Array([...authenticatorData, ...(await sha256(clientDataJSON))])
  const bytes = by.name === 'ECDSA' ? fromDer(signature) : signature
  // WebCrypto throws at a signature of another length.
  const isSigned = bytes && (await crypto.subtle.verify(by, key, bytes, signed).catch(() => false))
  // Only of a member who is known before, the device may be silent about whose passkey it is.
  const owner = userHandle ?? (member === null ? null : userIdOf(member))
  const isOwn = owner === userIdOf(passkey.member) && passkey.member === (member ?? passkey.member)
  const isAnswer = isClientData(env, clientDataJSON, 'webauthn.get', challenge)
  const state = await readState(env, authenticatorData)
  if (!isSigned || !isOwn || !isAnswer || !state) return null
  return state.backup_eligible === passkey.backup_eligible ? { ...passkey, ...state } : null
}
