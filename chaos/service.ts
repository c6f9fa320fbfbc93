import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import type { CRON_SCHEDULES } from '../src/jobs/crons.ts'
import { madeOnce } from '../test-node/bundle.ts'
import { expectBody, newRequestSender, type RequestSender } from './ask.ts'
import { bundle, execute, MIGRATIONS, type Running, start, WORKER } from './workerd.ts'

/** The databases: the first one has the directory of accounts. */
export const DATABASES = ['DB', 'DB_2', 'DB_3', 'DB_4']

/** The limit of V8's heap per isolate, in MiB. Beyond it the process ends. */
const HEAP = 100

/** Makes new secrets. Tokens outlive a restart only if the secrets stay the same. */
export const newSecrets = async () => ({
  SIGNING_KEYS: await newKeySet(),
  TRACKING_KEYS: newTrackingKeys(),
  ADMIN_KEY: randomBytes(32).toString('base64url'),
})

/** The secrets of a service. */
export type Secrets = Awaited<ReturnType<typeof newSecrets>>

/** A temporary folder with the script of the service, which `end` removes. */
export async function newHome() {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-chaos-'))
  const end = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', end)
  return { folder, end, script: await madeOnce('chaos.js', () => bundle('chaos/worker.ts')) }
}

/** What a service is started with. Its state is empty, or left by a service that has ended. */
export interface Serving {
  readonly script: string
  readonly state: string
  readonly secrets: Secrets
  /** Limits V8's heap. */
  readonly isLimited?: boolean
  /** Receives each line of the log. */
  readonly log?: (line: string) => void
}

/** The service in its own workerd, with all bindings of `wrangler.toml`. */
export interface Service extends Running {
  /** Sends requests as the integrations team. */
  readonly admin: RequestSender
  /** Kills workerd without warning, as a power cut would. */
  readonly kill: () => Promise<void>
}

const OBJECTS = {
  TOKEN_GATE: 'TokenGate',
  CLIENT_GATE: 'ClientGate',
  ERASURE_JOURNAL: 'ErasureJournal',
}
const WORKFLOWS = { STATEMENT_RUNS: 'StatementRun' }
const QUEUES = { CLICKS: 'clicks', WEBHOOKS: 'webhooks', ACCOUNT_JOBS: 'accounts' }

/** Returns an object with the same names and other values. */
const mapped = <R>(from: Record<string, string>, make: (value: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, make(value)]))

/** Starts the service. */
export async function serve({ script, state, secrets, isLimited, log }: Serving): Promise<Service> {
  const queue = { type: 'queue', maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3 } as const
  const ours = (exportName: string) => ({ exportName, worker: WORKER })
  // The origin is fixed: the port changes at each restart, and tokens name their issuer.
  const texts = { BASE_URL: 'http://127.0.0.1', ...secrets }
  // Miniflare passes these flags to V8.
  if (isLimited) process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP}`
  const running = await start(script, state, {
    ...(log && { log }),
    triggers: [
      { ...queue, name: QUEUES.CLICKS, maxBatchSize: 100, maxBatchTimeout: 5, maxRetries: 10 },
      { ...queue, name: QUEUES.WEBHOOKS, maxBatchSize: 5 },
      { ...queue, name: QUEUES.ACCOUNT_JOBS },
    ],
    env: {
      ...mapped(texts, (value) => ({ type: 'text' as const, value })),
      ...mapped(OBJECTS, (name) => ({ type: 'durable-object' as const, ...ours(name) })),
      ...mapped(WORKFLOWS, (name) => ({ type: 'workflow' as const, name, ...ours(name) })),
      ...mapped(QUEUES, (name) => ({ type: 'queue' as const, name })),
      ...Object.fromEntries(DATABASES.map((id) => [id, { type: 'd1' as const, id }])),
      EXPORTS: { type: 'r2', name: 'exports' },
      ASSETS: { type: 'assets' },
    },
    assets: { directory: 'dist/site', hasUserWorker: true, runWorkerFirst: true },
    exports: Object.fromEntries(
      Object.values(OBJECTS).map((name) => [name, { type: 'durable-object', storage: 'sqlite' }]),
    ),
  }).finally(() => delete process.env.MINIFLARE_WORKERD_V8_FLAGS)
  const team = { Authorization: `Bearer ${secrets.ADMIN_KEY}` }
  return {
    ...running,
    admin: newRequestSender(running, team, '/admin/v1/'),
    async kill() {
      // Miniflare restarts workerd unless it is disposed of first.
      const ended = running.end()
      for (const pid of running.pids) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

/** Creates the tables in the empty databases. */
export async function migrate({ miniflare }: Service, statements = MIGRATIONS): Promise<void> {
  for (const name of DATABASES) {
    await execute({ database: await miniflare.getD1Database(name) }, statements)
  }
}

/** A place where a service runs. */
type At = { readonly url: URL }

const control = (service: At, path: string, body: unknown = null) =>
  expectBody(200, newRequestSender(service)('POST', `_chaos/${path}`, { body }))

/** Runs a job of the cron as it would run at a time (milliseconds). */
export const runCron = (service: At, job: keyof typeof CRON_SCHEDULES, time = Date.now()) =>
  control(service, 'cron', { job, time })

/** Lets every call to these databases fail from now on, and to no other. */
export const failDatabases = (service: At, names: readonly string[]) =>
  control(service, 'failing', names)

/** Makes the clock go on from a time in milliseconds. */
export const setClock = (service: At, time: number) => control(service, 'clock', time)

/** Returns how many rows of databases were read and written since the last call, as D1 bills them, and by how many calls. */
export const takeRows = (service: At): Promise<{ read: number; written: number; calls: number }> =>
  control(service, 'rows')
