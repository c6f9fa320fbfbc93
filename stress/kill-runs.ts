import { join } from 'node:path'
import { fillAccount, sizeOf } from '../bench/commissions/fill.ts'
import { type Barrier, openBarrier } from './kill-runs/barrier.ts'
import { buildGated, type RunService, serveRuns } from './kill-runs/service.ts'
import {
  contentOf,
  deleteStored,
  type Row,
  readStored,
  showRun,
  startRun,
  waitForEnd,
} from './kill-runs/stored.ts'
import { runProgram, type Setting } from './program.ts'

// Kills workerd before and after each call that a statement run makes to D1, and checks that the
// run is resumed and stores what an undisturbed one does: `npm run kill-runs [-- --every 10]`.

/** The account: few customers, but several steps, statements of several lines, and each kind of plan. */
const SIZE = { ...sizeOf(400), affiliates: 12 }

/** What the program works with. `service` is replaced after each kill. */
interface Progress {
  service: RunService
  readonly restart: () => Promise<RunService>
  readonly barrier: Barrier
}

/** What an undisturbed run stored. */
interface Undisturbed {
  readonly content: readonly string[]
  readonly statements: number
  readonly steps: number
}

/** Kills a run at one of its moments in every `every`. */
export async function proveRuns(setting: Setting, { every }: { every: number }): Promise<void> {
  const { folder, print, check } = setting
  const barrier = await openBarrier()
  const script = await buildGated()
  const restart = () => serveRuns(script, join(folder, 'runs'), barrier.url)
  const progress: Progress = { service: await restart(), restart, barrier }
  try {
    await fillAccount(progress.service, SIZE)
    const undisturbed = await runUndisturbed(progress)
    const moments = [...barrier.seen]
    const { statements, steps } = undisturbed
    print(`A run has ${steps} steps, ${statements} statements and ${moments.length} moments.`)
    check(steps >= 3, `a run has only ${steps} steps`)
    let kills = 0
    for (let at = Math.floor(setting.random() * every); at < moments.length; at += every) {
      const { moment, sql } = moments[at]!
      const label = `${at} (${moment} ${sql.replace(/\s+/g, ' ').slice(0, 60)})`
      print(await killAt(setting, progress, { at, label, undisturbed }))
      kills += 1
    }
    print(`${kills} runs were killed and resumed.`)
  } finally {
    await progress.service.end()
    barrier.close()
  }
}

async function runUndisturbed({ service, barrier }: Progress): Promise<Undisturbed> {
  barrier.set(Number.POSITIVE_INFINITY, () => {})
  const run = await waitForEnd(service, await startRun(service))
  if (run.status !== 'done') throw new Error(`The undisturbed run is ${run.status}.`)
  const rows = await readStored(service)
  return { content: contentOf(rows), statements: countOf(rows), steps: run.steps ?? 0 }
}

/** The number of statements among rows; the others are parts of their lines. */
const countOf = (rows: readonly Row[]): number => rows.filter(({ period }) => period).length

/** Kills a run at a moment, lets the job of every minute resume it, and checks what it stored. */
async function killAt(
  { check }: Setting,
  progress: Progress,
  { at, label, undisturbed }: { at: number; label: string; undisturbed: Undisturbed },
): Promise<string> {
  const { barrier } = progress
  await deleteStored(progress.service)
  const reached = new Promise<void>((done) => barrier.set(at, done))
  const id = await startRun(progress.service)
  await reached
  await progress.service.kill()

  barrier.set(Number.POSITIVE_INFINITY, () => {})
  progress.service = await progress.restart()
  const { service } = progress
  const killed = await showRun(service, id)
  const before = await readStored(service)
  const shown = [killed.status, killed.changed ?? 0].join()
  // The run may have ended in the last moments.
  const isEnd = killed.status === 'done' && killed.steps_done === undisturbed.steps
  check(isEnd || killed.status === 'running', `${label}: the killed run is ${killed.status}`)
  check((killed.changed ?? 0) === countOf(before), `${label}: ${shown} of ${countOf(before)}`)
  await service.runCron(21)
  const run = await waitForEnd(service, id)
  const rows = await readStored(service)
  check(run.status === 'done', `${label}: the run is ${run.status}`)
  check(run.steps_done === undisturbed.steps, `${label}: ${run.steps_done} steps are done`)
  check(run.changed === undisturbed.statements, `${label}: ${run.changed} statements are counted`)
  check(isEqual(contentOf(rows), undisturbed.content), `${label}: the statements differ`)
  const texts = new Set(rows.map((row) => JSON.stringify(row)))
  const again = before.filter((row) => !texts.has(JSON.stringify(row)))
  check(again.length === 0, `${label}: ${again.length} rows were stored twice`)
  return `Killed at ${label}: ${killed.steps_done} steps done, ${countOf(before)} statements stored.`
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i])

await runProgram(
  import.meta.url,
  'Kills workerd at each call of a statement run and checks that the run is resumed.',
  { every: { help: 'kills at one call in so many', value: 1, least: 1, most: 1000 } },
  proveRuns,
)
