import type { PasskeyRecord } from '../directory/passkeys.ts'
import { decodeBase64url, encodeBase64url } from './base64url.ts'

// Public keys as authenticators write them: COSE (RFC 9052 §7) in CBOR (RFC 8949).

/** The algorithms that are accepted, as WebCrypto names them: ES256, which all devices have, Ed25519 and RS256. */
export const ALGORITHMS = new Map<unknown, SubtleCryptoImportKeyAlgorithm>([
  [-7, { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }],
  [-8, { name: 'Ed25519' }],
  [-257, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }],
])

/** The types and curves of COSE, as a JSON Web Key names them. */
const TYPES = new Map<unknown, string>([
  [1, 'OKP'],
  [2, 'EC'],
  [3, 'RSA'],
])
const CURVES = new Map<unknown, string>([
  [1, 'P-256'],
  [6, 'Ed25519'],
])

/** The members of a key of COSE, by their labels: integers, and bytes in base64url. */
type Members = ReadonlyMap<number | string, number | string>

/** Returns a key as a JSON Web Key; null if it is of another curve than that of an algorithm, which WebCrypto ignores. */
function jwkOf(members: Members, { name, namedCurve = name }: SubtleCryptoImportKeyAlgorithm) {
  const kty = TYPES.get(members.get(1))
  const [first, second, y] = [-1, -2, -3].map((label) => members.get(label))
  if (kty === 'RSA') return { kty, n: first, e: second }
  return CURVES.get(first) === namedCurve ? { kty, crv: namedCurve, x: second, y } : null
}

/** The shortest RSA key that is accepted, in bits: shorter ones can be broken. */
const MIN_RSA_BITS = 2048

/** A public key as it is stored. */
type StoredKey = Pick<PasskeyRecord, 'public_key' | 'algorithm'>

/** Returns a stored key for WebCrypto, and its algorithm; null if that is not accepted, or if it is no key. */
export async function importStoredKey({ public_key, algorithm }: StoredKey) {
  const by = ALGORITHMS.get(algorithm)
  const bytes = decodeBase64url(public_key)
  if (!by || !bytes) return null
  const key = await crypto.subtle.importKey('spki', bytes, by, false, ['verify']).catch(() => null)
  return key && { by, key }
}

/** Returns the key that bytes begin with, as it is stored; null if they do not, or if it is not accepted. */
export async function storedKeyOf(bytes: Uint8Array): Promise<StoredKey | null> {
  const members = readMembers(bytes)
  const algorithm = Number(members?.get(3))
  const by = ALGORITHMS.get(algorithm)
  const jwk = members && by && (jwkOf(members, by) as JsonWebKey | null)
  if (!jwk) return null
  // Under the name Ed25519 WebCrypto would take any other key from its SubjectPublicKeyInfo.
  const key = await crypto.subtle.importKey('jwk', jwk, by, true, ['verify']).catch(() => null)
  if (!key) return null
  const { modulusLength = MIN_RSA_BITS } = key.algorithm as { modulusLength?: number }
  if (modulusLength < MIN_RSA_BITS) return null
  const spki = (await crypto.subtle.exportKey('spki', key)) as ArrayBuffer
  return { public_key: encodeBase64url(new Uint8Array(spki)), algorithm }
}

/** The major types of CBOR that a key has. */
const CBOR = { positive: 0, negative: 1, bytes: 2, map: 5 }

/** Returns the members of the CBOR map that bytes begin with; null if they begin with anything else. */
function readMembers(bytes: Uint8Array): Members | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  /** Reads the major type of an item, and its argument: that of a key has at most 16 bits. */
  const readHead = (): readonly [type: number, argument: number] => {
    const first = view.getUint8(at)
    const [type, info] = [first >> 5, first & 31]
    at += 1
    if (info < 24) return [type, info]
    at += info === 24 ? 1 : 2
    return [type, info === 24 ? view.getUint8(at - 1) : view.getUint16(at - 2)]
  }
  const readItem = (): number | string => {
    const [type, argument] = readHead()
    if (type === CBOR.positive) return argument
    if (type === CBOR.negative) return -1 - argument
    if (type !== CBOR.bytes) throw new RangeError('No key has an item of this type.')
    at += argument
    if (at > bytes.length) throw new RangeError('The bytes end early.')
    return encodeBase64url(bytes.subarray(at - argument, at))
  }
  try {
    const [type, length] = readHead()
    if (type !== CBOR.map) return null
    return new Map(Array.from({ length }, () => [readItem(), readItem()]))
  } catch {
    return null
  }
}
