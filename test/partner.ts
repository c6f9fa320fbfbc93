import { env, exports } from 'cloudflare:workers'
import { expiryOf, issueAccessToken } from '../src/platform/auth/access-token.ts'
import { grantOf } from '../src/platform/auth/grant.ts'
import { digest, newSecret } from '../src/platform/auth/secret.ts'
import type { Account } from '../src/platform/db/schema.ts'
import { checkResponse } from './checked-fetch.ts'

/** The address of the service in tests. */
export const ORIGIN = 'https://api.example'

/** The verticals of the partner API. */
export type Vertical = 'prop-trading' | 'forex'

/** Sends a request to any address of the service. */
export function ask(path: string, init?: RequestInit): Promise<Response> {
  const url = new URL(path, ORIGIN)
  return checkResponse({ method: 'GET', ...init, url: url.href }, exports.default.fetch(url, init))
}

interface Settings {
  account: string
  binding: 'DB' | 'DB_2'
  book_zone: string
  unknown_customer: 'reject' | 'hold'
  unknown_affiliate: 'warn' | 'reject'
  affiliates: string[]
  scope?: string
}

/** Creates a partner firm with its client, in the database directly. */
export async function register(vertical: Vertical, settings: Partial<Settings> = {}) {
  const { client } = await storeFirm(vertical, settings)
  return client
}

/** Does the same, and returns the stored account, too. */
async function storeFirm(vertical: Vertical, settings: Partial<Settings>) {
  const account = settings.account ?? `acme-${vertical}`
  const { unknown_customer = 'reject', unknown_affiliate = 'warn', binding = 'DB' } = settings
  const { book_zone = 'UTC' } = settings
  const client_id = `client-of-${account}`
  const client_secret = newSecret('tcs', 'test')
  const known = (settings.affiliates ?? ['aff-7']).map((id) =>
    env[binding]
      .prepare('insert into affiliates (account, affiliate_id) values (?, ?)')
      .bind(account, id),
  )
  const [stored] = await env.DB.batch<Account>([
    env.DB.prepare(
      `insert into accounts (id, name, vertical, mode, binding, book_zone, unknown_customer, unknown_affiliate, created_at)
       values (?, ?, ?, 'test', ?, ?, ?, ?, '2026-01-01T00:00:00.000Z') returning *`,
    ).bind(
      account,
      `The ${account}`,
      vertical,
      binding,
      book_zone,
      unknown_customer,
      unknown_affiliate,
    ),
    env.DB.prepare(
      `insert into clients (client_id, account, secret_digest, created_at)
       values (?, ?, ?, '2026-01-01T00:00:00.000Z')`,
    ).bind(client_id, account, await digest(client_secret)),
    ...(binding === 'DB' ? known : []),
  ])
  if (binding !== 'DB' && known.length > 0) await env[binding].batch(known)
  return { client: { account, client_id, client_secret }, stored: stored!.results[0]! }
}

/** Requests a token. */
export const askToken = (form: Record<string, string> | string, headers = {}) =>
  ask('/oauth/token', { method: 'POST', body: new URLSearchParams(form), headers })

/** Returns the JSON body of a response. */
// biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
export const json = async (response: Response | Promise<Response>) => (await response).json<any>()

/** Requests a token and returns it. */
async function issueToken(
  client: { client_id: string; client_secret: string },
  scope?: string,
): Promise<string> {
  const { client_id, client_secret } = client
  const grant = { grant_type: 'client_credentials', client_id, client_secret }
  const response = await askToken({ ...grant, ...(scope && { scope }) })
  if (response.status !== 200) throw new Error(`No token was issued: ${response.status}.`)
  const { access_token } = await json(response)
  return access_token as string
}

/** Opens a token in its object as the token endpoint does, and returns it. */
async function openToken(account: Account, client_id: string, scope = 'read write') {
  const now = Date.now()
  const jti = crypto.randomUUID()
  const grant = grantOf(account, client_id, scope, { events: [], statuses: [] })
  await env.TOKEN_GATE.getByName(jti).open(grant, expiryOf(now))
  return issueAccessToken({ client_id, jti, scope }, env, now)
}

/** Creates a partner firm and returns its credentials, its token and its requests. */
export async function partner(vertical: Vertical = 'forex', settings: Partial<Settings> = {}) {
  return resumed(vertical, await storeFirm(vertical, settings), settings.scope)
}

/** Returns the same of a firm that is stored, with a new token. */
export async function resumed(
  vertical: Vertical,
  firm: Awaited<ReturnType<typeof storeFirm>>,
  scope?: string,
) {
  const { client, stored } = firm
  const token = await openToken(stored, client.client_id, scope)
  return { ...requestsOf(vertical, client, token), firm }
}

/**
 * Does the same with a token that was requested: the object of the client lists it, so that a
 * revocation or a change of the account reaches it.
 */
export async function issuedPartner(
  vertical: Vertical = 'forex',
  settings: Partial<Settings> = {},
) {
  const client = await register(vertical, settings)
  return requestsOf(vertical, client, await issueToken(client, settings.scope))
}

/** Returns the credentials of a firm, its token and its requests. */
function requestsOf(
  vertical: Vertical,
  client: Awaited<ReturnType<typeof register>>,
  access_token: string,
) {
  const bearer = { Authorization: `Bearer ${access_token}` }
  return { ...client, vertical, access_token, ...requestsBelow(`/api/v1/${vertical}`, bearer) }
}

/** Returns requests with these credentials to paths below an address. */
export function requestsBelow(base: string, credentials: Record<string, string>) {
  const postText = (path: string, body: BodyInit | null, headers = {}) =>
    ask(`${base}/${path}`, {
      method: 'POST',
      headers: { ...credentials, 'Content-Type': 'application/json', ...headers },
      body,
    })
  return {
    get: (path: string, headers = {}) =>
      ask(`${base}/${path}`, { headers: { ...credentials, ...headers } }),
    post: (path: string, body: unknown, headers = {}) =>
      postText(path, JSON.stringify(body), headers),
    postText,
  }
}

/** A customer that is valid in both verticals. */
export const ada = {
  customer_id: 'c-1',
  signup_date: '2026-10-01T08:00:00.000Z',
  affiliate_id: 'aff-7',
  tracking_data: 'click-42',
}

/** A transaction of this customer that is valid in forex. */
export const deposit = {
  transaction_id: 't-1',
  customer_id: 'c-1',
  transaction_type: 'deposit',
  amount_currency: 100.25,
  currency: 'EUR',
  transaction_date: '2026-10-02T09:30:00.000Z',
  status: 'approved',
}

/** A day of trading of this customer that is valid in both verticals. */
export const traded = {
  date: '2026-10-02',
  customer_id: 'c-1',
  instrument: 'EURUSD',
  lots_traded: 1.07,
  pnl: -12.345678,
  currency: 'USD',
}

/** Sends a request as the integrations team. */
export const askAdmin = (path: string, method?: string, body?: unknown, headers = {}) =>
  askWith(env.ADMIN_KEY, `/admin/v1/${path}`, method, body, headers)

/** Sends a request with a key. */
export const askWith = (key: string, path: string, method = 'GET', body?: unknown, headers = {}) =>
  ask(path, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
