import { sendLocal } from '../send-local.ts'
import { closeBooks } from './close-books.ts'
import { DEMO_PERIOD, type DemoCommissions, demoCommissions, FROM_LINK } from './records.ts'

/** The account that gets commissions, as in `.demo.json`. */
interface Account {
  account: string
  vertical: string
  client_id?: string
  client_secret?: string
  brand_token?: string
  link_id?: string
}

/** Calls `/admin/v1`. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** A list of statements. */
interface List {
  data: { id: string }[]
}

/** How often the progress of a run is read, in milliseconds. */
const POLL_MS = 50

/** The longest wait for the statements, in milliseconds. A run ends without anybody waiting for it. */
const RUN_LIMIT_MS = 5000

const wait = (ms: number) => new Promise((done) => setTimeout(done, ms))

/**
 * Gives demo accounts plans and the records of a month, and computes the drafts of that month. One
 * account has its books closed. An account with statements of the month stays as it is. After a
 * failure, the next start repeats every step.
 *
 * @param rates Fulfilled when the exchange rates are stored.
 */
export async function createCommissions(
  base: string,
  call: Call,
  accounts: readonly Account[],
  rates: Promise<void>,
): Promise<void> {
  const lists = accounts.map(({ account }) =>
    call<List>('GET', `accounts/${account}/statements?period=${DEMO_PERIOD}`),
  )
  const stored = await Promise.all(lists)
  const empty = accounts.filter((_, i) => stored[i]?.data.length === 0)
  await Promise.all([rates, ...empty.map((account) => createRecords(base, call, account))])
  await Promise.all(
    empty.map(({ account }) => computeStatements(call, `accounts/${account}`, DEMO_PERIOD)),
  )
  await closeBooks(call)
}

async function createRecords(base: string, call: Call, demo: Account): Promise<void> {
  const commissions = demoCommissions(demo.vertical)
  const configured = configure(call, `accounts/${demo.account}`, commissions)
  await Promise.all([configured, sendRecords(base, demo, commissions)])
}

/** Computes the statements of a month of an account, and waits for them. */
export async function computeStatements(call: Call, at: string, period: string): Promise<void> {
  const { id } = await call<{ id: string }>('POST', `${at}/periods/${period}/run`)
  const deadline = Date.now() + RUN_LIMIT_MS
  while (Date.now() < deadline) {
    const { status } = await call<{ status: string }>('GET', `${at}/runs/${id}`)
    if (status !== 'running') return
    await wait(POLL_MS)
  }
}

async function configure(
  call: Call,
  at: string,
  { plan, terms, from, affiliates }: DemoCommissions,
) {
  if (affiliates.length > 0) await call('PUT', `${at}/affiliates`, affiliates)
  await call('PUT', `${at}/plans/${plan}`, terms)
  await call('PUT', `${at}/assignments`, [{ affiliate_id: '*', plan, from, customers: 'new' }])
}

/** Returns a function that sends records of an account, and expects a status. */
export async function senderOf(base: string, demo: Account) {
  const { vertical, brand_token } = demo
  const at = brand_token ? 'tracking/events' : `api/v1/${vertical}`
  const headers = { 'Content-Type': 'application/json', ...(await credentialsOf(base, demo)) }
  return async (path: string, body: string, expected: number) => {
    const response = await sendLocal(`${base}/${at}/${path}`, { method: 'POST', headers, body })
    if (response.status === expected) return
    throw new Error(`POST ${at}/${path} answered ${response.status}: ${await response.text()}`)
  }
}

async function sendRecords(base: string, demo: Account, commissions: DemoCommissions) {
  const { bulks, refused = [] } = commissions
  const post = await senderOf(base, demo)
  const trackingData = demo.brand_token ? await followLink(base, demo) : ''
  const send = (path: string, records: readonly object[], expected: number) =>
    post(path, JSON.stringify(records).replaceAll(FROM_LINK, trackingData), expected)
  for (const [path, records] of Object.entries(bulks)) await send(path, records, 200)
  if (refused.length > 0) await send('transactions', refused, 422)
}

async function credentialsOf(
  base: string,
  { client_id = '', client_secret = '', brand_token }: Account,
): Promise<Record<string, string>> {
  if (brand_token) return { 'x-api-key': brand_token }
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const body = new URLSearchParams(form)
  const response = await sendLocal(`${base}/oauth/token`, { method: 'POST', body })
  const { access_token } = (await response.json()) as { access_token: string }
  return { Authorization: `Bearer ${access_token}` }
}

/** Returns the `tracking_data` with which a visitor of the link arrives. */
async function followLink(base: string, { link_id }: Account): Promise<string> {
  const { headers } = await sendLocal(`${base}/go/${link_id}`, { redirect: 'manual' })
  return new URL(headers.get('Location') ?? '').searchParams.get('tracking_data') ?? ''
}
