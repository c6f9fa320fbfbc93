import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { printToTerminal } from '../secrecy.ts'
import { endure, rehearse, unchanged } from './endure.ts'
import { allOf, type Fault, lastingOf, onceOf } from './faults.ts'
import { breachesOf, meetingsOf } from './races.ts'
import { SWEPT } from './sweep.ts'

// A second fault during a retry of the service or of the client, every fault at every call of every route, and all
// requests that meet. `npm run chaos -- pairs` runs this in parts, because each object of a run keeps a file open.

const EVERY = Number(import.meta.env.VITE_EVERY ?? 1)
const [PART = 0, PARTS = 1] = import.meta.env.VITE_PART?.split('/').map(Number) ?? []
const routes = SWEPT.filter((_, i) => i % PARTS === PART)
const AT_ONCE = 8

let tested = 0
let skipped = 0

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterAll(() => {
  printToTerminal(`sweep: ${tested} combinations tested, ${skipped} left out`)
})

/** The faults of each try of a request. */
type Plan = Fault[][]

test.each(routes.filter(({ writes }) => writes))('$id withstands two faults', async (route) => {
  const calm = await rehearse(route, 3)
  const { calls } = calm
  const plans = calls.flatMap((first, i) => [
    // During the retry of the service: the same call again, or a later one.
    ...onceOf(first).flatMap((fault): Plan[] =>
      [{ ...first, nth: first.nth + 1 }, ...calls.slice(i + 1)].flatMap((second) =>
        [...onceOf(second), ...lastingOf(second)].map((other) => [[fault, other]]),
      ),
    ),
    // During the retry of the client.
    ...lastingOf(first).flatMap((fault): Plan[] =>
      calls.flatMap((second) =>
        [...onceOf(second), ...lastingOf(second)].map((other) => [[fault], [other]]),
      ),
    ),
  ])
  await all(plans, (plan) => endure(route, calm, plan))
})

test('pairs of requests that meet are as if one came after the other', async () => {
  const meetings = (await meetingsOf(SWEPT)).filter((_, i) => i % (PARTS * EVERY) === PART)
  tested += meetings.length
  expect(await breachesOf(meetings)).toEqual([])
})

test.each(routes)('$id withstands every single fault', async (route) => {
  const calm = await rehearse(route)
  const faults = calm.calls.flatMap(allOf)
  const run = (fault: Fault) => endure(route, calm, [[fault]])
  const together = faults.filter(({ alone }) => !alone)
  const alone = faults.filter((fault) => fault.alone)
  await all(together, run)
  await all(alone, run, 1)
  if (!route.writes) await unchanged(calm)
})

async function all<T extends Plan | Fault>(
  cases: T[],
  run: (item: T) => Promise<void>,
  atOnce = AT_ONCE,
) {
  const chosen = cases.filter((_, i) => (i + tested) % EVERY === 0)
  skipped += cases.length - chosen.length
  const broken: string[] = []
  while (chosen.length > 0) {
    const batch = chosen.splice(0, atOnce)
    tested += batch.length
    await Promise.all(
      batch.map((item) =>
        run(item).catch((error) => {
          const plan = [item].flat(2).map(({ call, nth, is }) => `${call} (${nth}), ${is}`)
          broken.push(`${plan.join(' + ')}: ${error.message}`)
        }),
      ),
    )
  }
  expect(broken).toEqual([])
}
