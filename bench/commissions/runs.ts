import { type Usage, ZERO_USAGE } from '../../scripts/capacity/prices.ts'
import { type Counts, METER_PATH } from '../cost/meter.ts'
import { ADMIN_KEY, adminOf } from '../cost/parties.ts'
import { expectOk } from '../http.ts'
import type { Running } from '../worker.ts'
import { PERIOD } from './plans.ts'

/** How long something took, and the CPU time of the whole local runtime. */
export interface Times {
  ms: number
  cpuMs: number
}

/** What a run took. */
export interface MeasuredRun extends Times {
  steps: number
  changed: number
  usage: Usage
}

/** Starts a run of an account and waits for its end, and measures it. */
export async function measureRun(
  running: Running,
  account: string,
  complete = () => completeRun(running, account),
): Promise<MeasuredRun> {
  await takeCounts(running)
  const cpuBefore = running.cpu() ?? Number.NaN
  const started = performance.now()
  const { steps, changed } = await complete()
  const ms = performance.now() - started
  const cpuMs = (running.cpu() ?? Number.NaN) - cpuBefore
  const { usage } = await takeCounts(running)
  const { rowsRead, rowsWritten } = usage
  return { ms, cpuMs, steps, changed, usage: { ...ZERO_USAGE, rowsRead, rowsWritten } }
}

/** How often the bench asks whether a run has ended, and for how long, in milliseconds. */
const POLL_MS = 50
const PATIENCE_MS = 300_000

/** Starts a run over the statements of the month, and waits for its end. */
export async function completeRun(
  running: Running,
  account: string,
): Promise<{ steps: number; changed: number }> {
  const admin = adminOf(running)
  const { id } = await admin('POST', `accounts/${account}/periods/${PERIOD}/run`, {})
  const end = Date.now() + PATIENCE_MS
  while (Date.now() < end) {
    const run = await getAsTeam(running, `accounts/${account}/runs/${id}`)
    if (run.status === 'done') return run
    if (run.status === 'failed') throw new Error('The run failed.')
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error('The run did not end.')
}

/** Requests a resource of the administration. */
export const getAsTeam = async (running: Running, path: string) =>
  JSON.parse(
    await expectOk(new URL(`/admin/v1/${path}`, running.url), {
      headers: { Authorization: `Bearer ${ADMIN_KEY}` },
    }),
  )

const takeCounts = async (running: Running): Promise<Counts> =>
  JSON.parse(await expectOk(new URL(METER_PATH, running.url)))
