import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import { digest, newSecret } from '../../src/platform/auth/secret.ts'
import { brand } from '../brand.ts'
import { askAdmin, askToken, json, ORIGIN, partner, type Vertical } from '../partner.ts'
import { reportExchange } from '../secrecy.ts'

/**
 * Sends a request to the service. Unlike in other tests the response is not compared with openapi.json,
 * which would take most of the time.
 */
export async function send(path: string, init: RequestInit = {}, world: Env = env) {
  const url = new URL(path, ORIGIN).href
  return reportExchange({ ...init, url }, async () => {
    const context = createExecutionContext()
    const request = new Request(url, { redirect: 'manual', ...init })
    const response = await app.fetch(request, world, context)
    const text = await response.text()
    await waitOnExecutionContext(context)
    return { status: response.status, headers: response.headers, text }
  })
}

/** A response of the service. */
export type Answer = Awaited<ReturnType<typeof send>>

/** Returns an environment that records which objects of tokens it uses. */
export function listening() {
  const objectNames: string[] = []
  const TOKEN_GATE = {
    getByName(name: string) {
      objectNames.push(name)
      return env.TOKEN_GATE.getByName(name)
    },
  }
  return { objectNames, world: { ...env, TOKEN_GATE } as unknown as Env }
}

/** The number of requests for each token: its limit is 1000 a minute, and some reads count as 5 or 10. */
const TURNS = 200

/** A caller that sends more requests than one token may. */
export interface Sender {
  /** Sends a valid body as other tests do: the tables are searched for the names in it. */
  post: (path: string, body: unknown) => Promise<Response>
  at: (path: string) => string
  /** Returns the header that authenticates the caller. */
  credentials: () => Promise<Record<string, string>>
}

/** Returns the same header for `TURNS` requests, then another. */
function inTurns(fresh: () => Promise<Record<string, string>>) {
  let turn = 0
  let header: Record<string, string> = {}
  return async () => {
    if (turn % TURNS === 0) header = await fresh()
    turn += 1
    return header
  }
}

/** Creates a partner with as many clients as it needs. */
export async function partnerOf(vertical: Vertical, settings: object = {}): Promise<Sender> {
  const { account, post } = await partner(vertical, settings)
  return {
    post,
    at: (path) => `/api/v1/${vertical}/${path}`,
    credentials: inTurns(async () => {
      const { client_id, client_secret } = await json(
        askAdmin(`accounts/${account}/clients`, 'POST', {}),
      )
      const grant = { grant_type: 'client_credentials', client_id, client_secret }
      const { access_token } = await json(askToken(grant))
      return { Authorization: `Bearer ${access_token}` }
    }),
  }
}

/** Creates a brand with as many Brand Tokens as it needs. */
export async function brandOf(settings: Parameters<typeof brand>[0] = {}): Promise<Sender> {
  const { account, post } = await brand(settings)
  return {
    post,
    at: (path) => `/tracking/events/${path}`,
    credentials: inTurns(async () => {
      const body = { overlap: '1h' }
      const issued = await json(askAdmin(`accounts/${account}/brand-tokens`, 'POST', body))
      return { 'x-api-key': issued.brand_token }
    }),
  }
}

/** Delivers a body, `lenient` or not. */
export const deliver = async (sender: Sender, path: string, body: Uint8Array, lenient = false) =>
  send(sender.at(path), {
    method: 'POST',
    body,
    headers: {
      ...(await sender.credentials()),
      'Content-Type': 'application/json',
      ...(lenient && { Prefer: 'handling=lenient' }),
    },
  })

/** Returns an address without wrong secrets. */
export function newAddress(): Record<string, string> {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  return { 'CF-Connecting-IP': bytes.join('.') }
}

/** Creates a client without tokens. */
export async function newClient(account: string) {
  const client_id = `client-${crypto.randomUUID()}`
  const client_secret = newSecret('tcs', 'test')
  await env.DB.prepare(
    `insert into clients (client_id, account, secret_digest, created_at)
     values (?, ?, ?, '2026-01-01T00:00:00.000Z')`,
  )
    .bind(client_id, account, await digest(client_secret))
    .run()
  return { client_id, client_secret }
}
