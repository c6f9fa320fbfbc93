import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import type { Passkey } from '../affiliates/db/affiliate-members.ts'
import { decodeBase64url, encodeBase64url } from '../platform/auth/base64url.ts'
import { passkeyOrigin } from '../platform/development.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { signText, verifyText } from '../platform/http/sign-text.ts'

// Passkeys by WebAuthn Level 3. The service asks for user verification and for keys that the browser finds
// without a user name. It does not ask who made the device (attestation).

/** How long a challenge can be answered, in milliseconds. */
const CHALLENGE_MS = 10 * MINUTE_MS

/** The algorithms of COSE that are accepted: Ed25519, ES256 and RS256. */
const ALGORITHMS = [-8, -7, -257]

/** A challenge as the page keeps it: signed, so that it can be answered only where it was asked for. */
export interface Challenge {
  readonly challenge: string
  /** The challenge with its end and the member that it is for, signed. */
  readonly state: string
}

/** What a challenge was signed for. */
interface ExpectedChallenge {
  readonly challenge: string
  readonly until: number
  /** The member who registers; null at the sign-in. */
  readonly member: string | null
}

const contextOf = (account: string, purpose: string) => `portal challenge ${account} ${purpose}`

/** Returns a new challenge of 256 random bits for a purpose. `now` is in milliseconds. */
export async function newChallenge(
  env: Env,
  account: string,
  purpose: string,
  { member = null, now }: { member?: string | null; now: number },
): Promise<Challenge> {
  const challenge = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const expected: ExpectedChallenge = { challenge, until: now + CHALLENGE_MS, member }
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
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
  timeout: CHALLENGE_MS,
  excludeCredentials: existing.map(({ credential_id, transports }) => ({
    ...{ type: 'public-key', id: credential_id, transports: JSON.parse(transports) },
  })),
  authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  attestation: 'none',
})

/** Returns the options of `navigator.credentials.get` as JSON. */
export const requestOptions = (env: Env, { challenge }: Challenge) => ({
  ...{ rpId: hostOf(env), challenge, timeout: CHALLENGE_MS, userVerification: 'required' },
})

/** Returns a credential that a browser sent as JSON; null if it is none. */
function parseCredential<T>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as T) : null
  } catch {
    return null
  }
}

/** Reads the id of the passkey that answers a challenge; null if the text is no answer. */
export function credentialIdOf(text: string): string | null {
  const id = parseCredential<{ id?: unknown }>(text)?.id
  return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id) ? id : null
}

/** What is stored of a new passkey. */
export type NewPasskey = Pick<Passkey, 'credential_id' | 'public_key' | 'counter' | 'transports'>

/** Verifies the answer of `navigator.credentials.create`. Returns null if it is not acceptable. */
export async function verifyRegistration(
  env: Env,
  expectedChallenge: string,
  text: string,
): Promise<NewPasskey | null> {
  type Response = Parameters<typeof verifyRegistrationResponse>[0]['response']
  const response = parseCredential<Response>(text)
  if (!response) return null
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: originOf(env),
      expectedRPID: hostOf(env),
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return null
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential
    return {
      ...{ credential_id: id, public_key: encodeBase64url(publicKey), counter },
      transports: JSON.stringify(
        transports.filter((one) => /^[a-z-]{1,20}$/.test(one)).slice(0, 8),
      ),
    }
  } catch {
    // The library throws what is wrong: all of it is the answer of a caller.
    return null
  }
}

/**
 * Verifies the answer of `navigator.credentials.get` with a stored passkey: origin, user verification, signature,
 * and a counter that has not gone back. Returns the new counter; null if it is not acceptable.
 */
export async function verifySignIn(
  env: Env,
  expectedChallenge: string,
  text: string,
  { credential_id, public_key, counter, member }: Passkey,
): Promise<number | null> {
  type Response = Parameters<typeof verifyAuthenticationResponse>[0]['response']
  const response = parseCredential<Response>(text)
  const publicKey = decodeBase64url(public_key)
  if (!response || !publicKey) return null
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: originOf(env),
      expectedRPID: hostOf(env),
      requireUserVerification: true,
      credential: { id: credential_id, publicKey: new Uint8Array(publicKey), counter },
    })
    const handle = response.response.userHandle
    const isOwn = handle === undefined || handle === null || handle === userIdOf(member)
    return verified && isOwn ? authenticationInfo.newCounter : null
  } catch {
    return null
  }
}
