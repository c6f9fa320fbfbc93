import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { type Account, type Answer, type Data, type Delivery, oracle } from '../model/oracle.ts'
import { account, IDS, type Step, steps } from '../model/sequences.ts'
import { open } from '../model/service.ts'
import { anyOrder, text } from '../model/text.ts'

watchMarks()

// Compares the service with test/model/oracle.ts, the contract as a program: both process generated
// sequences of requests of two accounts with the same ids, and must return and store the same.
//
// A failure prints the command that replays it. `npm run worlds -- model` tries more sequences of each pair.

/** The number of sequences of each pair in `npm test`: its seed reaches all of `REQUIRED_EVENTS` with them. */
const USUAL_RUNS = 7
/** Added to `TEST_SEED`. The sum 4791 reaches all of `REQUIRED_EVENTS`. */
const SEED_OFFSET = 4788
const RUNS = env.MODEL_RUNS || USUAL_RUNS

/** The time for which fast-check shrinks a failing sequence. */
const SHRINK_MS = 15_000

const PAIRS: [Account['vertical'], Account['vertical']][] = [
  ['prop-trading', 'forex'],
  ['igaming', 'igaming'],
  ['igaming', 'prop-trading'],
]

let failed = false

/** The number of occurrences of each status, code and outcome. */
const occurrences = new Map<string, number>()
const record = (event: string, times = 1) =>
  occurrences.set(event, (occurrences.get(event) ?? 0) + times)

/** Returns an answer with the errors and warnings of each record in a fixed order. */
const normalized = ({ results, errors, summary, ...rest }: Answer) => ({
  ...rest,
  // The summary of a refused delivery is only in the log.
  ...(results && { summary }),
  errors: errors && anyOrder(errors),
  results: results?.map(({ warnings, errors, ...result }) => ({
    ...result,
    warnings: [...warnings].sort(),
    errors: anyOrder(errors),
  })),
})

/** Throws an error with both values if they differ. */
function agree(subject: string, actual: unknown, expected: unknown) {
  if (text(actual) === text(expected)) return
  throw new Error(`${subject}\nservice: ${text(actual)}\noracle:  ${text(expected)}`)
}

/** Returns the date in the time zone of an account; the locale en-CA writes it as in ISO 8601. */
const today = ({ time_zone: timeZone }: Account) =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(Date.now())

