import { mib, residentOf, watchHeap } from '../memory.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'

/** Memory at one moment (ms): bytes of the process, and of its isolate's heap and buffers. */
interface Sample {
  at: number
  resident: number
  heap: number
}

/** Samples memory while a soak runs. */
export interface MemorySamples {
  end: () => Promise<void>
  samples: readonly Sample[]
  /** The planned length, in milliseconds. */
  lengthMs: number
  /** The error that ended sampling early, or null. */
  failure: () => unknown
}

const INTERVAL_MS = 1000

/** The least share of the time that samples must cover: a busy isolate answers late. */
const LEAST_COVERED = 0.9

/** The largest mean interval between samples, in milliseconds. */
const MEAN_MS = 5000

/** A shorter soak proves nothing, in milliseconds: a process grows until its caches are full. */
const WARM_MS = 300_000

/** How many of the samples are printed. */
const PRINTED_SAMPLES = 10

/** Samples memory once a second, after a garbage collection. */
export async function sampleMemory(
  service: Service,
  lengthMs: number,
  print: (line: string) => void,
): Promise<MemorySamples> {
  const { collected, end } = await watchHeap(service)
  const [pid] = service.pids
  const samples: Sample[] = []
  let isOver = false
  let failure: unknown = null
  const started = Date.now()
  const takeSamples = async () => {
    while (!isOver) {
      const { used, buffers } = await collected()
      const at = Date.now() - started
      const sample = { at, resident: residentOf(pid!).now, heap: used + buffers }
      if (
        at >=
        (Math.floor((samples.at(-1)?.at ?? 0) / (lengthMs / PRINTED_SAMPLES)) + 1) *
          (lengthMs / PRINTED_SAMPLES)
      ) {
        print(
          `  ${(at / 1000).toFixed(0).padStart(4)} s: process ${mib(sample.resident)}, heap ${mib(sample.heap)}`,
        )
      }
      samples.push(sample)
      await new Promise((done) => setTimeout(done, INTERVAL_MS))
    }
  }
  const sampling = takeSamples().catch((error) => {
    // After the end the inspector may be closed, which fails the last sample.
    if (!isOver) failure = error
  })
  return {
    samples,
    lengthMs,
    failure: () => failure,
    end() {
      isOver = true
      end()
      return sampling
    },
  }
}

/** Checks that memory is flat over the second half, and that there are enough samples. */
export function checkMemory(
  { check, print }: Setting,
  { samples, lengthMs, failure }: MemorySamples,
  limits: { heap: number; process: number },
): void {
  const [first, last] = [samples[0], samples.at(-1)]
  const covered = first && last ? last.at - first.at : 0
  const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`
  const summary = `memory was sampled ${samples.length} times within ${seconds(covered)} of ${seconds(lengthMs)}`
  print(`${summary.replace('m', 'M')}.`)
  check(!failure(), `sampling memory failed: ${failure()}`)
  const isEnough = covered >= LEAST_COVERED * lengthMs && samples.length >= lengthMs / MEAN_MS
  if (!check(isEnough, `${summary}: too few samples to check it`)) return
  const checkGrowth = (
    name: 'heap' | 'resident',
    title: string,
    limit: number,
    isChecked: boolean,
  ) => {
    const percent = growthOf(samples, name) * 100
    const words = `${title} grew by ${percent.toFixed(1)} % over the second half`
    if (isChecked) check(percent <= limit, `${words}, of at most ${limit} %`)
    const condition = isChecked ? `at most ${limit} %` : `not checked below ${seconds(WARM_MS)}`
    print(
      `${mib(first![name])} at the beginning, ${mib(last![name])} at the end; ${words} (${condition}).`,
    )
  }
  checkGrowth('resident', 'the process', limits.process, lengthMs >= WARM_MS)
  checkGrowth('heap', "the isolate's heap", limits.heap, true)
}

/** Returns the growth over the second half as a share of its mean, by least squares. */
function growthOf(samples: readonly Sample[], name: 'resident' | 'heap'): number {
  const half = samples.slice(samples.length >> 1)
  const mean = (list: readonly number[]) => list.reduce((sum, n) => sum + n, 0) / list.length
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((one) => one[name]))]
  const covariance = half.reduce((sum, one) => sum + (one.at - x) * (one[name] - y), 0)
  const variance = half.reduce((sum, { at }) => sum + (at - x) ** 2, 0)
  return ((covariance / variance) * (half.at(-1)!.at - half[0]!.at)) / y
}
