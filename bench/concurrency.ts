import {
  type Chapter,
  formatHundredths,
  formatInteger,
  formatTenths,
  type Table,
} from './chapter.ts'
import type { Contestant } from './contestants.ts'
import { median, percentile } from './figures.ts'
import { type Bulk, newBulks } from './records.ts'
import type { World } from './world.ts'

/** The number of concurrent requests, and of records in each. */
const LEVELS = [1, 8, 32]
const SIZES = [1, 100]

/** The times of one contestant at one level: of each request and of each round. */
interface Latencies {
  each: number[]
  rounds: number[]
}

/** Measures the latency of concurrent callers. */
export async function concurrency({ scale, peers }: World): Promise<Chapter> {
  const contestants = await peers()
  const tables: Table[] = []
  for (const size of SIZES) {
    const bulks = newBulks(Math.ceil(scale.requests / 4), size)
    const levels: Map<string, Latencies>[] = []
    for (const level of LEVELS)
      levels.push(await measureLevel(contestants, bulks, level, scale.rounds))
    const head = LEVELS.map((level) => `${level} at a time`)
    const rows = (text: (waits: Latencies) => string) =>
      contestants.map(({ name }) => [name, ...levels.map((waits) => text(waits.get(name)!))])
    const what = size === 1 ? 'single records' : `bulks of ${size}`
    tables.push(
      [
        [`${what}, ms: p50 / p99`, ...head],
        ...rows(
          ({ each }) =>
            `${formatTenths(percentile(each, 0.5))} / ${formatTenths(percentile(each, 0.99))}`,
        ),
      ],
      [
        [`${what}, requests/s`, ...head],
        ...rows(({ rounds }) => formatInteger((bulks.length * 1000) / median(rounds))),
      ],
      [
        [`${what}, ratio of requests/s, round by round`, ...head],
        ...contestants.slice(1).map(({ name }) => [
          `ours ÷ ${name}`,
          ...levels.map((waits) => {
            const ours = waits.get(contestants[0]!.name)!.rounds
            return formatHundredths(median(waits.get(name)!.rounds.map((ms, i) => ms / ours[i]!)))
          }),
        ]),
      ],
    )
  }
  return {
    title: 'Requests at the same time',
    notes: `New records, ${scale.rounds} rounds of ${Math.ceil(scale.requests / 4)} requests at each level. The contestants take turns, and each starts with an empty store. The driver is one process on the same machine and shares its cores.`,
    tables,
  }
}

async function measureLevel(
  contestants: readonly Contestant[],
  bulks: readonly Bulk[],
  level: number,
  rounds: number,
): Promise<Map<string, Latencies>> {
  const waits = new Map(
    contestants.map(({ name }) => [name, { each: [], rounds: [] } as Latencies]),
  )
  for (let round = 0; round < rounds; round++) {
    const first = round % contestants.length
    for (const one of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      await one.renew()
      const { each, rounds } = waits.get(one.name)!
      const started = performance.now()
      each.push(...(await together(one, bulks, level)))
      rounds.push(performance.now() - started)
    }
  }
  return waits
}

/** Runs callers that each send the next request once the last is answered. */
async function together({ store }: Contestant, bulks: readonly Bulk[], level: number) {
  const waiting = [...bulks]
  const times: number[] = []
  const caller = async () => {
    for (let bulk = waiting.pop(); bulk; bulk = waiting.pop()) {
      const started = performance.now()
      await store(bulk, 'insert')
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: level }, caller))
  return times
}
