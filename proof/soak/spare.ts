import { type Ask, asking } from '../ask.ts'
import { asBrand, asFirm } from '../parties.ts'
import type { Service } from '../service.ts'
import { type Act, type Draw, SPAN } from './draw.ts'
import type { Heard } from './heard.ts'

const RECORDS = 20

/** Accounts that live for one act: what ends credentials or forgets records is done to them. */
export function spares(service: Service, heard: Heard, draw: Draw): Act[] {
  let count = 0
  const name = (kind: string) => `soak-spare-${kind}-${count++}`
  return [
    [0.2, () => spareFirm(service, heard, draw, name('firm'))],
    [0.2, () => spareBrand(service, heard, draw, name('brand'))],
  ]
}

/** Asks as the integrations team, about one account, and answers with what was said. */
function about({ admin }: Service, { hear }: Heard, account: string) {
  const at = `accounts/${account}`
  return async (status: number, method: string, path: string, shown = path, body?: unknown) => {
    const said = await hear(
      `${method} /admin/v1/accounts/{account}${shown}`,
      [status],
      admin(method, at + path, { body }),
    )
    return said.body
  }
}

const days = `from=${SPAN.from}&to=${SPAN.to}`

/** A firm whose secret is rotated, one customer erased, all forgotten, its client revoked. */
async function spareFirm(service: Service, heard: Heard, draw: Draw, account: string) {
  const { hear, odd } = heard
  const team = about(service, heard, account)
  const plan = { account, name: account, vertical: 'forex', mode: 'test' }
  await hear('POST /admin/v1/accounts', [201], service.admin('POST', 'accounts', { body: plan }))
  const first = await team(201, 'POST', '/clients')
  const { client_id } = first
  const rotated = await team(201, 'POST', `/clients/${client_id}/rotate`, '/clients/{id}/rotate', {
    overlap: '1h',
  })
  const oauth = asking(service.url, {}, '/oauth/')
  // The old secret is good beside the new one, as long as was said.
  const { client_secret } = draw.one([first, rotated])
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const asked = oauth('POST', 'token', { body: new URLSearchParams(form) })
  const { access_token } = (await hear('POST /oauth/token', [200], asked)).body
  const firm = { account, vertical: 'forex' as const, client_id, client_secret }
  const ask = asFirm(service, firm, access_token)
  const body = Array.from({ length: RECORDS }, (_, i) => ({
    customer_id: `C-${i}`,
    signup_date: `${draw.day()}T08:00:00.000Z`,
    affiliate_id: 'IB-07',
    tracking_data: 'click-42',
    email: 'ada@example.org',
  }))
  const customers = '/api/v1/forex/customers'
  await hear(`POST ${customers}`, [200], ask('POST', 'customers', { body }))
  await team(200, 'DELETE', '/customers/C-1/personal-data', '/customers/{id}/personal-data')
  await forgotten(team, ask, odd, account)
  const replay = service.admin('POST', `erasures/replay?account=${account}`)
  const { erased } = (await hear('POST /admin/v1/erasures/replay', [200], replay)).body
  if (erased !== 1) odd(`${erased} customers of ${account} were erased again, not 1`)
  await team(204, 'DELETE', `/clients/${client_id}`, '/clients/{id}')
  await hear(`GET ${customers}, revoked`, [401], ask('GET', 'customers'))
}

/** A brand that has two tokens, of which one is ended, and whose records are forgotten. */
async function spareBrand(service: Service, heard: Heard, draw: Draw, account: string) {
  const { hear, odd } = heard
  const team = about(service, heard, account)
  const plan = { account, name: account, vertical: 'igaming', mode: 'test' }
  await hear('POST /admin/v1/accounts', [201], service.admin('POST', 'accounts', { body: plan }))
  const overlap = { overlap: '1h' }
  const ended = await team(201, 'POST', '/brand-tokens', '/brand-tokens', overlap)
  const alive = await team(201, 'POST', '/brand-tokens', '/brand-tokens', overlap)
  const ask = asBrand(service, alive.brand_token)
  const body = Array.from({ length: RECORDS }, (_, i) => ({
    customerId: `P-${i}`,
    regtime: `${draw.day()} 08:00`,
  }))
  const customers = '/tracking/events/customers'
  const asEnded = asBrand(service, ended.brand_token)
  await hear(`POST ${customers}`, [200], asEnded('POST', 'customers', { body }))
  await team(204, 'DELETE', `/brand-tokens/${ended.id}`, '/brand-tokens/{id}')
  await hear(`GET ${customers}, revoked`, [401], asEnded('GET', 'customers'))
  await forgotten(team, ask, odd, account)
}

/** Has all records of an account forgotten, which were there before and are not there after. */
async function forgotten(
  team: ReturnType<typeof about>,
  ask: Ask,
  odd: Heard['odd'],
  account: string,
) {
  const stored = async () => (await ask('GET', 'customers?per_page=1')).body.meta?.total
  const before = await stored()
  await team(204, 'POST', '/reset')
  const after = await stored()
  const { data } = await team(200, 'GET', `/totals?${days}`, '/totals')
  if (before === RECORDS && after === 0 && data.length === 0) return
  odd(`${account} was reset from ${before} customers to ${after}, ${data.length} totals`)
}
