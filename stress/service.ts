import { randomBytes } from 'node:crypto'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute, type Running, start } from '../bench/worker.ts'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import { newRequestSender, type RequestSender } from './ask.ts'

/** The secrets of a service. Tokens outlive a restart only if the secrets stay the same. */
export interface Secrets {
  SIGNING_KEYS: string
  TRACKING_KEYS: string
  ADMIN_KEY: string
}

/** Makes new secrets. */
export const newSecrets = async (): Promise<Secrets> => ({
  SIGNING_KEYS: await newKeySet(),
  TRACKING_KEYS: newTrackingKeys(),
  ADMIN_KEY: randomBytes(32).toString('base64url'),
})

/** The service in its own workerd, with all bindings of `wrangler.toml`. */
export interface Service extends Running {
  /** Sends requests as the integrations team. */
  admin: RequestSender
  /** Kills workerd without warning, as a power cut would. */
  kill: () => Promise<void>
}

/** The name in `wrangler.toml` differs by environment; here there is one environment. */
const QUEUE = 'clicks'
const WEBHOOK_QUEUE = 'webhooks'
const JOB_QUEUE = 'accounts'
const OBJECTS = {
  TOKEN_GATE: 'TokenGate',
  CLIENT_GATE: 'ClientGate',
  ERASURE_JOURNAL: 'ErasureJournal',
  BACKGROUND_JOBS: 'BackgroundJob',
}

/** The name of the Worker, which identifies its objects and its isolate. */
export const WORKER = 'bench'

/**
 * Starts the service on a folder of state, which is empty or left by a service that has ended. `databases` are
 * the bindings of databases beside `DB`.
 */
export async function serve(
  script: string,
  state: string,
  secrets: Secrets,
  databases: readonly string[] = [],
): Promise<Service> {
  const text = (value: string) => ({ type: 'text' as const, value })
  const running = await start(script, state, {
    inspected: true,
    assets: {
      directory: 'dist/site',
      hasUserWorker: true,
      runWorkerFirst: true,
      htmlHandling: 'none',
      notFoundHandling: 'none',
    },
    triggers: [
      { type: 'queue', name: QUEUE, maxBatchSize: 100, maxBatchTimeout: 5, maxRetries: 10 },
      { type: 'queue', name: WEBHOOK_QUEUE, maxBatchSize: 5, maxBatchTimeout: 0, maxRetries: 3 },
      { type: 'queue', name: JOB_QUEUE, maxBatchSize: 1, maxBatchTimeout: 0, maxRetries: 3 },
    ],
    env: {
      // Fixed: the port changes at each restart, and tokens name their issuer.
      BASE_URL: text('http://127.0.0.1'),
      ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, text(value)])),
      ...Object.fromEntries(
        Object.entries(OBJECTS).map(([name, exportName]) => [
          name,
          { type: 'durable-object' as const, exportName, worker: WORKER },
        ]),
      ),
      CLICKS: { type: 'queue', name: QUEUE },
      WEBHOOKS: { type: 'queue', name: WEBHOOK_QUEUE },
      ACCOUNT_JOBS: { type: 'queue', name: JOB_QUEUE },
      STATEMENT_RUNS: {
        type: 'workflow',
        name: 'statement-runs',
        worker: WORKER,
        exportName: 'StatementRun',
      },
      ACCOUNT_MOVES: {
        type: 'workflow',
        name: 'account-moves',
        worker: WORKER,
        exportName: 'AccountMove',
      },
      ASSETS: { type: 'assets' },
      ARCHIVE: { type: 'r2', name: 'archive' },
      ...Object.fromEntries(databases.map((id) => [id, { type: 'd1' as const, id }])),
    },
    exports: Object.fromEntries(
      Object.values(OBJECTS).map((name) => [
        name,
        { type: 'durable-object' as const, storage: 'sqlite' as const },
      ]),
    ),
  })
  return {
    ...running,
    admin: newRequestSender(
      running.url,
      { Authorization: `Bearer ${secrets.ADMIN_KEY}` },
      '/admin/v1/',
    ),
    async kill() {
      // Miniflare restarts workerd unless it is disposed of first.
      const ended = running.end()
      for (const pid of running.pids) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

/**
 * The limit of V8's heap per isolate, in MiB. Beyond it the process ends. The platform's own limit is
 * for heap and buffers together.
 */
export const HEAP = 100

/** Starts a service with limited heap: Miniflare passes these flags to V8. */
export async function serveLimited(script: string, state: string): Promise<Service> {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP}`
  try {
    return await serve(script, state, await newSecrets())
  } finally {
    delete process.env.MINIFLARE_WORKERD_V8_FLAGS
  }
}

/** Creates the tables in an empty database. */
export const migrate = (service: Service) => execute(service, MIGRATIONS)
