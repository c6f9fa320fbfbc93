import { decodeBase64url, encodeBase64url } from './base64url.ts'

// Public keys as authenticators write them: COSE (RFC 9052 §7) in CBOR (RFC 8949).

/** The labels of a key that say its type, its algorithm and its curve. */
const LABELS = { type: 1, algorithm: 3, curve: -1 }

/** An algorithm of COSE. */
interface Algorithm {
  readonly by: SubtleCryptoImportKeyAlgorithm
  /** What each key of it has: its type, and its curve if it has one. */
  readonly type: number
  readonly curve?: number
  /** The same as a JSON Web Key says it, and the labels of its other members. */
  readonly jwk: JsonWebKey
  readonly members: Readonly<Record<string, number>>
}

/** The algorithms that are accepted, the preferred one first: ES256, which all devices have, Ed25519 and RS256. */
export const ALGORITHMS: ReadonlyMap<number, Algorithm> = new Map<number, Algorithm>([
  [
    -7,
    {
      by: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
      type: 2,
      curve: 1,
      jwk: { kty: 'EC', crv: 'P-256' },
      members: { x: -2, y: -3 },
    },
  ],
  [
    -8,
    {
      by: { name: 'Ed25519' },
      type: 1,
      curve: 6,
      jwk: { kty: 'OKP', crv: 'Ed25519' },
      members: { x: -2 },
    },
  ],
  [
    -257,
    {
      by: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
      type: 3,
      jwk: { kty: 'RSA' },
      members: { n: -1, e: -2 },
    },
  ],
])

/** The shortest RSA key that is accepted, in bits: shorter ones can be broken. */
const MIN_RSA_BITS = 2048

/** A public key as it is stored: its SubjectPublicKeyInfo in base64url, and the number of its algorithm. */
export interface StoredKey {
  readonly public_key: string
  readonly algorithm: number
}

/** Returns a stored key for WebCrypto, and its algorithm; null if that is not accepted, or if it is no key. */
export async function importStoredKey({ public_key, algorithm }: StoredKey) {
  const by = ALGORITHMS.get(algorithm)?.by
  const bytes = decodeBase64url(public_key)
  if (!by || !bytes) return null
  const key = await crypto.subtle.importKey('spki', bytes, by, false, ['verify']).catch(() => null)
  return key && { by, key }
}

/** Returns the key that bytes begin with, as it is stored; null if they do not, or if it is not accepted. */
export async function storedKeyOf(bytes: Uint8Array): Promise<StoredKey | null> {
  const members = readMembers(bytes)
  const algorithm = Number(members?.get(LABELS.algorithm))
  const of = ALGORITHMS.get(algorithm)
  if (!members || !of || members.get(LABELS.type) !== of.type) return null
  if (of.curve !== undefined && members.get(LABELS.curve) !== of.curve) return null
  const others = Object.entries(of.members).map(([name, label]) => [name, members.get(label)])
  const jwk = { ...of.jwk, ...Object.fromEntries(others) }
  // Under the name Ed25519 WebCrypto would take any other key from its SubjectPublicKeyInfo.
  const key = await crypto.subtle.importKey('jwk', jwk, of.by, true, ['verify']).catch(() => null)
  if (!key) return null
  const { modulusLength = MIN_RSA_BITS } = key.algorithm as { modulusLength?: number }
  if (modulusLength < MIN_RSA_BITS) return null
  const spki = (await crypto.subtle.exportKey('spki', key)) as ArrayBuffer
  return { public_key: encodeBase64url(new Uint8Array(spki)), algorithm }
}

/** The major types of CBOR that a key has. */
const CBOR = { positive: 0, negative: 1, bytes: 2, map: 5 }

/**
 * Returns the members of the CBOR map that bytes begin with, by their labels: integers, and bytes in base64url. Null if
 * they begin with anything else.
 */
function readMembers(bytes: Uint8Array): ReadonlyMap<unknown, number | string> | null {
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
