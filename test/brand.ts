import { env } from 'cloudflare:workers'
import { grantOf } from '../src/platform/auth/grant.ts'
import { digest, newSecret } from '../src/platform/auth/secret.ts'
import { brandTokenObjectName } from '../src/platform/auth/token-gate.ts'
import type { Account } from '../src/platform/db/schema.ts'
import { insertBrandToken } from '../src/platform/directory/credentials.ts'
import { askAdmin, json, requestsBelow } from './partner.ts'

/** The settings of a brand. */
interface Settings {
  account: string
  binding: 'DB' | 'DB_2'
  time_zone: string
  unknown_customer: 'reject' | 'hold'
  /** Event definitions by name. */
  events: Record<string, object>
}

/** Creates a brand as the integrations team does, and returns its token and its requests. */
export async function brand(settings: Partial<Settings> = {}) {
  const { account = 'acme-casino', events = {}, ...own } = settings
  const created = await askAdmin('accounts', 'POST', {
    account,
    name: `The ${account}`,
    vertical: 'igaming',
    mode: 'test',
    ...own,
  })
  if (created.status !== 201) throw new Error(await created.text())
  await putDefinitions(account, events)
  const issued = await json(askAdmin(`accounts/${account}/brand-tokens`, 'POST', {}))
  return { account, brand_token: issued.brand_token as string, ...caller(issued.brand_token) }
}

async function putDefinitions(account: string, events: Record<string, object>) {
  for (const [name, definition] of Object.entries(events)) {
    const put = await askAdmin(`accounts/${account}/events/${name}`, 'PUT', definition)
    if (put.status !== 201) throw new Error(await put.text())
  }
}

/** Creates a brand in the database directly, without the requests of the integrations team. */
export async function storedBrand(settings: Partial<Settings> = {}) {
  const { account = 'acme-casino', binding = 'DB', time_zone = 'UTC', events = {} } = settings
  const { unknown_customer = 'hold' } = settings
  const brand_token = newSecret('tbt', 'test')
  const tokenDigest = await digest(brand_token)
  const created_at = '2026-01-01T00:00:00.000Z'
  const [stored] = await env.DB.batch<Account>([
    env.DB.prepare(
      `insert into accounts (id, name, vertical, mode, binding, time_zone, unknown_customer, created_at)
       values (?, ?, 'igaming', 'test', ?, ?, ?, ?) returning *`,
    ).bind(account, `The ${account}`, binding, time_zone, unknown_customer, created_at),
    insertBrandToken(env.DB, {
      digest: tokenDigest,
      id: crypto.randomUUID(),
      account,
      created_at,
    }),
  ])
  const object = env.TOKEN_GATE.getByName(brandTokenObjectName(tokenDigest))
  await object.open(grantOf(stored!.results[0]!, null, 'read write'), null)
  await putDefinitions(account, events)
  return { account, brand_token, ...caller(brand_token) }
}

/** Returns the requests of a holder of a Brand Token. */
export const caller = (brand_token: string) =>
  requestsBelow('/tracking/events', { 'x-api-key': brand_token })

/** A customer of a brand. */
export const eve = { customerId: 'p-1', regtime: '2026-10-01 08:30', country: 'DE' }

/** A deposit of this customer. */
export const deposited = {
  eventname: 'Deposit',
  customerid: 'p-1',
  eventid: 'e-1',
  createtime: '2026-10-02 09:30',
  Value: '100.00',
  Currency: 'EUR',
}

/** A day of this customer. */
export const day = {
  eventname: 'DailyStats',
  customerid: 'p-1',
  createtime: '2026-10-02',
  GGR: '10.50',
  NGR: '9.00',
  Bets: '100.00',
  Games: 3,
  Currency: 'EUR',
}

/** The event definition of these days. */
export const dailyStats = {
  granularity: 'day',
  eventid: 'used',
  kpis: ['GGR', 'NGR', 'Bets', 'Games'],
  product: { field: 'Product', map: { Casino: 'casino', Poker: 'poker' } },
}
