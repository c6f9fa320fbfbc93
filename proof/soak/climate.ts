import { mib, residentOf, watchHeap } from '../memory.ts'
import type { Service } from '../service.ts'

/** What was held at one moment (ms): bytes of the process, and of its isolate's heap and buffers. */
interface Sample {
  at: number
  resident: number
  heap: number
}

/** Looks at memory while a soak runs. */
export interface Climate {
  end: () => void
  samples: readonly Sample[]
}

const LOOK_MS = 1000

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
  // Once the load is over the isolate has no moment any more: nobody waits for the last look.
  look().catch(() => {})
  return {
    samples,
    end: () => {
      isOver = true
      end()
    },
  }
}

/** How much a measure grew over the second half, as a share of its middle there: by least squares. */
export function growthOf(samples: readonly Sample[], name: 'resident' | 'heap'): number {
  const half = samples.slice(samples.length >> 1)
  const mean = (list: readonly number[]) => list.reduce((sum, n) => sum + n, 0) / list.length
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((one) => one[name]))]
  const above = half.reduce((sum, one) => sum + (one.at - x) * (one[name] - y), 0)
  const below = half.reduce((sum, { at }) => sum + (at - x) ** 2, 0)
  return ((above / below) * (half.at(-1)!.at - half[0]!.at)) / y
}
