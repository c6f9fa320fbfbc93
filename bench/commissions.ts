import { join } from 'node:path'
import { type Chapter, formatHundredths, formatInteger, formatTenths } from './chapter.ts'
import { ACCOUNT, fillAccount, sizeOf } from './commissions/fill.ts'
import { measureLimit } from './commissions/limit.ts'
import { affiliateId, PERIOD, PLAN_NAMES } from './commissions/plans.ts'
import { REPLAY_PATH } from './commissions/replay.ts'
import { buildMetered, startMetered } from './commissions/service.ts'
import { type Counts, METER_PATH } from './cost/meter.ts'
import { ADMIN_KEY, adminOf } from './cost/parties.ts'
import { dollars, type Usage, ZERO_USAGE } from './cost/prices.ts'
import { median } from './figures.ts'
import { heapOf } from './heap.ts'
import { expectOk } from './http.ts'
import { execute, type Running } from './worker.ts'
import type { World } from './world.ts'

const MIB = 2 ** 20

interface Times {
  ms: number
  cpuMs: number
}

/** What a run took. */
interface MeasuredRun extends Times {
  steps: number
  changed: number
  usage: Usage
}

/** Measures a run over the statements of a month, and the statements of one affiliate on request. */
export async function commissions({ folder, scale }: World): Promise<Chapter> {
  const size = sizeOf(scale.facts)
  const state = join(folder, 'commissions')
  const script = await buildMetered(folder)
  const running = await startMetered(script, state, false)
  await fillAccount(running, size)
  const limit = measureLimit(state)
  await rememberReads(running)
  const first = await measureRun(running)
  const reads = await measureReplay(running)
  const again = await measureRun(running)
  const requests: [string, string, string][] = []
  for (const [n, plan] of PLAN_NAMES.entries()) {
    const { ms, readsMs } = await timeFresh(running, affiliateId(n))
    requests.push([plan, formatTenths(ms), formatTenths(readsMs)])
  }
  await forgetStatements(running)
  await running.end()
  const heap = await measureHeap(script, state)
  const { facts, customers, affiliates, large } = size
  return {
    title: 'Commissions',
    notes: `A run over the statements of a month: ${formatInteger(facts)} facts of ${formatInteger(customers)} customers, ${formatInteger(affiliates)} affiliates and ${PLAN_NAMES.length} plans, by the Workflow. The limit is one pass over both tables in \`node:sqlite\`, on the same file, that adds up the amounts by affiliate, type or instrument, and currency. CPU is that of the whole local runtime, the database and the engine of Workflows included. The reads are the queries of the first run or of the request, sent again by a Worker that parses the answers and does nothing with them: the least time of these queries on this platform. The heap is that of the Worker by its inspector during another run.`,
    tables: [
      tableOfRuns(limit, reads, [
        ['first run', first],
        ['again, nothing has changed', again],
      ]),
      [
        ['MiB of heap, at most, during a run', ''],
        ...Object.entries(heap).map(([name, bytes]) => [name, formatTenths(bytes / MIB)]),
      ],
      [
        [`one affiliate of ${formatInteger(large)} customers on request`, 'ms', 'its reads, ms'],
        ...requests,
      ],
    ],
  }
}

function tableOfRuns(limit: Times, reads: Times, runs: readonly [string, MeasuredRun][]) {
  const timesOf = ({ ms, cpuMs }: Times) => [
    ...[ms, cpuMs].map(formatInteger),
    ...[ms / limit.ms, cpuMs / limit.cpuMs].map(formatHundredths),
  ]
  const counts = ['steps', 'statements written', 'rows read', 'rows written', '$']
  return [
    ['run', 'ms', 'CPU-ms', '÷ limit', 'CPU ÷ limit', ...counts],
    ['the sums in plain SQL', ...timesOf(limit), ...counts.map(() => '–')],
    ['the reads of the first run', ...timesOf(reads), ...counts.map(() => '–')],
    ...runs.map(([name, { ms, cpuMs, steps, changed, usage }]) => [
      name,
      ...timesOf({ ms, cpuMs }),
      ...[steps, changed, usage.rowsRead, usage.rowsWritten].map(formatInteger),
      dollars({ ...usage, cpuMs, requests: 1 }).toFixed(4),
    ]),
  ]
}

