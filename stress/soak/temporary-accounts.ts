import { newRequestSender, type RequestSender } from '../ask.ts'
import { asBrand, asFirm } from '../parties.ts'
import type { Service } from '../service.ts'
import { type Draw, SPAN, type WeightedAction } from './draw.ts'
import type { ResponseLog } from './response-log.ts'

const RECORDS = 20

/** Returns actions that end credentials and delete records, each on a new account. */
export function temporaryAccountActions(
  service: Service,
  responses: ResponseLog,
  draw: Draw,
): WeightedAction[] {
  let count = 0
  const name = (kind: string) => `soak-spare-${kind}-${count++}`
  return [
    [0.2, () => useTemporaryFirm(service, responses, draw, name('firm'))],
    [0.2, () => useTemporaryBrand(service, responses, draw, name('brand'))],
  ]
}

/** Returns a function that sends requests as the integrations team about one account. */
function senderFor({ admin }: Service, { expectStatus }: ResponseLog, account: string) {
  const at = `accounts/${account}`
  return async (status: number, method: string, path: string, route = path, body?: unknown) => {
    const text = await expectStatus(
      `${method} /admin/v1/accounts/{account}${route}`,
      [status],
      admin(method, at + path, { body }),
    )
    return text.body
  }
}

/** Creates a test account, and returns the sender of requests about it. */
async function createAccount(
  service: Service,
  responses: ResponseLog,
  account: string,
  vertical: 'forex' | 'igaming',
) {
  const body = { account, name: account, vertical, mode: 'test' }
  const request = service.admin('POST', 'accounts', { body })
  await responses.expectStatus('POST /admin/v1/accounts', [201], request)
  return senderFor(service, responses, account)
}

const days = `from=${SPAN.from}&to=${SPAN.to}`

/** Rotates a firm's secret, erases a customer, resets the account, and revokes the client. */
async function useTemporaryFirm(
  service: Service,
  responses: ResponseLog,
  draw: Draw,
  account: string,
) {
  const { expectStatus, reportProblem } = responses
  const team = await createAccount(service, responses, account, 'forex')
  const first = await team(201, 'POST', '/clients')
  const { client_id } = first
  const rotated = await team(201, 'POST', `/clients/${client_id}/rotate`, '/clients/{id}/rotate', {
    overlap: '1h',
  })
  const oauth = newRequestSender(service.url, {}, '/oauth/')
  // During the overlap both secrets work.
  const { client_secret } = draw.one([first, rotated])
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const request = oauth('POST', 'token', { body: new URLSearchParams(form) })
  const { access_token } = (await expectStatus('POST /oauth/token', [200], request)).body
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
  await expectStatus(`POST ${customers}`, [200], ask('POST', 'customers', { body }))
  await team(200, 'DELETE', '/customers/C-1/personal-data', '/customers/{id}/personal-data')
  await checkReset(team, ask, reportProblem, account)
  const replay = service.admin('POST', `erasures/replay?account=${account}`)
  const { erased } = (await expectStatus('POST /admin/v1/erasures/replay', [200], replay)).body
  if (erased !== 1) reportProblem(`${erased} customers of ${account} were erased again, not 1`)
  await team(204, 'DELETE', `/clients/${client_id}`, '/clients/{id}')
  await expectStatus(`GET ${customers}, revoked`, [401], ask('GET', 'customers'))
}

/** Ends one of a brand's two tokens, and resets the account. */
async function useTemporaryBrand(
  service: Service,
  responses: ResponseLog,
  draw: Draw,
  account: string,
) {
  const { expectStatus, reportProblem } = responses
  const team = await createAccount(service, responses, account, 'igaming')
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
  await expectStatus(`POST ${customers}`, [200], asEnded('POST', 'customers', { body }))
  await team(204, 'DELETE', `/brand-tokens/${ended.id}`, '/brand-tokens/{id}')
  await expectStatus(`GET ${customers}, revoked`, [401], asEnded('GET', 'customers'))
  await checkReset(team, ask, reportProblem, account)
}

/** Resets an account, and checks that its records are gone. */
async function checkReset(
  team: ReturnType<typeof senderFor>,
  ask: RequestSender,
  reportProblem: ResponseLog['reportProblem'],
  account: string,
) {
  const stored = async () => (await ask('GET', 'customers?per_page=1')).body.meta?.total
  const before = await stored()
  await team(204, 'POST', '/reset')
  const after = await stored()
  const { data } = await team(200, 'GET', `/totals?${days}`, '/totals')
  if (before === RECORDS && after === 0 && data.length === 0) return
  reportProblem(`${account} was reset from ${before} customers to ${after}, ${data.length} totals`)
}
