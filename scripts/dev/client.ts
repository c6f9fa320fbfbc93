import { setTimeout as wait } from 'node:timers/promises'

// Sends requests to the local service, for the demo accounts.

/** Calls `/admin/v1`. A 409, for an account that exists, and a 404 are answers as well. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** Sends records to a path below the API of an account, and expects a status, 200 if absent. */
export type Send = (path: string, records: readonly object[], expected?: number) => Promise<void>

/** A demo account as in `.demo.json`. A partner has an OAuth client, a brand a Brand Token. */
export interface DemoAccount {
  account: string
  name: string
  vertical: string
  client_id?: string
  client_secret?: string
  brand_token?: string
  /** Its link: `/go/{link_id}` redirects visitors to its landing page. */
  link_id?: string
}

/** How often a request is sent at most, and the pause before it is sent again, in milliseconds. */
const ATTEMPTS = 5
const PAUSE_MS = 500

/**
 * Sends a request to the local service, and again if there is no answer or a status from 500 on: while a machine
 * is busy, workerd can lose a connection.
 */
export async function sendLocal(url: string, init: RequestInit = {}): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(url, init)
      if (response.status < 500 || attempt === ATTEMPTS) return response
      await response.body?.cancel()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
    }
    await wait(PAUSE_MS)
  }
}

/** Returns a function that calls `/admin/v1` with a key. */
export const adminCalls =
  (base: string, key: string): Call =>
  async (method, path, body) => {
    const isText = typeof body === 'string'
    const response = await sendLocal(`${base}/admin/v1/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': isText ? 'text/csv' : 'application/json',
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.ok || response.status === 409 || response.status === 404) return JSON.parse(text)
    throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  }

/** The maximum number of records of a request. */
const BULK = 1000

/** Returns a function that sends records of an account. */
export async function senderOf(
  base: string,
  { vertical, client_id = '', client_secret = '', brand_token }: Partial<DemoAccount>,
): Promise<Send> {
  const at = brand_token ? 'tracking/events' : `api/v1/${vertical}`
  const credential: Record<string, string> = {}
  if (brand_token) credential['x-api-key'] = brand_token
  else {
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const request = { method: 'POST', body: new URLSearchParams(form) }
    const answer = await sendLocal(`${base}/oauth/token`, request)
    const { access_token } = (await answer.json()) as { access_token: string }
    credential.Authorization = `Bearer ${access_token}`
  }
  const headers = { 'Content-Type': 'application/json', ...credential }
  return async (path, records, expected = 200) => {
    for (let i = 0; i < records.length; i += BULK) {
      const body = JSON.stringify(records.slice(i, i + BULK))
      const response = await sendLocal(`${base}/${at}/${path}`, { method: 'POST', headers, body })
      if (response.status === expected) continue
      throw new Error(`POST ${path} answered ${response.status}: ${await response.text()}`)
    }
  }
}

/** How often the progress of a run is read, and the pause before, in milliseconds. It ends without anybody waiting. */
const POLLS = 200
const POLL_MS = 50

/** Computes the statements of a month of an account, and waits for them. */
export async function computeStatements(call: Call, account: string, period: string) {
  const { id } = await call<{ id: string }>('POST', `accounts/${account}/periods/${period}/run`)
  for (let polls = 0; polls < POLLS; polls++) {
    const { status } = await call<{ status: string }>('GET', `accounts/${account}/runs/${id}`)
    if (status !== 'running') return
    await wait(POLL_MS)
  }
}
