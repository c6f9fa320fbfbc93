import createClient from 'openapi-fetch'
import { fetchWithRetry } from './fetch-with-retry.ts'
import type { components, paths } from './tributary.d.ts'

// The first delivery with a client whose types `npm run generate` derives from openapi.json.

/** The largest page. */
const PER_PAGE = 500

const { TRIBUTARY_BASE_URL, TRIBUTARY_CLIENT_ID, TRIBUTARY_CLIENT_SECRET } = process.env
const client = createClient<paths>({
  baseUrl: TRIBUTARY_BASE_URL ?? 'http://127.0.0.1:8787',
  fetch: fetchWithRetry,
})

const token = await client.POST('/oauth/token', {
  body: {
    grant_type: 'client_credentials',
    client_id: TRIBUTARY_CLIENT_ID ?? '',
    client_secret: TRIBUTARY_CLIENT_SECRET ?? '',
  },
  bodySerializer: (form) => new URLSearchParams(form as Record<string, string>),
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
})
if (token.error) throw new Error(token.error.error_description)
const headers = { Authorization: `Bearer ${token.data.access_token}` }

const customers: components['schemas']['ForexCustomer'][] = ['C-2201', 'C-2202'].map((id) => ({
  customer_id: id,
  signup_date: '2026-10-21T08:30:00Z',
  affiliate_id: 'IB-07',
  tracking_data: 'click-42',
  country_code: 'DE',
}))
const sent = await client.POST('/api/v1/forex/customers', { headers, body: customers })
if (sent.error) throw new Error(sent.error.detail)
for (const { key, outcome } of sent.data.results) console.log(key?.customer_id, outcome)

let cursor: string | undefined
do {
  const query = { per_page: PER_PAGE, ...(cursor && { cursor }) }
  const page = await client.GET('/api/v1/forex/customers', { headers, params: { query } })
  if (page.error) throw new Error(page.error.detail)
  for (const { customer_id } of page.data.data) console.log('listed', customer_id)
  cursor = page.data.meta.next_cursor ?? undefined
} while (cursor)
