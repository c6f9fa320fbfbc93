import { join } from 'node:path'
import { newKeySet } from '../scripts/keys.ts'
import type { Issuer } from '../src/auth/access-token.ts'
import { buildOurs, buildPeer } from './build.ts'
import { type Contestant, type Ours, ours, peer, raw } from './contestants.ts'
import type { Scale } from './scale.ts'
import { fastifyPostgres, fastifySqlite } from './servers.ts'
import { type Running, start } from './worker.ts'

/** Everything that a section can measure. Each part starts when it is first used. */
export interface World {
  scale: Scale
  /** The folder of all data, which is removed at the end. */
  folder: string
  issuer: Issuer
  /** The service, with minimal responses. */
  us: Ours
  /** Starts another instance of the service, with its own store. */
  startInstance: (name: string, options?: { inspected: boolean }) => Promise<Running>
  /** The service and its peers. */
  peers: () => Promise<Contestant[]>
  /** The service with full responses, the platform with rows by position, and SQLite alone. */
  limits: () => Promise<Contestant[]>
  end: () => Promise<void>
}

/** Builds and starts the service. Each contestant has its own data folder. */
export async function openWorld(folder: string, scale: Scale): Promise<World> {
  const ends: (() => unknown)[] = []
  const endLater = <T extends { end: () => unknown }>(it: T): T => {
    ends.push(it.end)
    return it
  }
  const issuer = { BASE_URL: 'http://127.0.0.1', SIGNING_KEYS: await newKeySet() }
  const script = await buildOurs()
  const startInstance: World['startInstance'] = async (name, options) =>
    endLater(await start(script, join(folder, name), { ...service(issuer), ...options }))
  const worker = async (name: string, file: string) =>
    peer(name, endLater(await start(await buildPeer(`bench/peers/${file}.ts`), join(folder, file))))

  const us = ours('ours', await startInstance('ours'), MINIMAL)
  return {
    scale,
    folder,
    issuer,
    us,
    startInstance,
    peers: once(async () => {
      const postgres = await fastifyPostgres()
      if (!postgres) console.log('PostgreSQL is not installed: skipped.\n')
      return [
        us,
        await worker('bare platform', 'bare'),
        await worker('Hono + Zod + Drizzle', 'naive'),
        endLater(await fastifySqlite(join(folder, 'fastify'))),
        ...(postgres ? [endLater(postgres)] : []),
      ]
    }),
    limits: once(async () => [
      ours('ours, full answer', await startInstance('full'), {}),
      await worker('bare, rows by place', 'bare-by-place'),
      endLater(raw(join(folder, 'raw'))),
    ]),
    async end() {
      for (const end of ends.reverse()) await end()
    },
  }
}

const MINIMAL = { Prefer: 'return=minimal' }

/** The environment of the service. */
const service = (issuer: Issuer) =>
  ({
    env: {
      BASE_URL: { type: 'text', value: issuer.BASE_URL },
      SIGNING_KEYS: { type: 'text', value: issuer.SIGNING_KEYS },
      ADMIN_KEY: { type: 'text', value: 'admin-key-of-the-bench-'.padEnd(32, '-') },
      TOKEN_GATE: { type: 'durable-object', exportName: 'TokenGate', worker: 'bench' },
      CLIENT_GATE: { type: 'durable-object', exportName: 'ClientGate', worker: 'bench' },
      BACKGROUND_JOBS: { type: 'durable-object', exportName: 'BackgroundJob', worker: 'bench' },
    },
    exports: {
      TokenGate: { type: 'durable-object', storage: 'sqlite' },
      ClientGate: { type: 'durable-object', storage: 'sqlite' },
      BackgroundJob: { type: 'durable-object', storage: 'sqlite' },
    },
  }) as const

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => {
    started ??= start()
    return started
  }
}
