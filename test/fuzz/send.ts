import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import { digest, newSecret } from '../../src/auth/secret.ts'
import { brand } from '../brand.ts'
import { askAdmin, askToken, json, ORIGIN, partner, type Vertical } from '../partner.ts'
import { overhear } from '../secrecy.ts'

/**
 * Asks the service. The answers are not held against openapi.json, as those of other tests are: of
 * so many it would take most of the time.
 */
export async function send(path: string, init: RequestInit = {}, world: Env = env) {
  const url = new URL(path, ORIGIN).href
  return overhear({ ...init, url }, async () => {
    const context = createExecutionContext()
    const request = new Request(url, { redirect: 'manual', ...init })
    const response = await app.fetch(request, world, context)
    const text = await response.text()
    await waitOnExecutionContext(context)
    return { status: response.status, headers: response.headers, text }
  })
}

/** What was answered. */
export type Answer = Awaited<ReturnType<typeof send>>

/** A world that counts whom it asks of tokens, and is real. */
export function listening() {
  const asked: string[] = []
  const TOKEN_GATE = {
    getByName(name: string) {
      asked.push(name)
      return env.TOKEN_GATE.getByName(name)
    },
  }
  return { asked, world: { ...env, TOKEN_GATE } as unknown as Env }
}

/** A token is good for 1000 requests a minute: after so many another one is taken. */
const TURNS = 900

/** Somebody who asks more often than one token may: what to send, as whom. */
export interface Sender {
  account: string
  /** Sends what is good as other tests do: whom it names is sought in all tables. */
  post: (path: string, body: unknown) => Promise<Response>
  at: (path: string) => string
  /** The header that says who asks. */
  who: () => Promise<Record<string, string>>
}

/** The same header for so many requests, then another. */
function inTurns(fresh: () => Promise<Record<string, string>>) {
  let turn = 0
  let header: Record<string, string> = {}
  return async () => {
    if (turn % TURNS === 0) header = await fresh()
    turn += 1
    return header
  }
}

/** A partner with as many clients as it needs. */
export async function partnerOf(vertical: Vertical, settings: object = {}): Promise<Sender> {
  const { account, post } = await partner(vertical, settings)
  return {
    ...{ account, post },
    at: (path) => `/api/v1/${vertical}/${path}`,
    who: inTurns(async () => {
      const { client_id, client_secret } = await json(
        askAdmin(`accounts/${account}/clients`, 'POST', {}),
      )
      const grant = { grant_type: 'client_credentials', client_id, client_secret }
      const { access_token } = await json(askToken(grant))
      return { Authorization: `Bearer ${access_token}` }
    }),
  }
}

/** A brand with as many Brand Tokens as it needs. */
export async function brandOf(settings: Parameters<typeof brand>[0] = {}): Promise<Sender> {
  const { account, post } = await brand(settings)
  return {
    ...{ account, post },
    at: (path) => `/tracking/events/${path}`,
    who: inTurns(async () => {
      const body = { overlap: '1h' }
      const issued = await json(askAdmin(`accounts/${account}/brand-tokens`, 'POST', body))
      return { 'x-api-key': issued.brand_token }
    }),
  }
}

/** Delivers a body, to be kept as a whole, or `lenient` as far as it is good. */
export const deliver = async (sender: Sender, path: string, body: Uint8Array, lenient = false) =>
  send(sender.at(path), {
    method: 'POST',
    body,
    headers: {
      ...(await sender.who()),
      'Content-Type': 'application/json',
      ...(lenient && { Prefer: 'handling=lenient' }),
    },
  })

/** An address that has guessed nothing yet. */
export function newAddress(): Record<string, string> {
  const bytes = crypto.getRandomValues(new Uint8Array(4))
  return { 'CF-Connecting-IP': bytes.join('.') }
}

/** A client that has asked for no token yet. */
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
