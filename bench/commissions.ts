import { join } from 'node:path'
import { dollars } from '../scripts/capacity/prices.ts'
import { type Chapter, formatHundredths, formatInteger, formatTenths } from './chapter.ts'
import { ACCOUNT, fillAccount, sizeOf } from './commissions/fill.ts'
import { measureLimit } from './commissions/limit.ts'
import { affiliateId, PERIOD, PLAN_NAMES } from './commissions/plans.ts'
import { REPLAY_PATH } from './commissions/replay.ts'
import { type MeasuredReview, measureReview } from './commissions/review.ts'
import {
  completeRun,
  getAsTeam,
  type MeasuredRun,
  measureRun,
  type Times,
} from './commissions/runs.ts'
import { buildMetered, startMetered } from './commissions/service.ts'
import { measureYear } from './commissions/year.ts'
import { METER_PATH } from './cost/meter.ts'
import { median } from './figures.ts'
import { heapOf } from './heap.ts'
import { expectOk } from './http.ts'
import { execute, type Running } from './worker.ts'
import type { World } from './world.ts'

const MIB = 2 ** 20

/** Measures a run over the statements of a month, and the statements of one affiliate on request. */
export async function commissions({ folder, scale }: World): Promise<Chapter> {
  const size = sizeOf(scale.facts)
  const { facts, customers, affiliates, large } = size
  const state = join(folder, 'commissions')
  const script = await buildMetered(folder)
  const running = await startMetered(script, state, false)
  await fillAccount(running, size)
  const limit = measureLimit(state)
  await rememberReads(running)
  const first = await measureRun(running, ACCOUNT)
  const reads = await measureReplay(running)
  const again = await measureRun(running, ACCOUNT)
  const requests: [string, string, string][] = []
  for (const [n, plan] of PLAN_NAMES.entries()) {
    const { ms, readsMs } = await timeFresh(running, affiliateId(n), scale.rounds)
    requests.push([plan, formatTenths(ms), formatTenths(readsMs)])
  }
  const review = await measureReview(running, ACCOUNT, scale.rounds)
  await forgetStatements(running)
  const year = await measureYear(running, state, Math.floor(facts / 4))
  await running.end()
  const heap = await measureHeap(script, state)
  await runLimited(script, state)
  return {
    title: 'Commissions',
    notes: `A run over the statements of a month: ${formatInteger(facts)} facts of ${formatInteger(customers)} customers, ${formatInteger(affiliates)} affiliates and ${PLAN_NAMES.length} plans, by the Workflow. The limit is one pass over both tables in \`node:sqlite\`, on the same file, that adds up the amounts by affiliate, type or instrument, and currency. CPU is that of the whole local runtime, the database and the engine of Workflows included. The reads are the queries of the first run or of the request, sent again by a Worker that parses the answers and does nothing with them: the least time of these queries on this platform. The heap is that of the Worker by its inspector during another run; then a run must complete in a Worker whose heap V8 limits. The second table has the run of a morning on which the fraud rules evaluate the last day: it ends when they are done, and the ratio is the median of pairs. The third table has an account with a quarter of the facts on 13 months: its first run keeps the facts of past months, and each morning's run reads them and the records of the open month. The last row is an account with the same customers and the open month alone.`,
    tables: [
      tableOfRuns(limit, reads, [
        ['first run', first],
        ['again, nothing has changed', again],
      ]),
      tableOfReview(review),
      tableOfRuns(year.limit, null, year.runs),
      [
        ['MiB of heap, at most, during a run', ''],
        ...Object.entries(heap).map(([name, bytes]) => [name, formatTenths(bytes / MIB)]),
        ['limit of V8 within which a run completes', formatTenths(AIM)],
      ],
      [
        [`one affiliate of ${formatInteger(large)} customers on request`, 'ms', 'its reads, ms'],
        ...requests,
      ],
    ],
  }
}

/** The heap that a step should need, in MiB. */
const AIM = 64

