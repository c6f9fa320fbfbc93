import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expectOk } from './http.ts'
import { newPartner, type Partner, tokenFor } from './partner.ts'
import { storeRaw } from './peers/raw.ts'
import { ACCOUNT } from './peers/upsert.ts'
import type { Bulk } from './records.ts'
import { clientStatements, countStatement, resetStatements } from './schema.ts'
import { execute, type Running } from './worker.ts'

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
  /** Runs a statement on its store. */
  run(sql: string): Promise<unknown>
  cpu(): number | null
}

/** The service, and what other requests to it need. */
export interface Ours extends Contestant {
  running: Running
  /** Returns the authorization header of the current token. */
  authorization: () => { Authorization: string }
  /** Requests another token. Each allows 1000 requests a minute. */
  renewToken(): Promise<void>
}

/** The service with authentication, checks, references and log. */
export function ours(name: string, running: Running, prefer: Record<string, string>): Ours {
  let partner: Partner
  let token = ''
  const authorization = () => ({ Authorization: `Bearer ${token}` })
  const url = new URL('/api/v1/forex/transactions', running.url)
  const outcome = { insert: 'created', update: 'updated', replay: 'unchanged' }
  return {
    ...common(running),
    name,
    running,
    authorization,
    async renew() {
      // A client has 60 tokens an hour, so each token has its own client.
      partner = await newPartner()
      const { client_id, digest } = partner
      await execute(running, [
        ...resetStatements(ACCOUNT),
        ...clientStatements(ACCOUNT, client_id, digest),
      ])
      await this.renewToken()
    },
    async renewToken() {
      token = await tokenFor(partner, running.url)
    },
    async store({ body, records }, phase) {
      const headers = { ...authorization(), ...JSON_TYPE, ...prefer }
      const { summary } = JSON.parse(await expectOk(url, { body, headers }))
      if (summary[outcome[phase]] !== records.length) throw new Error(JSON.stringify(summary))
    },
  }
}

/** A Worker without authentication that stores bulks at its root. */
export const peer = (name: string, running: Running): Contestant => ({
  ...common(running),
  name,
  renew: () => execute(running, resetStatements(ACCOUNT)),
  store: storeAt(running.url),
})

/** The raw statement in this process. */
export function raw(folder: string): Contestant & { end: () => void } {
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(`${folder}/raw.sqlite`)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  const cpu = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return {
    ...inSqlite(database),
    name: 'raw node:sqlite',
    store: async ({ records }) => storeRaw(database, records),
    cpu,
    end: () => database.close(),
  }
}

/** A store in an SQLite file. */
export const inSqlite = (database: DatabaseSync) => ({
  renew: async () => database.exec(resetStatements(ACCOUNT).join(';')),
  run: async (sql: string) => database.exec(sql),
  stored: async (status: string) =>
    Number(database.prepare(countStatement(ACCOUNT, status)).get()?.n),
})

/** Sends bulks to a server without authentication. */
export const storeAt =
  (url: URL) =>
  async ({ body }: Bulk): Promise<void> => {
    await expectOk(url, { body, headers: JSON_TYPE })
  }

const JSON_TYPE = { 'Content-Type': 'application/json' }

const common = (running: Running) => ({
  cpu: running.cpu,
  run: (sql: string) => execute(running, [sql]),
  stored: async (status: string) =>
    Number(await running.database.prepare(countStatement(ACCOUNT, status)).first('n')),
})
