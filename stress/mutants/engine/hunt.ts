import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Mutant } from '../catalog.ts'
import type { HuntResult } from '../plan.ts'
import { bundleEngine } from './bundle.ts'
import type { WorkerInput } from './worker.ts'

// The engine needs no runtime but Node. Its mutants are hunted in threads, many times as fast as in
// workerd: by examples, by random worlds in which it must agree with the oracle, and by the books of
// random worlds, which must keep their laws.

const FOLDER = 'src/commission/engine/'

/** The files of the engine that explain results, word or simulate them. Their tests run inside workerd. */
const EXPLAINS =
  /\/(?:explain|trace|reasons|earnings|unearned|once-report|once-through|fact-needs|fact-reports|simulation|unit-earnings|\w+-words)/

/** The number of random worlds that hunt, and the seed of the first. */
const WORLDS = 250
const FIRST_SEED = 3_000_000

const SEEDS = Array.from({ length: WORLDS }, (_, index) => FIRST_SEED + index)

/** The number of random worlds whose books hunt, if they are short. */
const BOOKS = 60

/** Whether a mutant is in a part of the engine that decides what is paid. */
export const isOfEngine = ({ file }: Mutant): boolean =>
  file.startsWith(FOLDER) && !EXPLAINS.test(file)

/** Hunts mutants of the engine, and adds their results. */
export async function huntEngine(
  source: ReadonlyMap<string, string>,
  mutants: readonly Mutant[],
  results: Map<string, HuntResult>,
): Promise<void> {
  if (mutants.length === 0) return
  const script = await bundleEngine(source)
  const input: WorkerInput = { script, seeds: SEEDS, bookSeeds: SEEDS.slice(0, BOOKS) }
  const waiting = mutants.map(({ id }) => id)
  const clock = setInterval(() => {
    console.log(`The engine: ${waiting.length} of ${mutants.length} mutants are left`)
  }, 30_000)
  const threads = Array.from({ length: Math.max(1, availableParallelism() - 1) }, () =>
    runThread(input, waiting, results),
  )
  await Promise.all(threads)
  clearInterval(clock)
}

/** Lets a thread take mutants from the list until none is left. */
function runThread(
  workerData: WorkerInput,
  waiting: string[],
  results: Map<string, HuntResult>,
): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData })
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', (message: 'ready' | HuntResult | null) => {
      if (message !== null && message !== 'ready') results.set(message.mutant, message)
      const mutant = waiting.shift()
      if (mutant !== undefined) worker.postMessage(mutant)
      else resolve(worker.terminate().then(() => {}))
    })
  })
}
