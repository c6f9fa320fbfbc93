import createClient from 'openapi-fetch'
import type { components, paths } from './tributary.d.ts'

// The same for a brand: a player, and what she did.

const { TRIBUTARY_BASE_URL, TRIBUTARY_BRAND_TOKEN } = process.env
const client = createClient<paths>({
  baseUrl: TRIBUTARY_BASE_URL ?? 'http://127.0.0.1:8787',
  headers: { 'x-api-key': TRIBUTARY_BRAND_TOKEN ?? '' },
})

const player: components['schemas']['IgamingCustomer'] = {
  customerId: 'P-3001',
  regtime: '2026-10-01 08:30',
  crm_status: 'vip',
}
const deposit: components['schemas']['IgamingActivity'] = {
  eventname: 'Deposit',
  customerid: player.customerId,
  eventid: 'dep-3001',
  createtime: '2026-10-02 09:30',
  Value: '100.00',
  Currency: 'EUR',
}
// @ts-expect-error An event has a name.
deposit.eventname = null

deposit.eventname = 'Deposit'
for (const { data, error } of [
  await client.POST('/tracking/events/customers', { body: [player] }),
  await client.POST('/tracking/events/activities', { body: [deposit] }),
]) {
  if (error) throw new Error(error.detail)
  for (const { key, outcome } of data.results) console.log(JSON.stringify(key), outcome)
}
const page = await client.GET('/tracking/events/activities', {
  params: { query: { customerid: player.customerId } },
})
for (const { eventname, eventid } of page.data?.data ?? []) {
  console.log('listed', eventname, eventid)
}
