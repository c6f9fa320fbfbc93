import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Demo } from '../service.ts'
import { shareService } from '../shared-service.ts'

/** A response of the service. */
export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  body: any
}

/** A service with demo accounts. Those of partners hold the records of unknown customers. */
export interface Service {
  /** Posts a text to the resource of a vertical; a dry run unless `dry` is false. */
  post: (vertical: string, resource: string, text: string, more?: Options) => Promise<Answer>
  get: (vertical: string, path: string) => Promise<Answer>
  end: () => Promise<void>
}

interface Options {
  prefer?: string
  dry?: boolean
}

/** Starts the service, with senders for its demo accounts. */
export async function startService(): Promise<Service> {
  const { demo, stop } = await shareService('agreement')
  return { ...(await reach(demo)), end: stop }
}

async function reach({ base_url, admin_key, accounts }: Demo): Promise<Omit<Service, 'end'>> {
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    for (;;) {
      const response = await fetch(base_url + path, init)
      const text = await response.text()
      // Shrinking may exceed the rate of one token.
      if (response.status === 429) {
        await sleep(1000 * Number(response.headers.get('Retry-After') ?? 1))
        continue
      }
      return { status: response.status, body: JSON.parse(text) }
    }
  }
  const json = { 'Content-Type': 'application/json' }

  const headersOf = async (one: Demo['accounts'][number]) => {
    if (one.vertical === 'igaming') return { 'x-api-key': one.brand_token }
    const { status } = await ask(`/admin/v1/accounts/${one.account}`, {
      method: 'PATCH',
      headers: { ...json, Authorization: `Bearer ${admin_key}` },
      body: '{"unknown_customer":"hold"}',
    })
    assert.equal(status, 200)
    const { client_id, client_secret } = one
    const grant = { grant_type: 'client_credentials', client_id, client_secret }
    const body = new URLSearchParams(grant)
    const granted = await ask('/oauth/token', { method: 'POST', body })
    return { Authorization: `Bearer ${granted.body.access_token}` }
  }
  const known = await Promise.all(
    accounts.map(async (one) => [one.vertical, await headersOf(one)] as const),
  )
  const headers: Record<string, Record<string, string>> = Object.fromEntries(known)
  const at = (vertical: string) =>
    vertical === 'igaming' ? '/tracking/events/' : `/api/v1/${vertical}/`

  return {
    post: (vertical, resource, text, { prefer, dry = true } = {}) =>
      ask(`${at(vertical)}${resource}${dry ? '?dry_run=true' : ''}`, {
        method: 'POST',
        headers: { ...json, ...headers[vertical], ...(prefer && { Prefer: prefer }) },
        body: text,
      }),
    get: (vertical, path) => ask(at(vertical) + path, { headers: headers[vertical]! }),
  }
}
