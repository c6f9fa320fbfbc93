import createClient from 'openapi-fetch'
import { fetchWithRetry } from './fetch-with-retry.ts'
import type { components, paths } from './tributary.d.ts'

// The first delivery of a brand: a customer and their first deposit.

const { TRIBUTARY_BASE_URL, TRIBUTARY_BRAND_TOKEN } = process.env
const client = createClient<paths>({
  baseUrl: TRIBUTARY_BASE_URL ?? 'http://127.0.0.1:8787',
  fetch: fetchWithRetry,
  headers: { 'x-api-key': TRIBUTARY_BRAND_TOKEN ?? '' },
})

const customer: components['schemas']['IgamingCustomer'] = {
  customerId: 'P-2201',
  regtime: '2026-10-21 08:30',
  crm_status: 'vip',
}
type Activity = components['schemas']['IgamingActivity']
const deposit: Activity = {
  eventname: 'Deposit',
  customerid: customer.customerId,
  eventid: 'dep-2201',
  createtime: '2026-10-22 09:30',
  Value: '100.00',
  Currency: 'EUR',
}
// @ts-expect-error The types refuse what the service would refuse: an activity without a name.
const _unnamed: Activity = { ...deposit, eventname: null }

for (const { data, error } of [
  await client.POST('/tracking/events/customers', { body: [customer] }),
  await client.POST('/tracking/events/activities', { body: [deposit] }),
]) {
  if (error) throw new Error(error.detail)
  for (const { key, outcome } of data.results) console.log(JSON.stringify(key), outcome)
}
const page = await client.GET('/tracking/events/activities', {
  params: { query: { customerid: customer.customerId } },
})
for (const { eventname, eventid } of page.data?.data ?? []) {
  console.log('listed', eventname, eventid)
}
