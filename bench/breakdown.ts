import type { Context } from 'hono'
import { ulid } from 'ulid'
import { type Issuer, verify } from '../src/auth/access-token.ts'
import { deliver, type Parcel } from '../src/db/deliver.ts'
import { parseJson } from '../src/ingest/json.ts'
import { judge } from '../src/ingest/judge.ts'
import { answer } from '../src/ingest/report.ts'
import { forex } from '../src/trading/forex.ts'
import { phasesOf } from './compete.ts'
import type { Contestant, Phase } from './contestants.ts'
import { median } from './figures.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { type Cost, recorder } from './recorder.ts'
import type { Bulk } from './records.ts'
import type { Running } from './worker.ts'

const transactions = forex.resources.find(({ name }) => name === 'transactions')!

/** Where the time of one bulk goes: our own code in Node, and each statement in D1, in ms. */
export interface Breakdown {
  code: Map<string, number>
  sql: Map<string, Cost>
}

/** Stores all bulks once more, phase by phase. */
export async function breakdown(
  us: Contestant,
  running: Running,
  bulks: readonly Bulk[],
): Promise<Record<Phase, Breakdown>> {
  const phases = phasesOf(bulks)
  const once = async () => {
    await us.renew()
    return {
      insert: await takeApart(phases.insert, running),
      update: await takeApart(phases.update, running),
      replay: await takeApart(phases.replay, running),
    }
  }
  // The first times that our code runs in this process, it is still being compiled.
  for (let i = 0; i < 3; i++) await once()
  return once()
}

/** Does what `receive` does, piece by piece, with a stopwatch at each. */
async function takeApart(bulks: readonly Bulk[], running: Running): Promise<Breakdown> {
  const sql = new Map<string, Cost>()
  const recording = recorder(running, transactions.shelf, (name, { ms, rowsRead, rowsWritten }) => {
    const sum = sql.get(name) ?? { ms: 0, rowsRead: 0, rowsWritten: 0 }
    sum.ms += ms / bulks.length
    sum.rowsRead += rowsRead / bulks.length
    sum.rowsWritten += rowsWritten / bulks.length
    sql.set(name, sum)
  })
  const times = new Map<string, number[]>()
  const timed = <T>(name: string, run: () => T): T => {
    const started = performance.now()
    const result = run()
    times.set(name, [...(times.get(name) ?? []), performance.now() - started])
    return result
  }

  for (const { body } of bulks) {
    const parsed = timed('JSON.parse and depth', () => parseJson(body))
    const judged = timed('judge', () => judge(parsed, transactions))
    const rows = timed('rows by column', () =>
      judged.good.map(({ index, record }) => ({
        idx: index,
        values: transactions.toValues(record),
      })),
    )
    const parcel: Parcel = { ...EMPTY, id: `dlv_${ulid()}`, received: rows.length, rows }
    // Until its first wait it makes the parameters and the batch.
    await timed('rows as parameters', () => deliver(NOBODY, transactions.shelf, parcel))
    const receipt = await deliver(recording, transactions.shelf, parcel)
    timed('answer', () =>
      answer(SAYING, { judged, intake: transactions, parcel, receipt, minimal: true }),
    )
  }
  return { code: new Map([...times].map(([name, list]) => [name, median(list)])), sql }
}

/** What the signature of one token costs, in ms. */
export async function verifying(token: string, issuer: Issuer): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const started = performance.now()
    if (!(await verify(token, issuer, Date.now()))) throw new Error('The token is not ours.')
    times.push(performance.now() - started)
  }
  return median(times)
}

const EMPTY = {
  account: ACCOUNT,
  resource: 'transactions',
  form: 'array',
  receivedAt: Date.now(),
  dryRun: false,
  lenient: false,
  unknown: 'reject',
  wrong: 0,
  errorsTotal: 0,
  errors: null,
} as const

/** A database that answers nothing at once, and a caller to whom things are said. */
const NOBODY = {
  prepare: () => ({ bind: () => null }),
  batch: async () => [{ results: [] }],
} as unknown as D1DatabaseSession
const SAYING = { json: (body: unknown) => JSON.stringify(body) } as unknown as Context
