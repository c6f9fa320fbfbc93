import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { afterAll, test } from 'vitest'
import { type Account, type Answer, type Data, type Delivery, oracle } from './model/oracle.ts'
import { account, IDS, type Step, steps } from './model/sequences.ts'
import { open } from './model/service.ts'
import { anyOrder, text } from './model/text.ts'

// The service against test/model/oracle.ts, which is the contract as a program: any sequence of
// requests, in two accounts with the same ids, is answered as the oracle does and leaves what it has.
//
// A failure prints the command that replays it. `npm run model` tries more sequences of each pair.

/** The number of sequences of each pair in `npm test`: the fixed seed reaches all of `REACHED`. */
const USUAL_RUNS = 50
const RUNS = env.MODEL_RUNS || USUAL_RUNS

/** A failure is made smaller for so long; what it then has come to is printed. */
const SHRINK_MS = 15_000

const PAIRS: [Account['vertical'], Account['vertical']][] = [
  ['forex', 'forex'],
  ['prop-trading', 'forex'],
  ['igaming', 'igaming'],
  ['igaming', 'prop-trading'],
]

let failed = false

/** How often each thing that matters was met. */
const met = new Map<string, number>()
const meet = (what: string, times = 1) => met.set(what, (met.get(what) ?? 0) + times)

/** An answer, whatever the order in which it tells what is wrong with one record. */
const plain = ({ results, errors, summary, ...rest }: Answer) => ({
  ...rest,
  // What is refused as a whole has a summary only in the log.
  ...(results && { summary }),
  errors: errors && anyOrder(errors),
  results: results?.map(({ warnings, errors, ...result }) => ({
    ...result,
    warnings: [...warnings].sort(),
    errors: anyOrder(errors),
  })),
})

/** Fails with both sides, if they differ. */
function agree(what: string, heard: unknown, expected: unknown) {
  if (text(heard) === text(expected)) return
  throw new Error(`${what}\nservice: ${text(heard)}\noracle:  ${text(expected)}`)
}

/** The day that it is on the clocks of an account: English of Canada writes it as ISO 8601 does. */
const today = ({ time_zone: timeZone }: Account) =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(Date.now())

