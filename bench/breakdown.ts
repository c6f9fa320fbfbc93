import type { Context } from 'hono'
import { type Issuer, verifyAccessToken } from '../src/auth/access-token.ts'
import { type DeliveryInput, storeDelivery } from '../src/db/records/store-delivery.ts'
import { measureJson } from '../src/http/body-size.ts'
import { parseJson } from '../src/http/json.ts'
import { newDeliveryId } from '../src/ingest/delivery-id.ts'
import type { RequestContext } from '../src/ingest/resource.ts'
import { respond } from '../src/ingest/response.ts'
import { validateRecords } from '../src/ingest/validate-records.ts'
import type { RecordValidator } from '../src/validation/record-validator.ts'
import { phasesOf } from './compete.ts'
import { type Ours, PHASES, type Phase } from './contestants.ts'
import { median } from './figures.ts'
import { ACCOUNT } from './peers/upsert.ts'
import { recorder } from './recorder.ts'
import type { Bulk } from './records.ts'
import { transactions } from './resource.ts'
import type { Running } from './worker.ts'

/** The time of one bulk in milliseconds, by step of our code in Node and by statement in D1. */
export interface Breakdown {
  code: Map<string, number[]>
  sql: Map<string, number[]>
  /** Rows that D1 read and wrote for all bulks. */
  rowsRead: number
  rowsWritten: number
  records: number
}

/** The first runs in a process include compilation, and are not counted. */
const WARM_UP_PASSES = 2
const COUNTED_PASSES = 3

/** Stores all bulks again, phase by phase and step by step. */
export async function breakdown(
  us: Ours,
  bulks: readonly Bulk[],
): Promise<Record<Phase, Breakdown>> {
  const phases = phasesOf(bulks)
  let parts = { insert: emptyBreakdown(), update: emptyBreakdown(), replay: emptyBreakdown() }
  for (let pass = 0; pass < WARM_UP_PASSES + COUNTED_PASSES; pass++) {
    if (pass === WARM_UP_PASSES)
      parts = { insert: emptyBreakdown(), update: emptyBreakdown(), replay: emptyBreakdown() }
    await us.renew()
    for (const phase of PHASES) await measureSteps(phases[phase], us.running, parts[phase])
  }
  return parts
}

const emptyBreakdown = (): Breakdown => ({
  code: new Map(),
  sql: new Map(),
  rowsRead: 0,
  rowsWritten: 0,
  records: 0,
})

/** Does what `receive` does, and measures each step. */
async function measureSteps(bulks: readonly Bulk[], running: Running, sums: Breakdown) {
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
    const bytes = new TextEncoder().encode(body)
    const { mayBeInexact } = timed('size and depth', () => measureJson([bytes]))
    const parsed = timed('JSON.parse', () => parseJson(body, mayBeInexact))
    const validated = timed('validation', () => validateRecords(parsed, validator))
    const records = await timed('rows by column', () =>
      transactions.buildRows(validated, REQUEST_CONTEXT),
    )
    const received = records.rows.length
    const input: DeliveryInput = { ...EMPTY, ...records, id: newDeliveryId(Date.now()), received }
    // The synchronous part builds the parameters and the batch.
    await timed('rows as parameters', () =>
      storeDelivery(EMPTY_DATABASE, transactions.recordTable, { ...input }),
    )
    const stored = await storeDelivery(recording, transactions.recordTable, input)
    timed('answer', () =>
      respond(CONTEXT, {
        validated,
        resource: transactions,
        validator,
        input,
        stored,
        url: 'https://api.example/api/v1/forex/deliveries/dlv_1',
        minimal: true,
      }),
    )
    sums.records += received
  }
}

/**
 * Measures the verification of one token, in milliseconds. Node decodes base64url as workerd does only
 * with `--js-base-64`, which `npm run bench` sets.
 */
export async function timeVerification(token: string, issuer: Issuer): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 50; i++) {
    const started = performance.now()
    if (!(await verifyAccessToken(token, issuer, Date.now())))
      throw new Error('The token was not verified. Start the bench with npm run bench.')
    times.push(performance.now() - started)
  }
  return median(times)
}

const EMPTY = {
  account: ACCOUNT,
  resource: 'transactions',
  form: 'array',
  receivedAt: Date.now(),
  receivedDay: new Date().toISOString().slice(0, 10),
  bookZone: 'UTC',
  dryRun: false,
  lenient: false,
  policy: 'reject',
  storageQuota: Number.MAX_SAFE_INTEGER,
  invalidCount: 0,
  errorsTotal: 0,
  errors: null,
  returnRecordOutcomes: false,
  idempotency: null,
  hasYesterday: false,
  hasToday: false,
} as const

/** The validation of transactions does not depend on the account. */
const validator = transactions.validator(new Promise(() => {})) as RecordValidator
/** Of the request, the rows of transactions depend only on the time zone of the account's books. */
const REQUEST_CONTEXT = {
  grant: { vertical: 'forex', book_zone: 'UTC', amount_signs: 'magnitude', statuses: [] },
  receivedAt: Date.now(),
} as unknown as RequestContext

/** A database that answers with an empty delivery row, and a context that only serializes. */
const EMPTY_DATABASE = {
  prepare: () => ({ bind: () => null }),
  batch: async () => [{ results: [{ received_at: 0, over_quota: null }] }],
} as unknown as D1DatabaseSession
const CONTEXT = { json: (body: unknown) => JSON.stringify(body) } as unknown as Context
