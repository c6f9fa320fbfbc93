import assert from 'node:assert/strict'
import type { Demo } from '../service.ts'

/** Sends transactions of a type that does not exist, as the partner of the demo account. */
export async function sendRefused(
  { base_url, accounts }: Demo,
  ids: readonly string[],
): Promise<void> {
  const { client_id = '', client_secret = '' } =
    accounts.find(({ account }) => account === 'demo-forex') ?? {}
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const answer = await fetch(`${base_url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  const headers = { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' }
  const body = JSON.stringify(ids.map(wrong))
  const { status } = await fetch(`${base_url}/api/v1/forex/transactions`, {
    method: 'POST',
    headers,
    body,
  })
  assert.equal(status, 422)
}

const wrong = (transaction_id: string) => ({
  transaction_id,
  customer_id: 'C-3301',
  transaction_type: 'gift',
  amount_currency: 5,
  currency: 'EUR',
  status: 'approved',
  transaction_date: '2026-03-20T10:00:00Z',
})
