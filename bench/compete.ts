import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expectOk, newRequestSender, type RequestSender } from '../chaos/ask.ts'
import { asFirm, newFirm, newToken } from '../chaos/parties.ts'
import { migrate, newSecrets, type Service, serve } from '../chaos/service.ts'
import {
  bundle,
  children,
  cpuOf,
  execute,
  MIGRATIONS,
  type Running,
  start,
} from '../chaos/workerd.ts'
import { bundleService } from '../scripts/bundle.ts'
import { type Chapter, format, formatRatios, median } from './print.ts'
import { newBulks, PER_BULK, RECORDS } from './records.ts'

/** How much is measured. */
export interface Scale {
  readonly rounds: number
  /** Requests of each phase and round, of bulks and of single records. */
  readonly bulks: number
  readonly singles: number
  /** Transactions and rows of activity of the month that a statement run computes. */
  readonly facts: number
  /** The same of a large month. */
  readonly mostFacts: number
  /** The same of each month of an account that has many. */
  readonly factsOfMonth: number
  /** Records of each kind whose rows are counted. */
  readonly records: number
}

/** The phases: records are new, change their status, or are equal to the stored ones. */
const PHASES = ['insert', 'update', 'replay'] as const

/** A design that stores bulks and is measured. */
interface Contestant {
  readonly name: string
  /** Returns what stores a body for an account that has no records yet. */
  open(account: string): Promise<(body: string) => Promise<unknown>>
  /** Counts the records of an account that were approved by exactly one change. */
  stored(account: string): Promise<number>
  /** The processes that do the work. */
  readonly pids: readonly number[]
  readonly end: () => Promise<void>
}

/** The customers of all transactions of an account. */
export const CUSTOMERS = 300

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Measures bulks of 1000 records. */
export const bulk = (folder: string, scale: Scale): Promise<Chapter> =>
  compete(folder, scale.bulks, PER_BULK, scale)

/** Measures bulks of 100 records. */
export const hundred = (folder: string, scale: Scale): Promise<Chapter> =>
  compete(folder, scale.bulks, 100, scale)

/** Measures requests with one record. */
export const single = (folder: string, scale: Scale): Promise<Chapter> =>
  compete(folder, scale.singles, 1, scale)

/** The query that tells whether the work was done: a replay writes no row. */
const COUNT = `select count(*) as n from transactions
  where account = ? and status = 'approved' and revision = 2 and held = 0`

const storedIn = ({ database }: Running) => ({
  stored: async (account: string) => Number(await database.prepare(COUNT).bind(account).first('n')),
})

/** Creates a firm with its customers, and returns what sends its requests. */
export async function newSender(service: Service, account: string): Promise<RequestSender> {
  const firm = await newFirm(service, account, 'forex', 'reject')
  const ask = asFirm(service, firm, await newToken(service, firm))
  for (const body of newBulks('customers', CUSTOMERS, { customers: CUSTOMERS })) {
    await expectOk(ask('POST', 'customers', { body }))
  }
  return ask
}

/** The service with authentication, checks, references and log. */
async function tributary(state: string): Promise<Contestant> {
  const script = await bundleService()
  const service = await serve({ script, state, secrets: await newSecrets() })
  await migrate(service)
  return {
    ...{ name: 'Tributary', pids: service.pids, end: service.end, ...storedIn(service) },
    async open(account) {
      const ask = await newSender(service, account)
      const headers = { ...JSON_TYPE, Prefer: 'return=minimal' }
      return (body) => expectOk(ask('POST', 'transactions', { body, headers }))
    },
  }
}

const storeAt = (url: URL) => async (account: string) => (body: string) =>
  expectOk(newRequestSender({ url })('POST', `?account=${account}`, { body, headers: JSON_TYPE }))

/** A Worker of a peer. */
async function peer(name: string, file: string, state: string): Promise<Contestant> {
  const running = await start(await bundle(file), state)
  await execute(running, MIGRATIONS)
  const { pids, end, url } = running
  return { name, pids, end, ...storedIn(running), open: storeAt(url) }
}

