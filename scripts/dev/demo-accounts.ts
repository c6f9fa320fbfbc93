import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DAY_MS } from '../../src/platform/durations.ts'
import { adminCalls, type Call, type DemoAccount } from './client.ts'
import { createCommissions } from './commissions/create.ts'
import type { MemberKeys } from './members.ts'
import { YEAR } from './patterns.ts'
import { profileOf } from './profiles.ts'
import type { DemoKeys } from './year.ts'

/** The file with the address of the local service, the keys of the team, and the demo accounts. */
export const DEMO = '.demo.json'

/** The credentials of the demo accounts, which only their first answer contains. */
export const ACCOUNTS = '.wrangler/demo-accounts.json'

/** The exchange rates of the European Central Bank from 2025-01 to 2026-04. */
const RATES = 'src/data/ecb-euro-reference-rates.csv'

/** The configuration of a demo account. */
interface Plan {
  account: string
  name: string
  vertical: string
  affiliates: string[]
  landing_page: string
  /** How affiliates apply by themselves. */
  sign_up?: object
}

/** The demo accounts. */
export const PLANS: Plan[] = [
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
    sign_up: {
      open: true,
      questions: ['Which countries do your visitors come from?'],
      terms: { version: '1', url: 'https://forex.example/partner-terms' },
    },
  },
  {
    account: 'demo-brand',
    name: 'Demo Casino',
    vertical: 'igaming',
    affiliates: ['AFF-1', 'AFF-2', 'AFF-3'],
    landing_page: 'https://casino.example/welcome?lang=en',
  },
]

/** The definitions of the usual events of a brand. */
const EVENTS = {
  Deposit: { granularity: 'event' },
  Withdrawal: { granularity: 'event', outflow: true },
  Bet: { granularity: 'event' },
  GGR: { granularity: 'day' },
  NGR: { granularity: 'day' },
  DailyStats: {
    granularity: 'day',
    kpis: ['GGR', 'NGR', 'Bets', 'Games'],
    product: {
      field: 'Product',
      map: { Casino: 'casino', Sports: 'sports', Poker: 'poker', Bingo: 'bingo' },
    },
  },
}

/** Writes `.demo.json`, with the accounts of the last run or new ones, and returns the accounts. */
export async function writeDemo(
  base_url: string,
  { ADMIN_KEY: admin_key = '', TRACKING_KEYS = '' }: NodeJS.Dict<string>,
  member_keys: MemberKeys,
): Promise<DemoAccount[]> {
  const call = adminCalls(base_url, admin_key)
  const accounts = await findOrCreateAccounts(call)
  const storeRates = () => call('PUT', 'fx-rates?correct=true', readFileSync(RATES, 'utf8'))
  await Promise.all([
    createCommissions(base_url, call, accounts, storeRates),
    findOrCreateYear(base_url, call, { ...member_keys, TRACKING_KEYS }),
  ])
  const demo = { base_url, admin_key, member_keys, accounts }
  // Other programs wait for the file, so it appears with its whole content.
  writeFileSync(`${DEMO}.new`, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${DEMO}.new`, DEMO)
  return accounts
}

/** Creates the account with a year of records, unless the last of its rules has a version of the demo: it comes last. */
async function findOrCreateYear(base: string, call: Call, keys: DemoKeys): Promise<void> {
  const path = `accounts/${YEAR.account}/fraud-rules/commission-over-revenue`
  const { versions = [] } = await call<{ versions?: object[] }>('GET', path)
  if (versions.length > 1) return
  // It loads much of the service, which would double the time of every other start.
  const { createYear } = await import('./year.ts')
  await createYear(base, call, Math.floor(Date.now() / DAY_MS), keys)
}

async function findOrCreateAccounts(call: Call): Promise<DemoAccount[]> {
  if (existsSync(ACCOUNTS)) {
    const known: DemoAccount[] = JSON.parse(readFileSync(ACCOUNTS, 'utf8'))
    const found = known.map(({ account }) =>
      call<{ account?: string }>('GET', `accounts/${account}`),
    )
    if ((await Promise.all(found)).every(({ account }) => account)) return known
  }
  const accounts = await Promise.all(PLANS.map((plan) => createAccount(call, plan)))
  mkdirSync(dirname(ACCOUNTS), { recursive: true })
  writeFileSync(ACCOUNTS, JSON.stringify(accounts), { mode: 0o600 })
  return accounts
}

/** Creates an account with affiliates, a link and credentials. */
export async function createAccount(
  call: Call,
  { affiliates, landing_page, sign_up, ...plan }: Plan,
): Promise<DemoAccount> {
  const at = `accounts/${plan.account}`
  await call('POST', 'accounts', { ...plan, mode: 'test', ...(sign_up && { sign_up }) })
  await call(
    'PUT',
    `${at}/affiliates`,
    affiliates.map((affiliate_id) => ({ affiliate_id, ...profileOf(affiliate_id) })),
  )
  const link = { affiliate_id: affiliates[0], landing_page }
  const { link_id } = await call<{ link_id: string }>('POST', `${at}/links`, link)
  if (plan.vertical !== 'igaming') {
    const issued = await call<{ client_id: string; client_secret: string }>('POST', `${at}/clients`)
    return { ...plan, client_id: issued.client_id, client_secret: issued.client_secret, link_id }
  }
  for (const [name, definition] of Object.entries(EVENTS)) {
    await call('PUT', `${at}/events/${name}`, definition)
  }
  const { brand_token } = await call<{ brand_token: string }>('POST', `${at}/brand-tokens`)
  return { ...plan, brand_token, link_id }
}
