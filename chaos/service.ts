import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPeer } from '../bench/build.ts'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute, mapped, OBJECTS, type Running, start, WORKFLOWS } from '../bench/worker.ts'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import type { CRON_SCHEDULES } from '../src/admin/crons.ts'
import { newRequestSender, type RequestSender } from './ask.ts'

/** The databases: the first one has the directory of accounts. */
export const DATABASES = ['DB', 'DB_2', 'DB_3', 'DB_4']

/** The name of the Worker, which identifies its objects. */
export const WORKER = 'bench'

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
  return { folder, end, script: await buildPeer('chaos/worker.ts') }
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

/** The service in its own workerd, with all bindings of `wrangler.toml` but the documents. */
export interface Service extends Running {
  /** Sends requests as the integrations team. */
  readonly admin: RequestSender
  /** Kills workerd without warning, as a power cut would. */
  readonly kill: () => Promise<void>
}

const QUEUES = { CLICKS: 'clicks', WEBHOOKS: 'webhooks', ACCOUNT_JOBS: 'accounts' }

/** Starts the service. */
export async function serve({ script, state, secrets, isLimited, log }: Serving): Promise<Service> {
  const queue = { type: 'queue', maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3 } as const
  const object = { type: 'durable-object', storage: 'sqlite' } as const
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
      ...mapped(
        // The origin is fixed: the port changes at each restart, and tokens name their issuer.
        { BASE_URL: 'http://127.0.0.1', ...secrets },
        (value) => ({ type: 'text' as const, value }),
      ),
      ...mapped(OBJECTS, (exportName) => ({
        ...{ type: 'durable-object' as const, exportName, worker: WORKER },
      })),
      ...mapped(QUEUES, (name) => ({ type: 'queue' as const, name })),
      ...mapped(WORKFLOWS, (exportName) => ({
        ...{ type: 'workflow' as const, name: exportName, worker: WORKER, exportName },
      })),
      ARCHIVE: { type: 'r2', name: 'archive' },
      ...Object.fromEntries(DATABASES.map((id) => [id, { type: 'd1' as const, id }])),
    },
    exports: Object.fromEntries(Object.values(OBJECTS).map((name) => [name, object])),
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
export async function migrate({ miniflare }: Service): Promise<void> {
  for (const name of DATABASES) {
    await execute({ database: await miniflare.getD1Database(name) }, MIGRATIONS)
  }
}

const control = async (service: { readonly url: URL }, path: string, body: unknown) => {
  const { status } = await newRequestSender(service)('POST', `_chaos/${path}`, { body })
  if (status !== 200) throw new Error(`${path} answered ${status}.`)
}

/** Runs a job of the cron as it would run at a time (milliseconds). */
export const runCron = (
  service: { readonly url: URL },
  job: keyof typeof CRON_SCHEDULES,
  time = Date.now(),
) => control(service, 'cron', { job, time })

/** Lets every call to these databases fail from now on, and to no other. */
export const failDatabases = (service: { readonly url: URL }, names: readonly string[]) =>
  control(service, 'failing', names)
