import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** A demo account, as `.demo.json` shows it: a partner has an OAuth client, a brand a Brand Token. */
export interface DemoAccount {
  account: string
  name: string
  vertical: string
  client_id?: string
  client_secret?: string
  brand_token?: string
  /** What leads visitors to its landing page. */
  link_id?: string
}

/** What of an account is set up before its credentials are issued. */
interface Plan {
  account: string
  name: string
  vertical: string
  affiliates: string[]
  landing_page: string
}

const PLANS: Plan[] = [
  {
    account: 'demo-prop',
    name: 'Demo Prop Trading',
    vertical: 'prop-trading',
    affiliates: ['AFF-1', 'AFF-2', 'AFF-3', 'IB-07'],
    landing_page: 'https://prop.example/start',
  },
  {
    account: 'demo-forex',
    name: 'Demo Forex',
    vertical: 'forex',
    affiliates: ['IB-07', 'IB-08', 'IB-09'],
    landing_page: 'https://forex.example/start',
  },
  {
    account: 'demo-brand',
    name: 'Demo Casino',
    vertical: 'igaming',
    affiliates: ['AFF-1', 'AFF-2', 'AFF-3'],
    landing_page: 'https://casino.example/welcome?lang=en',
  },
]

const DAILY_STATS = {
  granularity: 'day',
  eventid: 'used',
  kpis: ['GGR', 'NGR', 'Bets', 'Games'],
  product: {
    field: 'Product',
    map: { Casino: 'casino', Sports: 'sports', Poker: 'poker', Bingo: 'bingo' },
  },
}

type Ask = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** Asks for what the integrations team may; to create what is there already is no failure. */
const asking =
  (base: string, key: string): Ask =>
  async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${base}/admin/v1/${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const said = await response.text()
    if (response.ok || response.status === 409 || response.status === 404) return JSON.parse(said)
    throw new Error(`${method} ${path} was answered ${response.status}: ${said}`)
  }

/** The demo accounts with their secrets: those of the last run, or new ones. */
export async function demoAccounts(base: string, key: string, path: string) {
  const ask = asking(base, key)
  if (existsSync(path)) {
    const known: DemoAccount[] = JSON.parse(readFileSync(path, 'utf8'))
    const found = known.map(({ account }) =>
      ask<{ account?: string }>('GET', `accounts/${account}`),
    )
    const isWhole = known.length === PLANS.length
    if (isWhole && (await Promise.all(found)).every(({ account }) => account)) return known
  }
  const accounts = await Promise.all(PLANS.map((plan) => setUp(ask, plan)))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(accounts), { mode: 0o600 })
  return accounts
}

/** Sets one account up as the integrations team does. */
async function setUp(ask: Ask, { affiliates, landing_page, ...plan }: Plan): Promise<DemoAccount> {
  const at = `accounts/${plan.account}`
  await ask('POST', 'accounts', { ...plan, mode: 'test' })
  await ask(
    'PUT',
    `${at}/affiliates`,
    affiliates.map((affiliate_id) => ({ affiliate_id })),
  )
  const link = { affiliate_id: affiliates[0], landing_page }
  const { link_id } = await ask<{ link_id: string }>('POST', `${at}/links`, link)
  if (plan.vertical !== 'igaming') {
    const issued = await ask<{ client_id: string; client_secret: string }>('POST', `${at}/clients`)
    return { ...plan, client_id: issued.client_id, client_secret: issued.client_secret, link_id }
  }
  await ask('PUT', `${at}/events/DailyStats`, DAILY_STATS)
  const { brand_token } = await ask<{ brand_token: string }>('POST', `${at}/brand-tokens`)
  return { ...plan, brand_token, link_id }
}
