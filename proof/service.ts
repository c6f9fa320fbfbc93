import { randomBytes } from 'node:crypto'
import { MIGRATIONS } from '../bench/schema.ts'
import { execute, type Running, start } from '../bench/worker.ts'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import { type Ask, asking } from './ask.ts'

/** The secrets of a service; tokens outlive a restart only with the same ones. */
export interface Secrets {
  SIGNING_KEYS: string
  TRACKING_KEYS: string
  ADMIN_KEY: string
}

/** Fresh secrets. */
export const newSecrets = async (): Promise<Secrets> => ({
  SIGNING_KEYS: await newKeySet(),
  TRACKING_KEYS: newTrackingKeys(),
  ADMIN_KEY: randomBytes(32).toString('base64url'),
})

/** The service in a workerd of its own, with all that `wrangler.toml` binds to it. */
export interface Service extends Running {
  /** Asks as the integrations team. */
  admin: Ask
  /** Ends workerd at once, as a power cut would; nothing is said to it before. */
  kill: () => Promise<void>
}

/** What wrangler.toml calls it differs by environment; here there is one. */
const QUEUE = 'clicks'
const OBJECTS = {
  TOKEN_GATE: 'TokenGate',
  CLIENT_GATE: 'ClientGate',
  ERASURE_JOURNAL: 'ErasureJournal',
}

/** The name of the Worker, by which its objects and its isolate are found. */
export const WORKER = 'bench'

/** Starts the service on a folder of state: an empty one, or that of a service that has ended. */
export async function serve(script: string, state: string, secrets: Secrets): Promise<Service> {
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
    ],
    env: {
      // A fixed one: the port is another after each restart, and tokens name their issuer.
      BASE_URL: text('http://127.0.0.1'),
      ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, text(value)])),
      ...Object.fromEntries(
        Object.entries(OBJECTS).map(([name, exportName]) => [
          name,
          { type: 'durable-object' as const, exportName, worker: WORKER },
        ]),
      ),
      CLICKS: { type: 'queue', name: QUEUE },
      ASSETS: { type: 'assets' },
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
    admin: asking(running.url, { Authorization: `Bearer ${secrets.ADMIN_KEY}` }, '/admin/v1/'),
    async kill() {
      // Told first that the end is meant, Miniflare does not start it again.
      const ended = running.end()
      for (const pid of running.pids) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}

/**
 * What V8 may take for the heap of any isolate, in MiB; beyond it the process ends. What the platform
 * grants is for heap and buffers together.
 */
export const HEAP = 100

/** Starts a service whose isolates have no more heap than that: Miniflare hands these flags to V8. */
export async function serveLimited(script: string, state: string): Promise<Service> {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${HEAP}`
  try {
    return await serve(script, state, await newSecrets())
  } finally {
    delete process.env.MINIFLARE_WORKERD_V8_FLAGS
  }
}

/** Makes the tables of an empty database. */
export const migrate = (service: Service) => execute(service, MIGRATIONS)
