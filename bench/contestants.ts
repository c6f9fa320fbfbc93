import { execFileSync, fork, spawn } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgresClient, { type Sql } from 'postgres'
import { newSecret } from '../src/auth/secret.ts'
import { buildPeer } from './build.ts'
import { children, cpuOf } from './cpu.ts'
import { expectOk } from './http.ts'
import { ACCOUNT } from './peers/upsert.ts'
import type { Bulk } from './records.ts'
import { clientStatements, countStatement, MIGRATIONS, resetStatements } from './schema.ts'
import { newToken, startService } from './service.ts'
import { execute, type Running, start } from './worker.ts'

/** The phases: records are new, change their status, or are equal to the stored ones. */
export const PHASES = ['insert', 'update', 'replay'] as const

/** One phase. */
export type Phase = (typeof PHASES)[number]

/** A design that stores bulks and is measured. */
export interface Contestant {
  readonly name: string
  /** Empties its store, except for the customers. */
  renew(): Promise<void>
  store(bulk: Bulk, phase: Phase): Promise<void>
  /** Counts the rows that reached this status by exactly one change. */
  stored(status: string): Promise<number>
  cpu(): number | null
  end(): Promise<void>
}

const JSON_TYPE = { 'Content-Type': 'application/json' }
const OUTCOMES = { insert: 'created', update: 'updated', replay: 'unchanged' } as const

/** Starts the service, then its peers. Each has its own folder. Without PostgreSQL its peer is left out. */
export async function startContestants(folder: string): Promise<Contestant[]> {
  const places = ['ours', 'bare', 'naive'].map((name) => join(folder, name))
  for (const place of places) mkdirSync(place, { recursive: true })
  const [ours = '', bare = '', naive = ''] = places
  const postgres = await fastifyPostgres()
  return [
    serviceOf(await startService(ours)),
    peerOf('bare Worker', await start(await buildPeer('bench/peers/bare.ts'), bare)),
    peerOf('Hono + Zod + Drizzle', await start(await buildPeer('bench/peers/naive.ts'), naive)),
    ...(postgres ? [postgres] : []),
  ]
}

/** The service with authentication, checks, references and log. */
function serviceOf(running: Running): Contestant {
  const url = new URL('/api/v1/forex/transactions', running.url)
  let authorization = { Authorization: '' }
  return {
    ...commonOf(running),
    name: 'Tributary',
    async renew() {
      // A client has 60 tokens an hour, so each round has its own client.
      const client = { client_id: randomUUID(), client_secret: newSecret('tcs', 'test') }
      const digest = hash('sha256', client.client_secret)
      await execute(running, [
        ...resetStatements(ACCOUNT),
        ...clientStatements(ACCOUNT, client.client_id, digest),
      ])
      authorization = await newToken(running, client)
    },
    async store({ body, records }, phase) {
      const headers = { ...authorization, ...JSON_TYPE, Prefer: 'return=minimal' }
      const { summary } = JSON.parse(await expectOk(url, { body, headers }))
      if (summary[OUTCOMES[phase]] !== records.length) throw new Error(JSON.stringify(summary))
    },
  }
}

/** A Worker without authentication that stores bulks at its root. */
const peerOf = (name: string, running: Running): Contestant => ({
  ...commonOf(running),
  name,
  renew: () => execute(running, resetStatements(ACCOUNT)),
  store: storeAt(running.url),
})

const commonOf = (running: Running) => ({
  cpu: running.cpu,
  stored: async (status: string) =>
    Number(await running.database.prepare(countStatement(ACCOUNT, status)).first('n')),
  end: running.end,
})

const storeAt =
  (url: URL) =>
  async ({ body }: Bulk): Promise<void> => {
    await expectOk(url, { body, headers: JSON_TYPE })
  }

/** Fastify and Ajv with PostgreSQL, each in its own process; null if PostgreSQL is not installed. */
async function fastifyPostgres(): Promise<Contestant | null> {
  const postgres = await startPostgres()
  if (!postgres) return null
  const { client, pid } = postgres
  const server = fork('bench/peers/fastify.ts', [postgres.host])
  const failed = once(server, 'exit').then(() => {
    throw new Error('bench/peers/fastify.ts did not start.')
  })
  const [address] = await Promise.race([once(server, 'message'), failed])
  failed.catch(() => {})
  return {
    name: 'Fastify + PostgreSQL',
    async renew() {
      await client.unsafe('truncate transactions')
    },
    store: storeAt(new URL(address)),
    stored: async (status) => Number((await client.unsafe(countStatement(ACCOUNT, status)))[0]!.n),
    cpu: () => cpuOf([server.pid!, pid, ...children(pid)]),
    async end() {
      const ended = once(server, 'exit')
      server.disconnect()
      await ended
      await postgres.end()
    },
  }
}

/** The same table for PostgreSQL, with the same columns, key and indexes. */
const TABLE = MIGRATIONS.filter((sql) =>
  /^create (table|(unique )?index) transactions(_|\b)/i.test(sql),
)
  .map((sql) =>
    sql
      .replace(/\) strict, without rowid$/i, ')')
      .replace(/\breal\b/gi, 'double precision')
      .replace(/\binteger\b/gi, 'bigint'),
  )
  .join(';')

/** Starts PostgreSQL with default settings in a new folder, behind a socket there. */
async function startPostgres() {
  const bin = globSync('/usr/lib/postgresql/*/bin').sort().at(-1)
  if (!bin) return null
  const host = mkdtempSync(join(tmpdir(), 'tributary-postgres-'))
  // PostgreSQL refuses to run as root. `setpriv` execs it, so the pid is that of PostgreSQL.
  const idOf = (what: string) => Number(execFileSync('id', [what, 'postgres']))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(host, idOf('-u'), idOf('-g'))
  const as = ['--reuid=postgres', '--regid=postgres', '--clear-groups']
  const [command, drop] = isRoot ? ['setpriv', as] : ['env', []]
  const setUp = ['-D', join(host, 'data'), '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  execFileSync(command, [...drop, join(bin, 'initdb'), ...setUp, '--no-sync'], { cwd: host })
  const where = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${host}`]
  const server = spawn(
    command,
    [...drop, join(bin, 'postgres'), '-D', join(host, 'data'), ...where],
    { cwd: host, stdio: 'ignore' },
  )
  const kill = () => {
    server.kill('SIGKILL')
    rmSync(host, { recursive: true, force: true })
  }
  process.once('exit', kill)
  const client = await connected(host)
  await client.unsafe(TABLE)
  return {
    host,
    client,
    pid: server.pid!,
    async end() {
      await client.end()
      const ended = once(server, 'exit')
      server.kill('SIGINT')
      await ended
      process.off('exit', kill)
      rmSync(host, { recursive: true, force: true })
    },
  }
}

async function connected(host: string): Promise<Sql> {
  const client = postgresClient({ host, user: 'bench', database: 'postgres', max: 1 })
  for (let tries = 0; ; tries++) {
    try {
      await client`select 1`
      return client
    } catch (error) {
      if (tries === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
