import type { Contestant, Phase } from './contestants.ts'
import type { Timing } from './figures.ts'
import { send } from './http.ts'
import { type Bulk, withStatus } from './records.ts'
import type { Scale } from './scale.ts'

/** The times of all contestants, by name and phase. */
export type Results = Map<string, Record<Phase, Timing>>

/**
 * Lets the contestants take turns in storing the same bulks, so that other load affects them alike.
 * Warm-ups are rounds that are not counted.
 */
export async function compete(
  contestants: readonly Contestant[],
  bulks: readonly Bulk[],
  { rounds, warmUps }: Pick<Scale, 'rounds' | 'warmUps'>,
): Promise<Results> {
  const results: Results = new Map(contestants.map(({ name }) => [name, untimed()]))
  const ignored: Results = new Map(contestants.map(({ name }) => [name, untimed()]))
  for (let round = 0; round < warmUps + rounds; round++) {
    const first = round % contestants.length
    const order = [...contestants.slice(first), ...contestants.slice(0, first)]
    await runRound(order, bulks, round < warmUps ? ignored : results)
  }
  return results
}

/** Returns the bulks of each phase. The replay repeats the update. */
export function phasesOf(bulks: readonly Bulk[]): Record<Phase, readonly Bulk[]> {
  const approved = withStatus('approved', bulks)
  return { insert: bulks, update: approved, replay: approved }
}

async function runRound(order: readonly Contestant[], bulks: readonly Bulk[], results: Results) {
  for (const contestant of order) await contestant.renew()
  for (const [phase, sent] of Object.entries(phasesOf(bulks)) as [Phase, readonly Bulk[]][]) {
    for (const { name } of order) results.get(name)![phase].rounds.push([])
    // Contestants take turns after each bulk, so that other load affects them alike.
    for (const bulk of sent) {
      for (const contestant of order) {
        await time(contestant, phase, bulk, results.get(contestant.name)![phase])
      }
    }
  }
  for (const { name, stored } of order) {
    const n = await stored('approved')
    if (n !== recordsOf(bulks)) throw new Error(`${name} has stored ${n} records.`)
  }
}

async function time({ store, cpu }: Contestant, phase: Phase, bulk: Bulk, timing: Timing) {
  const cpuBefore = cpu() ?? Number.NaN
  const started = performance.now()
  await store(bulk, phase)
  timing.rounds.at(-1)!.push(performance.now() - started)
  timing.cpuMs += (cpu() ?? Number.NaN) - cpuBefore
  timing.requests += 1
}

const recordsOf = (bulks: readonly Bulk[]) =>
  bulks.reduce((sum, { records }) => sum + records.length, 0)

/** Measures requests without a body, one after the other. */
export async function timeRoute(
  { cpu }: Pick<Contestant, 'cpu'>,
  requests: number,
  url: URL,
  headers = {},
): Promise<Timing> {
  const times: number[] = []
  const cpuBefore = cpu()
  for (let i = 0; i < requests; i++) {
    const started = performance.now()
    await send(url, { headers })
    times.push(performance.now() - started)
  }
  const cpuMs = (cpu() ?? Number.NaN) - (cpuBefore ?? Number.NaN)
  return { rounds: [times], cpuMs, requests }
}

const untimed = (): Record<Phase, Timing> => ({
  insert: { rounds: [], cpuMs: 0, requests: 0 },
  update: { rounds: [], cpuMs: 0, requests: 0 },
  replay: { rounds: [], cpuMs: 0, requests: 0 },
})
