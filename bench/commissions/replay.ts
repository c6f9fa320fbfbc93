import type { D1Database } from '@cloudflare/workers-types'
import { aroundCalls, type Query } from '../around-calls.ts'

/**
 * The path of the replay: on `PUT` a Worker begins to remember its reads, on `POST` it repeats and forgets
 * them.
 */
export const REPLAY_PATH = '/_replay'

/** The path at which `PUT` sets the clock of the Worker, in milliseconds; null: the real one. */
export const CLOCK_PATH = '/_clock'

const realNow = Date.now.bind(Date)

/** Makes the clock of the Worker go on from a time; null: from the real one. */
export function setClock(from: number | null): void {
  const shift = from === null ? 0 : from - realNow()
  Date.now = () => realNow() + shift
}

/** The reads since the last `PUT`, each of which is one round trip. Null: reads are not remembered. */
let reads: (readonly Query[])[] | null = null

/** Wraps a database so that its reads are remembered. */
export const recording = (database: D1Database): D1Database =>
  aroundCalls(database, (list, call) => {
    if (list.every(({ sql }) => /^\s*(select|with)\b/i.test(sql))) reads?.push(list)
    return call()
  })

/**
 * Repeats the reads and parses their answers, does nothing with them, and forgets the reads. Returns
 * their number.
 */
export async function replay(database: D1Database): Promise<number> {
  const remembered = reads ?? []
  reads = null
  for (const list of remembered) {
    const answers = await database.batch<Record<string, unknown>>(
      list.map(({ sql, values }) => database.prepare(sql).bind(...values)),
    )
    for (const { results } of answers) for (const row of results) parsePacked(row)
  }
  return remembered.length
}

function parsePacked(row: Record<string, unknown>): void {
  for (const value of Object.values(row)) {
    if (typeof value === 'string' && value.startsWith('[')) JSON.parse(value)
  }
}

/** Begins to remember reads. */
export function rememberReads(): void {
  reads = []
}
