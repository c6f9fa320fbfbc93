import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeySet, newTrackingKeys } from '../../scripts/keys.ts'
import { buildOurs, buildPeer } from '../build.ts'
import { expectOk } from '../http.ts'
import { ACCOUNT } from '../peers/upsert.ts'
import { MIGRATIONS } from '../schema.ts'
import { execute, type Running, start } from '../worker.ts'
import { type Counts, METER_PATH } from './meter.ts'
import type { Work } from './works.ts'

/** A metered Worker, and how callers authenticate with it. */
export interface Party {
  running: Running
  /** Returns the path for a kind of work; null if it is not supported. */
  pathOf: (work: Work) => string | null
  /** Returns the headers of a new token, so that each kind of work has its own rate. */
  newHeaders: (to: Work['to']) => Promise<Record<string, string>>
}

/** Returns the counts since the last call. */
export const takeCounts = async ({ running }: Party): Promise<Counts> =>
  JSON.parse(await expectOk(new URL(METER_PATH, running.url)))

/** The key of the integrations team. */
export const ADMIN_KEY = 'admin-key-of-the-bench-'.padEnd(32, '-')
const LANDING = 'https://landing.example/start'
const MEDIA = { 'Content-Type': 'application/json' }

/** Starts the bundled service with an account of each kind. */
export async function ourParty(folder: string): Promise<Party> {
  const running = await startService(folder)
  await execute(running, MIGRATIONS)
  const admin = adminOf(running)
  const brand = await newAccount(admin, 'brand', 'igaming', 'hold')
  const partner = await newAccount(admin, 'partner', 'forex', 'reject')
  const partnerHeaders = await tokenHeaders(running, admin, partner)
  const holding = await newAccount(admin, 'holding', 'forex', 'hold')
  const holdingHeaders = await tokenHeaders(running, admin, holding)
  const newHeaders = {
    partner: partnerHeaders,
    'holding partner': holdingHeaders,
    brand: async () => {
      const { brand_token } = await admin('POST', `accounts/${brand}/brand-tokens`, {})
      return { 'x-api-key': brand_token, ...MEDIA }
    },
    visitors: async () => ({}),
  }
  const link = { affiliate_id: 'IB-07', landing_page: LANDING }
  const { link_id } = await admin('POST', `accounts/${brand}/links`, link)
  return {
    running,
    pathOf: ({ path }) => path.replace('LINK', link_id),
    newHeaders: (to) => newHeaders[to](),
  }
}

/** Builds and starts the bundled service, with a meter around it. */
async function startService(folder: string): Promise<Running> {
  const service = join(folder, 'service.js')
  writeFileSync(service, await buildOurs())
  const object = (exportName: string) =>
    ({ type: 'durable-object', exportName, worker: 'bench' }) as const
  const sqlite = { type: 'durable-object', storage: 'sqlite' } as const
  const script = await buildPeer('bench/cost/metered.ts', service)
  return start(script, `${folder}/ours`, {
    env: {
      BASE_URL: { type: 'text', value: 'http://127.0.0.1' },
      SIGNING_KEYS: { type: 'text', value: await newKeySet() },
      TRACKING_KEYS: { type: 'text', value: newTrackingKeys() },
      ADMIN_KEY: { type: 'text', value: ADMIN_KEY },
      TOKEN_GATE: object('TokenGate'),
      CLIENT_GATE: object('ClientGate'),
      BACKGROUND_JOBS: object('BackgroundJob'),
      CLICKS: { type: 'queue', name: 'clicks' },
    },
    exports: { TokenGate: sqlite, ClientGate: sqlite, BackgroundJob: sqlite },
    triggers: [{ type: 'queue', name: 'clicks', maxBatchSize: 100, maxBatchTimeout: 1 }],
  })
}

type Admin = ReturnType<typeof adminOf>

/** Returns a function that sends requests as the integrations team. */
export const adminOf = (running: Running) => async (method: string, path: string, body: object) =>
  JSON.parse(
    await expectOk(new URL(`/admin/v1/${path}`, running.url), {
      method,
      headers: { ...MEDIA, Authorization: `Bearer ${ADMIN_KEY}` },
      body: JSON.stringify(body),
    }),
  )

/** Creates an account with one affiliate, and returns its id. */
async function newAccount(admin: Admin, id: string, vertical: string, unknown_customer: string) {
  const policies = { name: id, vertical, unknown_customer, mode: 'test' }
  await admin('POST', 'accounts', { account: id, ...policies })
  await admin('PUT', `accounts/${id}/affiliates`, [{ affiliate_id: 'IB-07' }])
  return id
}

/** Creates an OAuth client. Returns a function that requests a new token and returns its headers. */
async function tokenHeaders(running: Running, admin: Admin, account: string) {
  const { client_id, client_secret } = await admin('POST', `accounts/${account}/clients`, {})
  return async () => {
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const text = await expectOk(new URL('/oauth/token', running.url), {
      body: String(new URLSearchParams(form)),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    })
    return { Authorization: `Bearer ${JSON.parse(text).access_token}`, ...MEDIA }
  }
}

const NAIVE = [
  'create table tokens (token text primary key, account text not null) strict, without rowid',
  `create table token_requests (token text, minute integer, requests integer not null,
     primary key (token, minute)) strict, without rowid`,
  `insert into accounts (id, name, vertical, mode, unknown_customer, created_at)
   values ('${ACCOUNT}', 'Bench', 'forex', 'test', 'reject', '2026-09-01T00:00:00.000Z')`,
  `insert into links (link_id, account, affiliate_id, landing_page, created_at)
   values ('LINKLINK', '${ACCOUNT}', 'IB-07', '${LANDING}', '2026-09-01')`,
]

/** Starts the naive design. */
export async function naiveParty(folder: string): Promise<Party> {
  const running = await start(await buildPeer('bench/cost/naive.ts'), `${folder}/naive`)
  await execute(running, [...MIGRATIONS, ...NAIVE])
  let tokens = 0
  return {
    running,
    pathOf: ({ naive }) => naive?.replace('LINK', 'LINKLINK') ?? null,
    async newHeaders() {
      tokens += 1
      await execute(running, [`insert into tokens values ('token-${tokens}', '${ACCOUNT}')`])
      return { Authorization: `token-${tokens}`, ...MEDIA }
    },
  }
}
