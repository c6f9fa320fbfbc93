import { env } from 'cloudflare:workers'
import { vi } from 'vitest'
import { encodeTrackingCode, newClickId } from '../src/attribution/code.ts'
import { readHistories } from '../src/ingest/db/histories.ts'
import { ask, askAdmin, askToken, json, register } from './partner.ts'

/**
 * Sets the clock of the service. The time must lie in the future: alarms of objects follow the real clock,
 * and would end access tokens of the past.
 */
export const at = (time: string) => vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(time) })

/** Creates a partner firm, and returns a function that sends customers at a time. */
export async function datedPartner(account = 'acme-forex') {
  const vertical = 'forex'
  const { client_id, client_secret } = await register(vertical, { account })
  return async (time: string, customers: unknown, query = '') => {
    at(time)
    // An access token lives for an hour.
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(form))
    const response = await ask(`/api/v1/${vertical}/customers${query}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(customers),
    })
    const body = await json(response)
    if (!body.summary) throw new Error(JSON.stringify(body))
    return body
  }
}

/** Creates a link of an affiliate, and returns its id with `tracking_data` that it gives a visitor. */
export async function linkOf(account: string, affiliate_id: string) {
  await askAdmin(`accounts/${account}/affiliates`, 'PUT', [{ affiliate_id }])
  const landing_page = 'https://casino.example/'
  const { link_id } = await json(
    askAdmin(`accounts/${account}/links`, 'POST', { affiliate_id, landing_page }),
  )
  const link = { link_id, account, affiliate_id }
  const tracking_data = await encodeTrackingCode(env.TRACKING_KEYS, link, newClickId(Date.now()))
  return { link_id: String(link_id), tracking_data }
}

/** A part of a history as a test compares it. */
export type Dated = [from: string | null, value: unknown]

/** Returns the affiliates of a customer by day. */
export async function affiliatesOf(account: string, customer_id: string): Promise<Dated[]> {
  const { affiliations } = await json(
    askAdmin(`accounts/${account}/customers/${customer_id}/affiliations`),
  )
  return affiliations.map(({ from, affiliate_id }: Record<string, string | null>) => [
    from,
    affiliate_id,
  ])
}

/** Returns the fields of a customer by day. */
export async function fieldsOf(account: string, customer_id: string): Promise<Dated[]> {
  const found = await readHistories({ db: env.DB, directory: env.DB }, account, [customer_id])
  return (found.get(customer_id)?.fields ?? []).map(({ from, values }) => [from, values])
}

/** Returns the number of rows of each table with histories. */
export async function storedRows() {
  const tables = ['customer_affiliations', 'customer_fields']
  const counts = await env.DB.batch<{ n: number }>(
    tables.map((table) => env.DB.prepare(`select count(*) as n from ${table}`)),
  )
  return counts.map(({ results }) => results[0]!.n)
}
