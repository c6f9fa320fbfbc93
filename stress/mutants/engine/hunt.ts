import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Mutant } from '../catalog.ts'
import type { HuntResult } from '../plan.ts'
import { bundleEngine } from './bundle.ts'
import type { WorkerInput } from './worker.ts'

// The engine needs no runtime but Node. Its mutants are hunted in threads, a hundred times as fast as
// in workerd: by the tests by example, and by random worlds.

/** The folder of the engine within `src`. */
export const ENGINE_ROOM = 'commission/engine'

/** The number of random worlds that hunt. */
const WORLDS = 250

const SEEDS = Array.from({ length: WORLDS }, (_, index) => 3_000_000 + index)

/** Whether a mutant is in the engine. */
export const isOfEngine = ({ room }: Mutant): boolean => room === ENGINE_ROOM

/** Hunts mutants of the engine, and adds their results. */
export async function huntEngine(
  source: ReadonlyMap<string, string>,
  mutants: readonly Mutant[],
  results: Map<string, HuntResult>,
): Promise<void> {
  if (mutants.length === 0) return
  const input: WorkerInput = { script: await bundleEngine(source), seeds: SEEDS }
  const waiting = mutants.map(({ id }) => id)
  const threads = Array.from({ length: Math.max(1, availableParallelism() - 1) }, () =>
    runThread(input, waiting, results),
  )
  await Promise.all(threads)
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
