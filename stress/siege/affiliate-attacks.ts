import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { expectBody, newRequestSender, type RequestSender } from '../ask.ts'
import { AFFILIATE, asFirm, newClient, newToken } from '../parties.ts'
import { type Attack, type Attacker, customer, range, transaction } from './attacks.ts'
import { dayBefore, storeTrades, storeYear, YEAR } from './feature-attacks.ts'

// Attacks of an affiliate and of visitors on the account to which they belong: that of the victim.

const ACCOUNT = 'accounts/victim'

/** The keys that an affiliate may have. */
const KEYS = 5

const PLAN = {
  ...{
    name: 'Siege',
    currency: 'EUR',
    period: 'month',
    effective_from: `${dayBefore(YEAR).slice(0, 7)}-01`,
  },
  ...{ terms: 'current', negative: 'carry', minimum_payout: '0', hold_days: 5 },
  rules: [
    {
      ...{ id: 'share', kind: 'share', percent: '10', per: 'customer' },
      base: [{ transactions: ['deposit'] }],
    },
    {
      ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '20.00' },
      qualify: [{ count: { activity: 'lots_traded' }, min: 1 }],
    },
    { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '2.50' },
  ],
}

/** The days that an affiliate asks about. */
const QUARTER = 90

/** What the attack asks, once `prepare` has made it. */
let addresses: readonly string[] = []
let keys: readonly RequestSender[] = []

/** An affiliate with few of the account's customers. */
const SMALL = 'IB-08'

/** The customers of this affiliate, out of more than a thousand; each has a deposit a day in the last month. */
const FEW = 10

async function storeFew({ firm, service: { admin } }: Attacker): Promise<void> {
  await expectBody(200, admin('PUT', `${ACCOUNT}/affiliates`, { body: [{ affiliate_id: SMALL }] }))
  const customers = range(FEW, (i) => ({ ...customer(`few${i}`), affiliate_id: SMALL }))
  await firm('POST', 'customers', { body: customers })
  const transactions = range(30 * FEW, (i) => ({
    ...transaction(`few-${i}`, `few${i % FEW}`),
    transaction_date: `${dayBefore(Math.floor(i / FEW))}T10:00:00Z`,
  }))
  await firm('POST', 'transactions', { body: transactions })
}

/**
 * Stores a year of records in the account of the victim, computes the statements of a month, and makes the keys of
 * an affiliate.
 */
async function storeAffiliate(attacker: Attacker, affiliate: string): Promise<void> {
  const { service } = attacker
  const { admin } = service
  const client = await newClient(admin, 'victim')
  const firm = { account: 'victim', vertical: 'forex' as const, ...client }
  const own = { ...attacker, firm: asFirm(service, firm, await newToken(service, firm)) }
  await storeYear(own)
  await storeTrades(own)
  await storeFew(own)
  await expectBody(201, admin('PUT', `${ACCOUNT}/plans/siege`, { body: PLAN }))
  const assignment = { plan: 'siege', from: dayBefore(YEAR), customers: 'all' }
  const body = [AFFILIATE, SMALL].map((affiliate_id) => ({ affiliate_id, ...assignment }))
  await expectBody(200, admin('PUT', `${ACCOUNT}/assignments`, { body }))
  const month = dayBefore(10).slice(0, 7)
  const { id: run } = await expectBody(202, admin('POST', `${ACCOUNT}/periods/${month}/run`))
  for (let status = 'running'; status === 'running'; await wait(200)) {
    ;({ status } = await expectBody(200, admin('GET', `${ACCOUNT}/runs/${run}`)))
  }
  keys = await Promise.all(
    range(KEYS, async (i) => {
      const made = admin('POST', `${ACCOUNT}/affiliates/${affiliate}/keys`, {
        body: { name: `Key ${i}` },
      })
      const { affiliate_key } = await expectBody(201, made)
      const headers = { Authorization: `Bearer ${affiliate_key}` }
      return newRequestSender(service.url, headers, '/affiliate/v1/')
    }),
  )
  const { data } = await expectBody(200, keys[0]!('GET', `statements?period=${month}`))
  const { lines } = await expectBody(200, keys[0]!('GET', `statements/${data[0].id}`))
  const days = `from=${dayBefore(QUARTER)}&to=${dayBefore(0)}`
  addresses = [
    ...lines.slice(0, 5).map(({ id }: { id: string }) => `lines/${id}/explain`),
    ...[`reports?${days}&group_by=link,sub1`, `reports?${days}&group_by=day,country_code`],
    ...[`customers?period=${month}&per_page=500`, `unearned/facts?period=${month}&per_page=500`],
    ...[`overview?${days}`, `clicks?${days}`, `sub-affiliates?${days}`],
  ]
}

let link = ''

/** Makes a link of the account of the victim. */
async function makeLink({ service: { admin } }: Attacker): Promise<void> {
  const body = { affiliate_id: AFFILIATE, landing_page: 'https://acme.example/', pass_query: true }
  const { url } = await expectBody(201, admin('POST', `${ACCOUNT}/links`, { body }))
  link = new URL(url).pathname.slice(1)
}

/** Returns sub-parameters that no other click has, as long as they may be, and what is passed on. */
function subs(): string {
  const value = () => randomBytes(32).toString('hex')
  const own = range(5, (i) => `sub${i + 1}=${value()}`)
  return [...own, `gclid=${value()}`].join('&')
}

/** Connections that are used again: opening one takes more CPU than a click, of both sides. */
const visitors = new Agent({ keepAlive: true })

async function click({ service }: Attacker): Promise<void> {
  const request = get(new URL(`${link}?${subs()}`, service.url), { agent: visitors })
  const [response]: IncomingMessage[] = await once(request, 'response')
  response?.resume()
  await once(response ?? request, 'end')
}

/** Asks for all that is computed from the records of an affiliate, in four lanes. */
const withKeysOf = (affiliate: string, name: string): Attack => ({
  name,
  lanes: 4,
  prepare: (attacker) => storeAffiliate(attacker, affiliate),
  act: (_, lane, turn) =>
    keys[lane % KEYS]!('GET', addresses[(lane + turn) % addresses.length]!, {
      headers: { Accept: turn % 2 ? 'text/csv' : 'application/json' },
    }),
})

/** The attacks of affiliates and their visitors. */
export const AFFILIATE_ATTACKS: readonly Attack[] = [
  withKeysOf(AFFILIATE, 'keys of an affiliate with all customers'),
  withKeysOf(SMALL, 'keys of an affiliate with ten customers'),
  {
    name: 'clicks with sub-parameters',
    lanes: 32,
    prepare: makeLink,
    act: click,
  },
]
