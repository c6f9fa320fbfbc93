import { bytesOf, type Sought, seekSecret, seekValue } from './search.ts'

// What of one request and its answer is a secret, and what is personal.

/** What was asked, as far as tests say it as text. */
export interface Asked {
  headers: Record<string, string>
  body: string
}

/** What is learned: secrets for as long as the world lasts, personal values for one test. */
export interface Known {
  secrets: Sought
  /** Who a customer is. */
  people: Sought
  /** Free text of a transaction, and what an activity says beside its figures. */
  notes: Sought
  /** Who administers. */
  team: Sought
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]{43,}$/
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('latin1')

/** What reads as text is no part of a signature, though a token that was mangled has it in its place. */
const READABLE = /[\x20-\x7e]{8,}/

/**
 * A secret as it is sent. Of a signed token its signature is the secret, as bytes: what is coded is
 * read before it is compared.
 */
export function learnSecret(secrets: Sought, kind: string, secret: string): void {
  const parts = JWT.test(secret)
    ? fromBase64(secret.split('.')[2]!).split(READABLE)
    : [bytesOf(secret)]
  for (const part of parts) seekSecret(secrets, kind, part)
}

/** The private members of a JWK set. */
export function learnKeys(secrets: Sought, kind: string, set: string): void {
  for (const { kid, ...key } of JSON.parse(set).keys) {
    for (const part of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) {
      if (key[part]) seekSecret(secrets, `${kind} ${kid} ${part}`, fromBase64(key[part]))
    }
  }
}

const SECRETS = ['client_secret', 'access_token', 'brand_token', 'token']
const NAMES = ['first_name', 'last_name', 'email', 'firstName', 'lastName']
/** What a brand says of a customer that is not personal, however it is spelt; all else of its members is. */
const KNOWN = ['customerid', 'regtime', 'country', 'tracking_data']

/** All texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** All objects in a value, it too. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What is cut off or no JSON is read member by member.
    const members = text.matchAll(/"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*")/g)
    return [...members].flatMap(([, name, value]) => {
      try {
        return [{ [name!]: JSON.parse(value!) }]
      } catch {
        return []
      }
    })
  }
}

function learnHeaders({ secrets, team }: Known, headers: Record<string, string>): void {
  const [scheme, credentials = ''] = headers.authorization?.split(' ') ?? []
  if (scheme === 'Basic') {
    const secret = fromBase64(credentials).split(':').slice(1).join(':')
    learnSecret(secrets, 'password', secret)
  } else learnSecret(secrets, 'bearer token', credentials)
  learnSecret(secrets, 'api key', headers['x-api-key'] ?? '')
  learnSecret(secrets, 'cookie', headers.cookie?.split('=').slice(1).join('=') ?? '')
  const assertion = headers['cf-access-jwt-assertion'] ?? ''
  learnSecret(secrets, 'Access token', assertion)
  if (!JWT.test(assertion)) return
  const claims = parsed(fromBase64(assertion.split('.')[1]!))
  for (const { email } of objectsIn(claims)) seekValue(team, 'e-mail of the team', String(email))
}

/** Learns what one request and its answer say. */
export function learn(known: Known, path: string, asked: Asked, answer: string): void {
  learnHeaders(known, asked.headers)
  const form = path.startsWith('/oauth/') ? Object.fromEntries(new URLSearchParams(asked.body)) : {}
  const body = parsed(asked.body)
  for (const said of [form, ...objectsIn(body), ...objectsIn(parsed(answer))]) {
    for (const name of SECRETS) {
      if (typeof said[name] === 'string') learnSecret(known.secrets, name, said[name])
    }
  }
  const isCustomer = path.endsWith('/customers')
  const isBrand = path.startsWith('/tracking/')
  const sought = isCustomer ? known.people : known.notes
  for (const record of objectsIn(body)) {
    for (const [name, value] of Object.entries(record)) {
      const isPersonal =
        isCustomer && isBrand ? !KNOWN.includes(name.toLowerCase()) : NAMES.includes(name)
      const isNote = !isCustomer && name === 'note'
      // What holds the records is no member of one.
      if (!(isPersonal || isNote) || name === 'data') continue
      for (const text of textsIn(value)) seekValue(sought, name, text)
    }
  }
}
