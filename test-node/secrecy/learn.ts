import { bytesOf, type Sought, seekSecret, seekValue } from './search.ts'

// Learns the secrets and the personal values of a request and its response.

/** A request, as far as it is text. */
export interface RequestText {
  headers: Record<string, string>
  body: string
}

/** Learned values: secrets are kept for a whole test file, personal values for one test. */
export interface Known {
  secrets: Sought
  /** Personal fields of customers. */
  people: Sought
  /** Notes of transactions, and the details of activities. */
  notes: Sought
  /** E-mail addresses of the integrations team. */
  team: Sought
}

const JWT = /^[\w-]+\.[\w-]+\.[\w-]{43,}$/
const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('latin1')

/** Readable text, which is not part of a signature: a mangled token may have it in that place. */
const READABLE = /[\x20-\x7e]{8,}/

/**
 * Learns a secret as it is sent. The secret of a signed token is its signature, as bytes, because
 * texts are decoded before they are compared.
 */
export function learnSecret(secrets: Sought, kind: string, secret: string): void {
  // Each request of a test repeats its token.
  const sent = `${kind} ${secret}`
  if (secrets.secrets.has(sent)) return
  secrets.secrets.add(sent)
  const parts = JWT.test(secret)
    ? fromBase64(secret.split('.')[2]!).split(READABLE)
    : [bytesOf(secret)]
  for (const part of parts) seekSecret(secrets, kind, part)
}

/** Learns the private members of a JWK set. */
export function learnKeys(secrets: Sought, kind: string, set: string): void {
  for (const { kid, ...key } of JSON.parse(set).keys) {
    for (const part of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) {
      if (key[part]) seekSecret(secrets, `${kind} ${kid} ${part}`, fromBase64(key[part]))
    }
  }
}

const SECRETS = ['client_secret', 'access_token', 'brand_token', 'token']
const NAMES = ['first_name', 'last_name', 'email', 'firstName', 'lastName']
/** Members of a brand's customer that are not personal, in small letters; all others are. */
const KNOWN = ['customerid', 'regtime', 'country', 'tracking_data']

/** Returns all texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** Returns all objects in a value, itself included. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Text that is cut off or not JSON is read member by member.
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
  // Each by itself: the names of cookies are no secrets.
  for (const cookie of headers.cookie?.split('; ') ?? [])
    learnSecret(secrets, 'cookie', cookie.slice(cookie.indexOf('=') + 1))
  const assertion = headers['cf-access-jwt-assertion'] ?? ''
  learnSecret(secrets, 'Access token', assertion)
  if (!JWT.test(assertion)) return
  const claims = parsed(fromBase64(assertion.split('.')[1]!))
  for (const { email } of objectsIn(claims)) seekValue(team, 'e-mail of the team', String(email))
}

/** Learns from a request and its response. */
export function learn(known: Known, path: string, request: RequestText, answer: string): void {
  learnHeaders(known, request.headers)
  const form = path.startsWith('/oauth/')
    ? Object.fromEntries(new URLSearchParams(request.body))
    : {}
  const body = parsed(request.body)
  // The service does not escape the names of members, and few of its answers have a secret.
  const answered = SECRETS.some((name) => answer.includes(`"${name}"`)) ? parsed(answer) : null
  for (const members of [form, ...objectsIn(body), ...objectsIn(answered)]) {
    for (const name of SECRETS) {
      if (typeof members[name] === 'string') learnSecret(known.secrets, name, members[name])
    }
  }
  const isCustomer = path.endsWith('/customers')
  const isBrand = path.startsWith('/tracking/')
  const others = path.startsWith('/admin/v1/members') ? known.team : known.notes
  const sought = isCustomer ? known.people : others
  for (const record of objectsIn(body)) {
    for (const [name, value] of Object.entries(record)) {
      const isPersonal =
        isCustomer && isBrand ? !KNOWN.includes(name.toLowerCase()) : NAMES.includes(name)
      const isNote = !isCustomer && name === 'note'
      // `data` holds the records and is not a member of one.
      if (!(isPersonal || isNote) || name === 'data') continue
      for (const text of textsIn(value)) seekValue(sought, name, text)
    }
  }
}
