import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type Contestant, inSqlite, storeAt } from './contestants.ts'
import { children, cpuOf } from './cpu.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { startPostgres } from './postgres.ts'
import { countStatement } from './schema.ts'

/** A contestant in its own process, which must be ended. */
export type Server = Contestant & { end: () => Promise<void> }

/** Fastify, Ajv and SQLite in one process. */
export async function fastifySqlite(folder: string): Promise<Server> {
  mkdirSync(folder, { recursive: true })
  const file = `${folder}/fastify.sqlite`
  const database = new DatabaseSync(file)
  const store = inSqlite(database)
  // The server prepares its statement when it starts, so the table must exist.
  database.exec('pragma journal_mode = wal')
  await store.renew()
  const { url, pid, end } = await startServer('fastify-sqlite', file)
  return {
    ...store,
    name: 'Fastify + node:sqlite',
    store: storeAt(url),
    cpu: () => cpuOf([pid]),
    async end() {
      await end()
      database.close()
    },
  }
}

/** Fastify and Ajv with PostgreSQL in other processes; null if it is not installed. */
export async function fastifyPostgres(): Promise<Server | null> {
  const postgres = await startPostgres()
  if (!postgres) return null
  const { url, pid, end } = await startServer('fastify-postgres', postgres.host)
  return {
    name: 'Fastify + PostgreSQL',
    renew: async () => {
      await postgres.client.query('truncate transactions')
    },
    store: storeAt(url),
    run: (sql) => postgres.client.query(sql),
    stored: async (status) =>
      Number((await postgres.client.query(countStatement(ACCOUNT, status))).rows[0].n),
    cpu: () => cpuOf([pid, postgres.pid, ...children(postgres.pid)]),
    async end() {
      await end()
      await postgres.end()
    },
  }
}

/** Starts a server of `peers/` on its data. */
async function startServer(name: string, data: string) {
  const server = fork(`bench/peers/${name}.ts`, [data])
  const failed = once(server, 'exit').then(() => {
    throw new Error(`bench/peers/${name}.ts did not start.`)
  })
  const [address] = await Promise.race([once(server, 'message'), failed])
  return {
    url: new URL(address),
    pid: server.pid!,
    async end() {
      const ended = once(server, 'exit')
      server.disconnect()
      await ended
    },
  }
}
