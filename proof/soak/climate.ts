import { mib, residentOf, watchHeap } from '../memory.ts'
import type { Setting } from '../program.ts'
import type { Service } from '../service.ts'

/** What was held at one moment (ms): bytes of the process, and of its isolate's heap and buffers. */
interface Sample {
  at: number
  resident: number
  heap: number
}

/** Looks at memory while a soak runs. */
export interface Climate {
  end: () => Promise<void>
  samples: readonly Sample[]
  /** For how long it was to be looked, in ms. */
  lengthMs: number
  /** Why nobody looked any more, before the end; null: somebody did. */
  failure: () => unknown
}

const LOOK_MS = 1000

/** An isolate that has much to do is late to answer; below this share of the time it proves nothing. */
const LEAST_COVERED = 0.9

/** So many ms pass between two looks at most, on average. */
const MEAN_MS = 5000

/** A process goes on taking memory until its caches are full: sooner it proves nothing. */
const WARM_MS = 300_000

/** So many of the samples are shown, at least. */
const SHOWN = 10

/** Looks once a second, each time after all garbage is collected: what is left is what is held. */
export async function watchClimate(
  service: Service,
  lengthMs: number,
  say: (line: string) => void,
): Promise<Climate> {
  const { collected, end } = await watchHeap(service)
  const [pid] = service.pids
  const samples: Sample[] = []
  let isOver = false
  let failure: unknown = null
  const started = Date.now()
  const look = async () => {
    while (!isOver) {
      const { used, buffers } = await collected()
      const at = Date.now() - started
      const sample = { at, resident: residentOf(pid!).now, heap: used + buffers }
      if (
        at >=
        (Math.floor((samples.at(-1)?.at ?? 0) / (lengthMs / SHOWN)) + 1) * (lengthMs / SHOWN)
      ) {
        say(
          `  ${(at / 1000).toFixed(0).padStart(4)} s: process ${mib(sample.resident)}, heap ${mib(sample.heap)}`,
        )
      }
      samples.push(sample)
      await new Promise((done) => setTimeout(done, LOOK_MS))
    }
  }
  const looking = look().catch((error) => {
    // Once the load is over the isolate has no moment any more: nobody waits for the last look.
    if (!isOver) failure = error
  })
  return {
    samples,
    lengthMs,
    failure: () => failure,
    end() {
      isOver = true
      end()
      return looking
    },
  }
}

/** Holds memory to be flat over the second half, and the looks at it to have gone on until the end. */
export function judgeMemory(
  { hold, say }: Setting,
  { samples, lengthMs, failure }: Climate,
  limits: { heap: number; process: number },
): void {
  const [first, last] = [samples[0], samples.at(-1)]
  const covered = first && last ? last.at - first.at : 0
  const seconds = (ms: number) => `${(ms / 1000).toFixed(0)} s`
  const looks = `memory was looked at ${samples.length} times within ${seconds(covered)} of ${seconds(lengthMs)}`
  say(`${looks.replace('m', 'M')}.`)
  hold(!failure(), `nobody could look at memory any more: ${failure()}`)
  const isEnough = covered >= LEAST_COVERED * lengthMs && samples.length >= lengthMs / MEAN_MS
  if (!hold(isEnough, `${looks}: too little to judge it`)) return
  const judged = (name: 'heap' | 'resident', title: string, limit: number, isJudged: boolean) => {
    const percent = growthOf(samples, name) * 100
    const words = `${title} grew by ${percent.toFixed(1)} % over the second half`
    if (isJudged) hold(percent <= limit, `${words}, of at most ${limit} %`)
    const verdict = isJudged ? `at most ${limit} %` : `not judged below ${seconds(WARM_MS)}`
    say(
      `${mib(first![name])} at the beginning, ${mib(last![name])} at the end; ${words} (${verdict}).`,
    )
  }
  judged('resident', 'the process', limits.process, lengthMs >= WARM_MS)
  judged('heap', "the isolate's heap", limits.heap, true)
}

/** How much a measure grew over the second half, as a share of its middle there: by least squares. */
function growthOf(samples: readonly Sample[], name: 'resident' | 'heap'): number {
  const half = samples.slice(samples.length >> 1)
  const mean = (list: readonly number[]) => list.reduce((sum, n) => sum + n, 0) / list.length
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((one) => one[name]))]
  const above = half.reduce((sum, one) => sum + (one.at - x) * (one[name] - y), 0)
  const below = half.reduce((sum, { at }) => sum + (at - x) ** 2, 0)
  return ((above / below) * (half.at(-1)!.at - half[0]!.at)) / y
}