/** Runs with a heap limited to the aim, in which V8 must collect garbage early. Fails beyond it. */
async function runLimited(script: string, state: string): Promise<void> {
  process.env.MINIFLARE_WORKERD_V8_FLAGS = `--max-heap-size=${AIM}`
  try {
    const running = await startMetered(script, state, false)
    try {
      await forgetStatements(running)
      await completeRun(running, ACCOUNT)
    } finally {
      await running.end()
    }
  } finally {
    delete process.env.MINIFLARE_WORKERD_V8_FLAGS
  }
}

function tableOfRuns(limit: Times, reads: Times | null, runs: readonly [string, MeasuredRun][]) {
  const timesOf = ({ ms, cpuMs }: Times) => [
    ...[ms, cpuMs].map(formatInteger),
    ...[ms / limit.ms, cpuMs / limit.cpuMs].map(formatHundredths),
  ]
  const counts = ['steps', 'statements written', 'rows read', 'rows written', '$']
  return [
    ['run', 'ms', 'CPU-ms', '÷ limit', 'CPU ÷ limit', ...counts],
    ['the sums in plain SQL', ...timesOf(limit), ...counts.map(() => '–')],
    ...(reads ? [['the reads of the first run', ...timesOf(reads), ...counts.map(() => '–')]] : []),
    ...runs.map(([name, { ms, cpuMs, steps, changed, usage }]) => [
      name,
      ...timesOf({ ms, cpuMs }),
      ...[steps, changed, usage.rowsRead, usage.rowsWritten].map(formatInteger),
      dollars({ ...usage, cpuMs, requests: 1 }).toFixed(4),
    ]),
  ]
}

function tableOfReview({ without, with: reviewed, ratio, cpuRatio, rules }: MeasuredReview) {
  const cellsOf = ({ ms, cpuMs, usage: { rowsRead, rowsWritten } }: MeasuredRun) =>
    [ms, cpuMs, rowsRead, rowsWritten].map(formatInteger)
  return [
    ['run of a morning', 'ms', 'CPU-ms', 'rows read', 'rows written'],
    ['without fraud rules', ...cellsOf(without)],
    [`with ${rules} fraud rules`, ...cellsOf(reviewed)],
    ['with ÷ without', ...[ratio, cpuRatio].map(formatHundredths), '–', '–'],
  ]
}

const rememberReads = (running: Running) =>
  expectOk(new URL(REPLAY_PATH, running.url), { method: 'PUT' })

/** Measures the reads of a run alone, which the Worker has remembered and repeats. */
async function measureReplay(running: Running): Promise<Times> {
  const cpuBefore = running.cpu() ?? Number.NaN
  const started = performance.now()
  await expectOk(new URL(REPLAY_PATH, running.url), { method: 'POST' })
  const ms = performance.now() - started
  return { ms, cpuMs: (running.cpu() ?? Number.NaN) - cpuBefore }
}

const forgetStatements = (running: Running) =>
  execute(running, ['delete from statements', 'delete from statement_lines'])

/** Requests the statements of an affiliate a number of times. */
async function timeFresh(
  running: Running,
  affiliate: string,
  requests: number,
): Promise<{ ms: number; readsMs: number }> {
  const times: number[] = []
  const replays: number[] = []
  for (let i = 0; i < requests; i++) {
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

/** Measures the heap of runs in a new Worker, on the database that another Worker filled. */
async function measureHeap(script: string, state: string): Promise<Record<string, number>> {
  const running = await startMetered(script, state, true)
  try {
    await expectOk(new URL(METER_PATH, running.url))
    const heap = await heapOf(await running.inspector(), 'bench')
    const before = await heap.used()
    const allocated = await heap.most(() => completeRun(running, ACCOUNT))
    await forgetStatements(running)
    const used = await heap.most(() => completeRun(running, ACCOUNT), heap.used)
    heap.end()
    return { 'used before': before, 'used, garbage included': used, 'allocated by V8': allocated }
  } finally {
    await running.end()
  }
}
