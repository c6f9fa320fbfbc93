// A device with passkeys in software, which can be told to answer wrongly.

/** What the device does otherwise than it should. */
export interface Deviation {
  origin?: string
  counter?: number
  /** Whose passkey it says it is; null if it says nothing. */
  userHandle?: string | null
  rpId?: string
  /** Whether the page is in an iframe of another site, and of which. */
  crossOrigin?: true
  topOrigin?: string
  /** The flags of the authenticator, in place of those that it should send. */
  flags?: number
}

/** The flags of an authenticator (WebAuthn §6.1). */
export const FLAGS = { UP: 1, UV: 4, BE: 8, BS: 16, AT: 64 }

const { UP, UV, BS, AT } = FLAGS

/** What is refused at a registration and at a sign-in alike; `AT` is set at a registration alone. */
export const REFUSED: readonly Deviation[] = [
  { origin: 'https://evil.example' },
  { rpId: 'evil.example' },
  { crossOrigin: true },
  { topOrigin: 'https://evil.example' },
  { flags: UP | AT },
  { flags: UV | AT },
  // Backed up, though it cannot be.
  { flags: UP | UV | BS | AT },
]

const encoder = new TextEncoder()
const url64 = { alphabet: 'base64url', omitPadding: true } as const
const sha256 = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes)))

const join = (...parts: (Uint8Array | readonly number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => [...part]))

const word = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, i) => (value >>> (8 * (bytes - 1 - i))) & 255)

/** Writes an ECDSA signature as DER, in which WebAuthn sends it. */
function der(raw: Uint8Array): Uint8Array {
  const integer = (part: Uint8Array) => {
    const start = Math.max(
      part.findIndex((byte) => byte !== 0),
      0,
    )
    const digits = part.slice(start)
    const positive = digits[0]! > 127 ? join([0], digits) : digits
    return join([2, positive.length], positive)
  }
  const both = join(integer(raw.slice(0, 32)), integer(raw.slice(32)))
  return join([0x30, both.length], both)
}

/** The algorithms of COSE that devices use. */
export const ALGORITHMS = {
  '-8': { name: 'Ed25519' },
  '-7': { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  '-257': {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const

/** Returns a new passkey on a device. */
export async function newPasskey(
  algorithm: keyof typeof ALGORITHMS = '-7',
  { modulusLength = 2048, idLength = 32 } = {},
) {
  const kind = { ...ALGORITHMS[algorithm], modulusLength }
  const keys = (await crypto.subtle.generateKey(kind, true, ['sign', 'verify'])) as CryptoKeyPair
  const id = crypto.getRandomValues(new Uint8Array(idLength))
  const publicKey = (await crypto.subtle.exportKey('spki', keys.publicKey)) as ArrayBuffer
  let counter = 0
  let owner = ''

  const answerOf = async (type: string, challenge: string, rpId: string, by: Deviation) => {
    const origin = by.origin ?? 'https://api.example'
    const { crossOrigin = false, topOrigin } = by
    const data = { type, challenge, origin, crossOrigin, topOrigin }
    const client = encoder.encode(JSON.stringify(data))
    const hash = await sha256(encoder.encode(by.rpId ?? rpId))
    const made = type === 'webauthn.create' ? FLAGS.AT : 0
    const flags = by.flags ?? FLAGS.UP | FLAGS.UV | made
    counter = by.counter ?? counter + 1
    return { client, data: join(hash, [flags], word(counter, 4)) }
  }

  const wrap = (response: object) => {
    const text = id.toBase64(url64)
    const credential = { id: text, rawId: text, type: 'public-key', clientExtensionResults: {} }
    return JSON.stringify({ ...credential, response })
  }

  return {
    id: id.toBase64(url64),
    /** Answers `navigator.credentials.create`. */
    async create(
      options: { challenge: string; rp: { id: string }; user: { id: string } },
      by: Deviation = {},
    ) {
      owner = options.user.id
      const { client, data } = await answerOf(
        'webauthn.create',
        options.challenge,
        options.rp.id,
        by,
      )
      return wrap({
        clientDataJSON: client.toBase64(url64),
        authenticatorData: join(data, new Uint8Array(16), word(id.length, 2), id).toBase64(url64),
        publicKey: new Uint8Array(publicKey).toBase64(url64),
        publicKeyAlgorithm: Number(algorithm),
        transports: ['internal'],
      })
    },
    /** Answers `navigator.credentials.get`. */
    async get(options: { challenge: string; rpId: string }, by: Deviation = {}) {
      const { client, data } = await answerOf('webauthn.get', options.challenge, options.rpId, by)
      const signed = join(data, await sha256(client))
      const raw = new Uint8Array(await crypto.subtle.sign(kind, keys.privateKey, signed))
      return wrap({
        clientDataJSON: client.toBase64(url64),
        authenticatorData: data.toBase64(url64),
        signature: (algorithm === '-7' ? der(raw) : raw).toBase64(url64),
        userHandle: by.userHandle === undefined ? owner : by.userHandle,
      })
    },
  }
}