/** Starts a run and waits for its end. */
async function measureRun(running: Running): Promise<MeasuredRun> {
  await takeCounts(running)
  const cpuBefore = running.cpu() ?? Number.NaN
  const started = performance.now()
  const { steps, changed } = await completeRun(running)
  const ms = performance.now() - started
  const cpuMs = (running.cpu() ?? Number.NaN) - cpuBefore
  const { usage } = await takeCounts(running)
  const { rowsRead, rowsWritten } = usage
  return { ms, cpuMs, steps, changed, usage: { ...ZERO_USAGE, rowsRead, rowsWritten } }
}

const rememberReads = (running: Running) =>
  expectOk(new URL(REPLAY_PATH, running.url), { method: 'PUT' })

/** Measures the remembered reads alone. */
async function measureReplay(running: Running): Promise<Times> {
  const cpuBefore = running.cpu() ?? Number.NaN
  const started = performance.now()
  await expectOk(new URL(REPLAY_PATH, running.url), { method: 'POST' })
  const ms = performance.now() - started
  return { ms, cpuMs: (running.cpu() ?? Number.NaN) - cpuBefore }
}

const forgetStatements = (running: Running) =>
  execute(running, ['delete from statements', 'delete from statement_lines'])

/** How often the bench asks whether a run has ended, and for how long, in milliseconds. */
const POLL_MS = 50
const PATIENCE_MS = 300_000

/** Starts a run over the statements of the month, and waits for its end. */
export async function completeRun(running: Running): Promise<{ steps: number; changed: number }> {
  const admin = adminOf(running)
  const { id } = await admin('POST', `accounts/${ACCOUNT}/periods/${PERIOD}/run`, {})
  const end = Date.now() + PATIENCE_MS
  while (Date.now() < end) {
    const run = await getAsTeam(running, `accounts/${ACCOUNT}/runs/${id}`)
    if (run.status === 'done') return run
    if (run.status === 'failed') throw new Error('The run failed.')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error('The run did not end.')
}

/** How often the statements of an affiliate are requested. */
const REQUESTS = 5

async function timeFresh(
  running: Running,
  affiliate: string,
): Promise<{ ms: number; readsMs: number }> {
  const times: number[] = []
  const replays: number[] = []
  for (let i = 0; i < REQUESTS; i++) {
    await rememberReads(running)
    const started = performance.now()
    const query = `affiliate_id=${affiliate}&period=${PERIOD}&fresh=true`
    const { data } = await getAsTeam(running, `accounts/${ACCOUNT}/statements?${query}`)
    times.push(performance.now() - started)
    if (data.length !== 1) throw new Error(`${affiliate} has ${data.length} statements.`)
    replays.push((await measureReplay(running)).ms)
  }
  return { ms: median(times), readsMs: median(replays) }
}

/** Measures the heap of runs in a new Worker, on what another one has stored. */
async function measureHeap(script: string, state: string): Promise<Record<string, number>> {
  const running = await startMetered(script, state, true)
  try {
    await expectOk(new URL(METER_PATH, running.url))
    const heap = await heapOf(await running.inspector(), 'bench')
    const before = await heap.used()
    const allocated = await heap.most(() => completeRun(running))
    await forgetStatements(running)
    const used = await heap.most(() => completeRun(running), heap.used)
    heap.end()
    return { 'used before': before, 'used, garbage included': used, 'allocated by V8': allocated }
  } finally {
    await running.end()
  }
}

const getAsTeam = async (running: Running, path: string) =>
  JSON.parse(
    await expectOk(new URL(`/admin/v1/${path}`, running.url), {
      headers: { Authorization: `Bearer ${ADMIN_KEY}` },
    }),
  )

const takeCounts = async (running: Running): Promise<Counts> =>
  JSON.parse(await expectOk(new URL(METER_PATH, running.url)))
