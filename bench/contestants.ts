import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { good } from './http.ts'
import { type Partner, registered, tokenFor } from './partner.ts'
import { storeRaw } from './peers/raw.ts'
import { ACCOUNT } from './peers/upsert.ts'
import type { Bulk } from './records.ts'
import { registration, renewal, stored } from './schema.ts'
import { execute, type Running } from './worker.ts'

/** What a bulk does: its records are new, or have another status, or say nothing new. */
export const PHASES = ['insert', 'update', 'replay'] as const

/** One of them. */
export type Phase = (typeof PHASES)[number]

/** Something that stores bulks, and is timed at it. */
export interface Contestant {
  readonly name: string
  /** Empties its store, but for the customers. */
  renew(): Promise<void>
  store(bulk: Bulk, phase: Phase): Promise<void>
  /** How many of its rows have this status. */
  stored(status: string): Promise<number>
  cpu(): number | null
}

/** The raw statement in this very process. */
export function raw(folder: string): Contestant & { end: () => void } {
  mkdirSync(folder, { recursive: true })
  const database = new DatabaseSync(`${folder}/raw.sqlite`)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  const cpu = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  return {
    name: 'raw node:sqlite',
    renew: async () => database.exec(renewal(ACCOUNT).join(';')),
    store: async ({ records }) => storeRaw(database, records),
    stored: async (status) => Number(database.prepare(stored(ACCOUNT, status)).get()?.n),
    cpu,
    end: () => database.close(),
  }
}

/** A Worker without authentication, at its root. */
export const peer = (name: string, running: Running): Contestant => ({
  ...common(running),
  name,
  renew: () => execute(running, renewal(ACCOUNT)),
  store: async ({ body }) => {
    await good(running.url, { body })
  },
})

/** The service: authentication, checks, references and log included. */
export function ours(running: Running): Contestant & { bearer: () => string } {
  let partner: Partner
  let token = ''
  const url = new URL('/api/v1/forex/transactions', running.url)
  const outcome = { insert: 'created', update: 'updated', replay: 'unchanged' }
  return {
    ...common(running),
    name: 'ours',
    bearer: () => token,
    async renew() {
      partner ??= await registered()
      const { client_id, digest } = partner
      await execute(running, [...renewal(ACCOUNT), ...registration(ACCOUNT, client_id, digest)])
      token = await tokenFor(partner, running.url)
    },
    async store({ body, records }, phase) {
      const headers = { Authorization: `Bearer ${token}`, ...JSON_MINIMAL }
      const { summary } = JSON.parse(await good(url, { body, headers }))
      if (summary[outcome[phase]] !== records.length) throw new Error(JSON.stringify(summary))
    },
  }
}

const JSON_MINIMAL = { 'Content-Type': 'application/json', Prefer: 'return=minimal' }

const common = ({ database, cpu }: Running) => ({
  cpu,
  stored: async (status: string) =>
    Number(await database.prepare(stored(ACCOUNT, status)).first('n')),
})
