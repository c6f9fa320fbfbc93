import type { Context } from 'hono'
import { ulid } from 'ulid'
import { type Issuer, verify } from '../src/auth/access-token.ts'
import { deliver, type Parcel } from '../src/db/records/store-delivery.ts'
import { parseJson } from '../src/http/json.ts'
import type { Arrival } from '../src/ingest/resource.ts'
import { answer } from '../src/ingest/response.ts'
import { judge } from '../src/ingest/validate-records.ts'
import type { Entity } from '../src/validation/record-validator.ts'
import { phasesOf } from './compete.ts'
import { type Ours, PHASES, type Phase } from './contestants.ts'
import { median } from './figures.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { recorder } from './recorder.ts'
import type { Bulk } from './records.ts'
import { transactions } from './resource.ts'
import type { Running } from './worker.ts'

/** Where the time of one bulk goes, in ms by piece: our own code in Node, each statement in D1. */
export interface Breakdown {
  code: Map<string, number[]>
  sql: Map<string, number[]>
  /** Rows that D1 read and wrote, of all bulks together. */
  rowsRead: number
  rowsWritten: number
  records: number
}

/** The first times that our code runs in this process, it is still being compiled. */
const UNCOUNTED = 2
const COUNTED = 3

/** Stores all bulks some times more, phase by phase and piece by piece. */
export async function breakdown(
  us: Ours,
  bulks: readonly Bulk[],
): Promise<Record<Phase, Breakdown>> {
  const phases = phasesOf(bulks)
  let parts = { insert: nothing(), update: nothing(), replay: nothing() }
  for (let pass = 0; pass < UNCOUNTED + COUNTED; pass++) {
    if (pass === UNCOUNTED) parts = { insert: nothing(), update: nothing(), replay: nothing() }
    await us.renew()
    for (const phase of PHASES) await takeApart(phases[phase], us.running, parts[phase])
  }
  return parts
}

const nothing = (): Breakdown => ({
  code: new Map(),
  sql: new Map(),
  rowsRead: 0,
  rowsWritten: 0,
  records: 0,
})

/** Does what `receive` does, piece by piece, with a stopwatch at each. */
async function takeApart(bulks: readonly Bulk[], running: Running, sums: Breakdown) {
  const add = (to: Map<string, number[]>, name: string, ms: number) =>
    to.set(name, [...(to.get(name) ?? []), ms])
  const recording = recorder(running, transactions.recordTable, (name, cost) => {
    add(sums.sql, name, cost.ms)
    sums.rowsRead += cost.rowsRead
    sums.rowsWritten += cost.rowsWritten
  })
  const timed = <T>(name: string, run: () => T): T => {
    const started = performance.now()
    const result = run()
    add(sums.code, name, performance.now() - started)
    return result
  }

  for (const { body } of bulks) {
    const parsed = timed('JSON.parse and depth', () => parseJson(body))
    const judged = timed('judge', () => judge(parsed, entity))
    const records = await timed('rows by column', () => transactions.rowsOf(judged, ARRIVAL))
    const received = records.rows.length
    const parcel: Parcel = { ...EMPTY, ...records, id: `dlv_${ulid()}`, received }
    // Until its first wait it makes the parameters and the batch.
    await timed('rows as parameters', () =>
      deliver(NOBODY, transactions.recordTable, { ...parcel }),
    )
    const receipt = await deliver(recording, transactions.recordTable, parcel)
    timed('answer', () =>
      answer(SAYING, { judged, resource: transactions, entity, parcel, receipt, minimal: true }),
    )
    sums.records += received
  }
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
  policy: 'reject',
  wrong: 0,
  errorsTotal: 0,
  errors: null,
  told: false,
  idempotency: null,
  yesterday: false,
  today: false,
} as const

/** Transactions are judged alike, whoever sends them. */
const entity = transactions.validator(new Promise(() => {})) as Entity
const ARRIVAL = {} as Arrival

/** A database that answers nothing at once, and a caller to whom things are said. */
const NOBODY = {
  prepare: () => ({ bind: () => null }),
  batch: async () => [{ results: [] }],
} as unknown as D1DatabaseSession
const SAYING = { json: (body: unknown) => JSON.stringify(body) } as unknown as Context