/** Opens one of the two accounts, in the service and in the oracle. */
async function side(settings: Account, binding: 'DB' | 'DB_2') {
  const service = await open(settings, binding)
  const model = oracle(settings)
  const sent: [Delivery, { wrapped: boolean; minimal: boolean }][] = []
  const log: Data[] = []
  const brand = settings.vertical === 'igaming'

  async function deliver(delivery: Delivery, how: { wrapped: boolean; minimal: boolean }) {
    const before = model.held().length
    const { answer, delivery_id } = await service.deliver(delivery, how)
    const expected = model.deliver(delivery, today(settings))
    count(settings.vertical, delivery, expected, before - model.held().length)
    if (how.minimal && expected.results)
      expected.results = expected.results.filter(
        ({ warnings, errors }) => warnings.length + errors.length > 0,
      )
    agree(
      `${settings.vertical}: ${JSON.stringify(delivery)}`,
      normalized(answer),
      normalized(expected),
    )
    const { resource, dry_run } = delivery
    // The log has no number of warnings.
    const { warnings: _, ...summary } = expected.summary!
    log.push({ delivery_id, resource, dry_run, status: answer.status, summary })
  }

  async function checkList(
    resource: string,
    filter: { customer?: string; from?: string; to?: string },
  ) {
    const query = new URLSearchParams({ per_page: '500' })
    if (filter.customer) query.set(brand ? 'customerid' : 'customer_id', filter.customer)
    if (filter.from) query.set('from', filter.from)
    if (filter.to) query.set('to', filter.to)
    const expected = model.list(resource, filter)
    const { body, status } = await service.get(`${resource}?${query}`)
    agree(
      `list of ${resource}, ${query}`,
      [status, body.meta?.total, anyOrder(body.data)],
      [200, expected.length, anyOrder(expected)],
    )
  }

  async function checkRecord(resource: string, id: string) {
    const { status, body } = await service.get(`${resource}/${id}`)
    const expected = model.find(resource, id)
    agree(
      `${resource}/${id}`,
      [status, expected && body],
      expected ? [200, expected] : [404, undefined],
    )
  }

  /** Returns the body of a read that must succeed. */
  async function read(path: string) {
    const { status, body } = await service.get(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text(body)}`)
    return body
  }

  async function checkDays(from: string, to: string) {
    const body = await read(`totals?from=${from}&to=${to}`)
    agree(`totals ${from} ${to}`, anyOrder(body.data), anyOrder(model.totals(from, to)))
  }

  /** Compares the totals of the days of the records, and of records without a day. */
  async function checkTotals() {
    await checkDays('2026-09-30', '2026-10-31')
    await checkDays(today(settings), today(settings))
  }

  async function checkReports() {
    const held = await read('held?per_page=500')
    const records = held.data.map(({ resource, record }: Data) => ({ resource, record }))
    agree('held', anyOrder(records), anyOrder(model.held()))
    await checkTotals()
    const deliveries = await read('deliveries?per_page=200')
    agree(
      'deliveries',
      anyOrder(deliveries.data.map(({ received_at, errors_total, ...line }: Data) => line)),
      anyOrder(log),
    )
  }

  return {
    async step(step: Step) {
      switch (step.do) {
        case 'deliver':
          sent.push([step.delivery, step])
          return deliver(step.delivery, step)
        case 'resend': {
          const [delivery, how] = sent[sent.length - 1 - (step.which % sent.length)] ?? []
          if (!delivery || !how) return
          const ordered = step.reversed ? delivery.records.toReversed() : delivery.records
          const records = step.amended
            ? ordered.map((record) => ({ ...record, method: true }))
            : ordered
          return deliver({ ...delivery, records }, how)
        }
        case 'erase': {
          const exists = model.erase(step.customer)
          record(exists ? 'erased' : 'erased: nobody')
          return agree('erase', await service.erase(step.customer), exists ? 200 : 404)
        }
        case 'read':
          await checkList(step.resource, step)
          if (step.customer) await checkRecord('customers', step.customer)
          if (!brand && step.from) await checkRecord('transactions', 't-1')
      }
    },
    compareTotals: checkTotals,
    /** Compares everything that can be read. */
    async compare() {
      for (const resource of model.resources) await checkList(resource, {})
      await checkRecord('customers', IDS[0]!)
      await checkReports()
    },
  }
}

function count(vertical: string, delivery: Delivery, answer: Answer, released: number) {
  const kind = vertical === 'igaming' ? 'brand' : 'partner'
  record(`${kind} ${answer.status}${delivery.dry_run ? ' dry run' : ''}`)
  if (answer.code) record(`${kind} ${answer.code}`)
  if (released > 0 && !delivery.dry_run) record(`${kind} released`, released)
  for (const [, , code] of answer.errors ?? []) record(`${kind} ${code}`)
  for (const { outcome, warnings } of answer.results ?? []) {
    record(`${kind} ${delivery.resource} ${outcome}`)
    for (const code of warnings) record(`${kind} ${code}`)
  }
}

test.each(PAIRS)(
  '%s beside %s: the service agrees with the oracle on any sequence',
  async (...pair) => {
    let until = Number.POSITIVE_INFINITY
    const property = fc.asyncProperty(
      account(pair[0]),
      account(pair[1]),
      steps(pair),
      async (first, second, sequence) => {
        fc.pre(Date.now() < until)
        const days = [first, second].map(today).join()
        const sides = [await side(first, 'DB'), await side(second, 'DB')]
        try {
          for (const step of sequence) {
            await sides[step.at]!.step(step)
            await sides[step.at]!.compareTotals()
          }
          for (const each of sides) await each.compare()
        } catch (cause) {
          until = Math.min(until, Date.now() + SHRINK_MS)
          throw cause
        }
        // A record without a day counts on the day of its arrival, so a run across midnight is void.
        fc.pre(days === [first, second].map(today).join())
      },
    )
    const outcome = await fc.check(property, {
      numRuns: RUNS,
      seed: env.SEED + SEED_OFFSET,
      ...(env.MODEL_PATH && { path: env.MODEL_PATH }),
    })
    if (!outcome.failed) return
    failed = true
    const { seed, counterexamplePath, errorInstance } = outcome
    throw new Error(
      `TEST_SEED=${seed - SEED_OFFSET} MODEL_RUNS=${RUNS} MODEL_PATH=${counterexamplePath} npx vitest run test/ingest/model.test.ts -t '${pair[0]} beside ${pair[1]}'
${errorInstance}\n${fc.defaultReportMessage(outcome)}`,
    )
  },
  1_200_000,
)

/** The events that must occur in a complete run. */
const REQUIRED_EVENTS = [
  ...['partner', 'brand'].flatMap((kind) => [
    ...['201', '207', '422', '200 dry run', 'unknown_customer', 'required', 'released'].map(
      (event) => `${kind} ${event}`,
    ),
    ...['created', 'updated', 'unchanged', 'rejected'].map(
      (outcome) => `${kind} customers ${outcome}`,
    ),
  ]),
  'partner erased',
  'partner customers stale',
  'partner transactions held',
  'partner trading-activity held',
  'partner unknown_affiliate',
  'partner withdrawn_currency',
  'partner duplicate_key',
  'brand activities held',
  'brand activities updated',
  'brand idempotency_key_reused',
  'brand not_deduplicated',
  'brand no_createtime',
  'brand unmapped_product',
  'erased',
  'erased: nobody',
]

// A replay or a short run need not reach them all.
afterAll(() => {
  if (env.MODEL_TABLE) throw new Error(text([...occurrences].sort()))
  if (RUNS < USUAL_RUNS || env.MODEL_PATH || failed) return
  const missing = REQUIRED_EVENTS.filter((event) => !occurrences.has(event))
  if (missing.length > 0) throw new Error(`Never reached: ${missing.join(', ')}.`)
})
