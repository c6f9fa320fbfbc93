import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Shared } from './frame.ts'

// An account of a partner and one of a brand whose ids, names and words are odd.

export const FIRM = 'odd-firm'
export const BRAND = 'odd-brand'
export const PERIOD = '2026-03'
const PLAN = 'odd-plan'

/** Texts that senders may use as ids: each is that of an affiliate, a customer and a transaction. */
export const ODD = [
  'a\u202eb\u2066c',
  'zero\u200bwidth\u00a0space\u3164',
  'شريك ٣',
  '👩‍💻 ❤️ 🇩🇪',
  `"'><script>alert(1)</script>&amp;`,
  '100%25 a/b?c#d',
  '...',
  `long-${'x'.repeat(200)}`,
  '=1+1;"quoted"',
] as const

const TERMS = {
  name: `Plan <b> ${ODD[2]}`,
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-01-01',
  terms: 'current',
  negative: 'carry',
  minimum_payout: '0.00',
  hold_days: 14,
  rules: [
    { id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'], min: '1' }, amount: '1234.5' },
  ],
}

/** A request to the service; a refusal is an error of the test, unless it is expected. */
async function send<T>(
  url: string,
  token: string,
  method: string,
  body: unknown,
  isRefused = false,
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.equal(response.status >= 400, isRefused, `${method} ${url}: ${text}`)
  return (text === '' ? null : JSON.parse(text)) as T
}

/** Creates both accounts, and returns the ids that the service chose. */
export async function createOddAccounts({ base, key }: Shared): Promise<Record<string, string>> {
  const ask = <T>(method: string, path: string, body?: unknown) =>
    send<T>(`${base}/admin/v1/accounts${path}`, key, method, body)
  const firm = await createFirm(base, ask)
  await createBrand(ask)
  return firm
}

type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>

const create = (ask: Ask, account: string, vertical: string) =>
  ask('POST', '', { account, name: `"${ODD[2]} <b>`, vertical, mode: 'test' })

async function createFirm(base: string, ask: Ask): Promise<Record<string, string>> {
  const at = `/${FIRM}`
  await create(ask, FIRM, 'forex')
  await ask('PATCH', at, { unknown_customer: 'hold' })
  const affiliates = ODD.map((affiliate_id, i) => ({
    affiliate_id,
    ...(i > 0 && i < 4 && { parent: ODD[i - 1] }),
  }))
  await ask('PUT', `${at}/affiliates`, affiliates)
  await ask('PUT', `${at}/status-map`, { [ODD[3]]: 'approved', settled: 'approved' })
  await ask('PUT', `${at}/plans/${PLAN}`, TERMS)
  const assignment = { plan: PLAN, from: '2026-01-01', customers: 'all' }
  const assigned = ODD.map((affiliate_id) => ({ affiliate_id, ...assignment }))
  const all = { affiliate_id: '*', ...assignment }
  await ask('PUT', `${at}/assignments`, [...assigned, all])
  const landing_page = 'https://forex.example/?a=%E2%80%AE'
  const terms = { affiliate_id: ODD[0], name: ODD[2], landing_page }
  const { link_id: link } = await ask<{ link_id: string }>('POST', `${at}/links`, terms)
  const hook = { url: 'http://127.0.0.1:9/', events: ['statement.paid'], description: ODD[0] }
  const { id: webhook } = await ask<{ id: string }>('POST', `${at}/webhooks`, hook)
  const refused = await sendRecords(base, ask)
  const entry = { affiliate_id: ODD[0], plan: PLAN, amount: '-7.50' }
  await ask('POST', `${at}/manual-entries`, { ...entry, reason: ODD[1], reference: ODD[2] })
  const reason = { reason: `${ODD[1]}_refused` }
  await ask('PUT', `${at}/customers/${encodeURIComponent(ODD[4])}/refusal`, reason)
  const statement = await computeAndPay(ask)
  return { ...statement, plan: PLAN, webhook, link, delivery: refused }
}

/** Sends customers, transactions, and records that are held or refused. Returns the refused delivery. */
async function sendRecords(base: string, ask: Ask): Promise<string> {
  type Client = { client_id: string; client_secret: string }
  const client = await ask<Client>('POST', `/${FIRM}/clients`)
  const { client_id, client_secret } = client
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const answer = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  const { access_token } = (await answer.json()) as { access_token: string }
  const post = (resource: string, body: unknown, isRefused = false) =>
    send<{ delivery_id: string }>(
      `${base}/api/v1/forex/${resource}`,
      access_token,
      'POST',
      body,
      isRefused,
    )
  const customer = { signup_date: '2026-03-01T08:00:00Z', tracking_data: 'x' }
  await post(
    'customers',
    ODD.map((id) => ({ ...customer, customer_id: id, affiliate_id: id, kyc_status_id: ODD[0] })),
  )
  const deposit = {
    transaction_type: 'deposit',
    amount_currency: 1234567.89,
    currency: 'EUR',
    transaction_date: '2026-03-10T10:00:00Z',
  }
  const deposits = ODD.map((id, i) => ({
    ...deposit,
    transaction_id: id,
    customer_id: id,
    status: i === 0 ? 'odd\u202e' : 'settled',
  }))
  await post('transactions', deposits)
  await post('transactions', [
    { ...deposit, transaction_id: 'held', customer_id: `${ODD[0]}2`, status: 'settled' },
  ])
  const wrong = { ...deposit, transaction_type: ODD[0], status: 'settled' }
  const refused = ODD.map((id) => ({ ...wrong, transaction_id: `${id}!`, customer_id: id }))
  const { delivery_id } = await post('transactions', refused, true)
  return delivery_id
}

/** Computes a period, approves it and pays a statement. Returns the ids of a statement and its line. */
async function computeAndPay(ask: Ask): Promise<Record<string, string>> {
  const at = `/${FIRM}`
  const run = await ask<{ id: string }>('POST', `${at}/periods/${PERIOD}/run`)
  for (let status = 'running'; status === 'running'; await sleep(50))
    ({ status } = await ask<{ status: string }>('GET', `${at}/runs/${run.id}`))
  await ask('POST', `${at}/periods/${PERIOD}/approve`, { leave_out_holds: true })
  type Listed = { id: string; payable: string; affiliate_id: string }
  const { data } = await ask<{ data: Listed[] }>(
    'GET',
    `${at}/statements?period=${PERIOD}&status=approved&per_page=100`,
  )
  const paid = data.filter(({ payable }) => /[1-9]/.test(payable))
  assert.ok(paid.length > 3, 'odd affiliates earn')
  const [first] = paid
  const asked = {
    ...{ method: 'manual', execute_on: new Date().toISOString().slice(0, 10) },
    rows: [{ id: `${first!.affiliate_id}:EUR`, reason: `PAY ${ODD[1]}` }],
  }
  type Batch = { id: string; hash: string; total: string }
  const { id, hash, total } = await ask<Batch>('POST', `${at}/batches`, asked)
  await ask('POST', `${at}/batches/${id}/confirm`, { hash, total })
  await ask('POST', `${at}/batches/${id}/pay`, { paid_on: '2026-04-20' })
  type Whole = { lines: { id: string }[] }
  const statement = paid[1]!.id
  const { lines } = await ask<Whole>('GET', `${at}/statements/${statement}`)
  return { statement, line: lines[0]!.id, run: run.id }
}

async function createBrand(ask: Ask): Promise<void> {
  const at = `/${BRAND}`
  await create(ask, BRAND, 'igaming')
  await ask('PUT', `${at}/affiliates`, [{ affiliate_id: ODD[0] }])
  const definition = { granularity: 'event', eventid: 'used', kpis: [`KPI ${ODD[2]}`] }
  await ask('PUT', `${at}/events/${encodeURIComponent(ODD[4])}`, definition)
}
