import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import { buildOurs, buildPeer } from './build.ts'
import { expectOk } from './http.ts'
import type { Counts } from './metered.ts'
import { mapped, OBJECTS, type Running, start, WORKFLOWS } from './worker.ts'

const ADMIN_KEY = 'admin-key-of-the-bench-'.padEnd(32, '-')
const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Starts the service as it is deployed, with its state in a folder. */
export const startService = async (folder: string): Promise<Running> =>
  startBound(await buildOurs(), folder)

/** Starts the service with a meter around it: see `metered.ts`. */
export async function startMetered(folder: string): Promise<Running> {
  const service = join(folder, 'service.js')
  writeFileSync(service, await buildOurs())
  return startBound(await buildPeer('bench/metered.ts', service), folder)
}

const QUEUES = { ACCOUNT_JOBS: 'accounts', CLICKS: 'clicks' }

async function startBound(script: string, folder: string): Promise<Running> {
  const texts = {
    BASE_URL: 'http://127.0.0.1',
    SIGNING_KEYS: await newKeySet(),
    TRACKING_KEYS: newTrackingKeys(),
    ADMIN_KEY,
  }
  return start(script, join(folder, 'state'), {
    env: {
      ...mapped(texts, (value) => ({ type: 'text' as const, value })),
      ...mapped(OBJECTS, (exportName) => ({
        ...{ type: 'durable-object' as const, exportName, worker: 'bench' },
      })),
      ...mapped(WORKFLOWS, (exportName) => ({
        ...{ type: 'workflow' as const, name: exportName, worker: 'bench', exportName },
      })),
      ...mapped(QUEUES, (name) => ({ type: 'queue' as const, name })),
      ARCHIVE: { type: 'r2', name: 'archive' },
    },
    exports: Object.fromEntries(
      Object.values(OBJECTS).map((name) => [name, { type: 'durable-object', storage: 'sqlite' }]),
    ),
    triggers: [
      { type: 'queue', name: 'accounts', maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3 },
      { type: 'queue', name: 'clicks', maxBatchSize: 100, maxBatchTimeout: 1 },
    ],
  })
}

/** Calls the administration as the integrations team. */
export async function callAdmin(
  running: Running,
  method: string,
  path: string,
  body?: object | string,
) {
  const isText = typeof body === 'string'
  const headers = {
    ...(isText ? { 'Content-Type': 'text/csv' } : JSON_TYPE),
    Authorization: `Bearer ${ADMIN_KEY}`,
  }
  const sent = body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }
  const url = new URL(`/admin/v1/${path}`, running.url)
  return JSON.parse(await expectOk(url, { method, headers, ...sent }))
}

/** Requests an access token. A client has 60 an hour; each allows 1000 requests a minute. */
export async function newToken(
  running: Running,
  client: { readonly client_id: string; readonly client_secret: string },
): Promise<{ Authorization: string }> {
  const { client_id, client_secret } = client
  const form = { grant_type: 'client_credentials', client_id, client_secret }
  const text = await expectOk(new URL('/oauth/token', running.url), {
    body: String(new URLSearchParams(form)),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  return { Authorization: `Bearer ${JSON.parse(text).access_token}` }
}

/** Returns what a metered service has counted since the last call. */
export const takeCounts = async (running: Running): Promise<Counts> =>
  JSON.parse(await expectOk(new URL('/_meter', running.url)))

/** Makes the clock of a metered service go on from a time in milliseconds. */
export const setClock = async (running: Running, now: number): Promise<void> => {
  await expectOk(new URL('/_clock', running.url), { method: 'PUT', body: String(now) })
}