/** Fastify and Ajv with PostgreSQL, each in its own process; nothing if PostgreSQL is not installed. */
async function fastify(): Promise<Contestant[]> {
  if (spawnSync('pg_virtualenv', ['-h']).error) return []
  const command = [process.execPath, 'bench/peers/fastify.ts']
  const server = spawn('pg_virtualenv', ['-t', '-o', 'fsync=on', ...command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  for await (const line of createInterface(server.stdout)) {
    if (!line.startsWith('{')) continue
    const { address, pid, postgres } = JSON.parse(line)
    const url = new URL(address)
    const stored = async (account: string) =>
      (await expectOk(newRequestSender({ url })('GET', `?account=${account}`))).n
    const end = async () => {
      server.stdin.end()
      await once(server, 'exit')
    }
    const pids = [pid, postgres, ...children(postgres)]
    return [{ name: 'Fastify + PostgreSQL', pids, stored, end, open: storeAt(url) }]
  }
  throw new Error('bench/peers/fastify.ts did not start.')
}

/** Lets the service and its peers store the same bulks in turn, so that other load affects them alike. */
async function compete(
  folder: string,
  requests: number,
  size: number,
  { rounds }: Scale,
): Promise<Chapter> {
  const contestants = [
    await tributary(join(folder, 'ours')),
    await peer('bare Worker', 'bench/peers/bare.ts', join(folder, 'bare')),
    await peer('bound', 'bench/peers/bound.ts', join(folder, 'bound')),
    ...(await fastify()),
  ]
  const results = contestants.map((contestant) => ({
    contestant,
    ...{ insert: timing(), update: timing(), replay: timing() },
  }))
  try {
    // The first round is not counted.
    for (let round = 0; round <= rounds; round++) {
      const account = `round-${round}`
      const turns = await Promise.all(
        results.map(async (result) => ({ result, store: await result.contestant.open(account) })),
      )
      const first = round % turns.length
      const order = [...turns.slice(first), ...turns.slice(0, first)]
      for (const phase of PHASES) {
        const draw = { customers: CUSTOMERS, isChanged: phase !== 'insert' }
        for (let first = 0; first < requests * size; first += size) {
          const records = Array.from({ length: size }, (_, i) =>
            RECORDS.transactions(first + i, draw),
          )
          const body = JSON.stringify(records)
          for (const { result, store } of order) {
            const { pids } = result.contestant
            const [started, cpuBefore] = [performance.now(), cpuOf(pids)]
            await store(body)
            if (round === 0) continue
            result[phase].times.push(performance.now() - started)
            result[phase].cpuMs += cpuOf(pids) - cpuBefore
          }
        }
      }
      for (const { name, stored } of contestants) {
        const n = await stored(account)
        if (n !== requests * size) throw new Error(`${name} has stored ${n} records.`)
      }
    }
  } finally {
    for (const { end } of contestants) await end()
  }
  return chapterOf(results, size, rounds * requests)
}

/** How fast the service is to be beside peers, by the records of a request. */
const AIMS: Readonly<
  Record<string, Readonly<Record<number, Partial<Record<(typeof PHASES)[number], number>>>>>
> = {
  'bare Worker': { 1000: { insert: 0.55, update: 0.69, replay: 0.69 }, 1: { insert: 0.58 } },
  'Fastify + PostgreSQL': { 1000: { insert: 1, update: 1, replay: 1 } },
}

const timing = (): { times: number[]; cpuMs: number } => ({ times: [], cpuMs: 0 })

type Result = Record<(typeof PHASES)[number], ReturnType<typeof timing>> & {
  readonly contestant: Contestant
}

function chapterOf(results: readonly Result[], size: number, requests: number): Chapter {
  const [ours, ...peers] = results as [Result, ...Result[]]
  type Cell = (timing: Result['insert'], ours: Result['insert']) => string
  const table = (title: string, rows: readonly Result[], cell: Cell) => [
    [title, ...PHASES],
    ...rows.map((one) => [
      one.contestant.name,
      ...PHASES.map((phase) => cell(one[phase], ours[phase])),
    ]),
  ]
  return {
    title: size === 1 ? 'Single records' : `Bulks of ${size} records`,
    notes: `Speed of Tributary ÷ speed of a peer, request by request: the median of ${requests}, and the middle half. Above 1, Tributary is faster. All take turns, and each round has an account without records. Tributary authenticates, validates, checks references and logs; the bare Worker checks nothing, Fastify validates. The bound is what the platform allows: our body and validation, and one upsert in one trip.`,
    tables: [
      table('Tributary ÷ peer', peers, ({ times }, own) =>
        formatRatios(own.times.map((ms, i) => times[i]! / ms)),
      ),
      table('records/s, on this machine', results, ({ times }) =>
        format((size * 1000) / median(times)),
      ),
      table('CPU-ms a request', results, ({ cpuMs }) => format(cpuMs / requests, 1)),
    ],
    figures: peers.flatMap((one) =>
      Object.entries(AIMS[one.contestant.name]?.[size] ?? {}).map(([phase, aim]) => {
        const of = phase as (typeof PHASES)[number]
        const faster = ours[of].times.map((ms, i) => one[of].times[i]! / ms)
        const what = size === 1 ? 'single record' : 'bulk'
        return {
          ...{ name: `speed of a ${what} ÷ ${one.contestant.name}, ${phase}`, aim: String(aim) },
          value: format(median(faster), 2),
        }
      }),
    ),
  }
}