/** One of the two accounts: what the service has of it, and what the oracle says it has. */
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
    agree(`${settings.vertical}: ${JSON.stringify(delivery)}`, plain(answer), plain(expected))
    const { resource, dry_run } = delivery
    log.push({ delivery_id, resource, dry_run, status: answer.status, summary: expected.summary })
  }

  async function look(resource: string, filter: { customer?: string; from?: string; to?: string }) {
    const query = new URLSearchParams({ per_page: '500' })
    if (filter.customer) query.set(brand ? 'customerid' : 'customer_id', filter.customer)
    if (resource !== 'customers' && filter.from) query.set('from', filter.from)
    if (resource !== 'customers' && filter.to) query.set('to', filter.to)
    const { from, to, ...who } = filter
    const expected = model.list(resource, resource === 'customers' ? who : filter)
    const { body, status } = await service.get(`${resource}?${query}`)
    agree(
      `list of ${resource}, ${query}`,
      [status, body.meta?.total, anyOrder(body.data)],
      [200, expected.length, anyOrder(expected)],
    )
  }

  async function one(resource: string, id: string) {
    const { status, body } = await service.get(`${resource}/${id}`)
    const expected = model.one(resource, id)
    agree(
      `${resource}/${id}`,
      [status, expected && body],
      expected ? [200, expected] : [404, undefined],
    )
  }

  /** What must be there. */
  async function read(path: string) {
    const { status, body } = await service.get(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${text(body)}`)
    return body
  }

  async function rest() {
    const held = await read('held?per_page=500')
    const waits = held.data.map(({ resource, record }: Data) => ({ resource, record }))
    agree('held', anyOrder(waits), anyOrder(model.held()))
    for (const [from, to] of [
      ['2026-09-30', '2026-10-31'],
      [today(settings), today(settings)],
    ] as const) {
      const body = await read(`totals?from=${from}&to=${to}`)
      agree(`totals ${from} ${to}`, anyOrder(body.data), anyOrder(model.totals(from, to)))
    }
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
        case 'again': {
          const [delivery, how] = sent[sent.length - 1 - (step.which % sent.length)] ?? []
          if (!delivery || !how) return
          const records = step.turned ? delivery.records.toReversed() : delivery.records
          return deliver({ ...delivery, records }, how)
        }
        case 'erase': {
          const there = model.erase(step.customer)
          meet(there ? 'erased' : 'erased: nobody')
          return agree('erase', await service.erase(step.customer), there ? 200 : 404)
        }
        case 'look':
          await look(step.resource, step)
          if (step.customer) await one('customers', step.customer)
          if (!brand && step.from) await one('transactions', 't-1')
      }
    },
    /** All that can be read is as the oracle has it. */
    async agrees() {
      for (const resource of model.resources) await look(resource, {})
      await one('customers', IDS[0]!)
      await rest()
    },
  }
}

function count(vertical: string, delivery: Delivery, answer: Answer, released: number) {
  const kind = vertical === 'igaming' ? 'brand' : 'partner'
  meet(`${kind} ${answer.status}${delivery.dry_run ? ' dry run' : ''}`)
  if (answer.code) meet(`${kind} ${answer.code}`)
  if (released > 0 && !delivery.dry_run) meet(`${kind} released`, released)
  for (const [, , code] of answer.errors ?? []) meet(`${kind} ${code}`)
  for (const { outcome, warnings } of answer.results ?? []) {
    meet(`${kind} ${delivery.resource} ${outcome}`)
    for (const code of warnings) meet(`${kind} ${code}`)
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
          for (const step of sequence) await sides[step.at]!.step(step)
          for (const each of sides) await each.agrees()
        } catch (cause) {
          until = Math.min(until, Date.now() + SHRINK_MS)
          throw cause
        }
        // What has no day counts on the day it came: a midnight in between would prove nothing.
        fc.pre(days === [first, second].map(today).join())
      },
    )
    const outcome = await fc.check(property, {
      numRuns: RUNS,
      seed: env.SEED,
      ...(env.MODEL_PATH && { path: env.MODEL_PATH }),
    })
    if (!outcome.failed) return
    failed = true
    const { seed, counterexamplePath, errorInstance } = outcome
    throw new Error(
      `TEST_SEED=${seed} MODEL_RUNS=${RUNS} MODEL_PATH=${counterexamplePath} npx vitest run test/model.test.ts -t '${pair[0]} beside ${pair[1]}'
${errorInstance}\n${fc.defaultReportMessage(outcome)}`,
    )
  },
  1_200_000,
)

/** What a run that finds nothing must have met, to mean anything. */
const REACHED = [
  ...['partner', 'brand'].flatMap((kind) => [
    ...['201', '207', '422', '200 dry run', 'unknown_customer', 'required', 'released'].map(
      (what) => `${kind} ${what}`,
    ),
    ...['created', 'updated', 'unchanged', 'rejected'].map((what) => `${kind} customers ${what}`),
    `${kind} erased`,
  ]),
  'partner customers stale',
  'partner transactions held',
  'partner trading-activity held',
  'partner unknown_affiliate',
  'partner withdrawn_currency',
  'partner duplicate_key',
  'brand activities held',
  'brand activities unchanged',
  'brand activities updated',
  'brand idempotency_key_reused',
  'brand not_deduplicated',
  'brand no_createtime',
  'brand unmapped_product',
  'erased',
  'erased: nobody',
]

// Replays and short trials prove nothing of the kind.
afterAll(() => {
  if (env.MODEL_TABLE) throw new Error(text([...met].sort()))
  if (RUNS < USUAL_RUNS || env.MODEL_PATH || failed) return
  const unmet = REACHED.filter((what) => !met.has(what))
  if (unmet.length > 0) throw new Error(`never met: ${unmet.join(', ')}`)
})
