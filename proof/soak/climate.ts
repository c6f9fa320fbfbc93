import { type Heap, mib, residentOf, watchHeap } from '../memory.ts'
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

const LOOK_MS = 250
const SHOWN = 20

/**
 * Looks four times a second. What is used of a heap is a saw: of each step its least is taken, which
 * is what was left after a collection.
 */
export async function watchClimate(
  service: Service,
  stepMs: number,
  say: (line: string) => void,
): Promise<Climate> {
  const { heap, end } = await watchHeap(service)
  const [pid] = service.pids
  const samples: Sample[] = []
  let step: Sample[] = []
  let isOver = false
  const started = Date.now()
  const look = async () => {
    for (;;) {
      const { used, buffers }: Heap = await heap()
      if (isOver) return
      step.push({
        at: Date.now() - started,
        resident: residentOf(pid!).now,
        heap: used + buffers,
      })
      if (Date.now() - started >= (samples.length + 1) * stepMs) {
        const least = Math.min(...step.map((one) => one.heap))
        const { at, resident } = step.at(-1)!
        samples.push({ at, resident, heap: least })
        step = []
        if (samples.length % Math.ceil(60_000 / stepMs / SHOWN) === 0) {
          say(
            `  ${(at / 1000).toFixed(0).padStart(4)} s: process ${mib(resident)}, heap ${mib(least)}`,
          )
        }
      }
      await new Promise((done) => setTimeout(done, LOOK_MS))
    }
  }
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
