import { expect, test, vi } from 'vitest'
import { endure, endureEach, rehearse, unchanged } from './endure.ts'
import { allOf, draw, evicted, type Fault, newCallSites, type Place } from './faults.ts'
import { ROUTES, type Route } from './routes.ts'
import { WAYS } from './ways.ts'

/** The number of faults at the same time, each in its own account. */
const AT_ONCE = 6

/** Requests of an account whose records are in the second database and its settings in the first. */
const ELSEWHERE = [
  ...['sendForexTransactions', 'listForexTransactions', 'sendIgamingActivities'],
  ...['createLink', 'putAffiliates', 'resetAccount'],
]

/** All requests that are swept. */
export const SWEPT: readonly Route[] = [
  ...ROUTES,
  ...WAYS,
  ...ROUTES.filter(({ id }) => ELSEWHERE.includes(id)).map(
    (route): Route => ({ ...route, binding: 'DB_2', way: 'in DB_2' }),
  ),
]

/** Returns the faults that a request meets at its calls. */
type FaultsOf = (calls: readonly Place[]) => Fault[]

/** Runs a route without faults and returns the faults that it can meet. */
async function rehearsed(route: Route, faultsOf: FaultsOf) {
  // Without randomness the retry of the service does not wait.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  // A request that only reads has the same answer each time.
  const calm = await rehearse(route, route.writes ? 2 : 1)
  expect(calm.responses[0]!.status).toBeLessThan(400)
  if (!route.writes) expect(calm.states[1]).toEqual(calm.states[0])
  else if (!route.repeats) expect(calm.states[2]!.lasting).toEqual(calm.states[1]!.lasting)

  const broken: string[] = []
  const note = (fault: Fault | undefined, { message }: Error) => {
    broken.push(`${route.id}: ${fault?.call} (${fault?.nth}), ${fault?.is}: ${message}`)
  }
  return {
    broken,
    calls: calm.calls,
    faults: faultsOf(calm.calls),
    run: (fault: Fault) => endure(route, calm, [[fault]]).catch((error) => note(fault, error)),
    runEach: async (faults: Fault[]) => {
      while (faults.length > 0) {
        let fault: Fault | undefined
        // A try that has taken effect is followed by one without faults.
        const nextPlan = (done: number) => {
          const next = done === 0 ? faults.shift() : undefined
          fault = next ?? fault
          return next ? [next] : []
        }
        await endureEach(route, calm, nextPlan).catch((error) => note(fault, error))
      }
    },
    end: () => (route.writes ? undefined : unchanged(calm)),
  }
}

/** Whether the service does not cure a fault, so that it usually answers 503 and stores nothing. */
const isFatal = ({ cured, lasting }: Fault) => !cured || lasting

/**
 * Meets each of these faults in a request. After a fault without effect the next one meets the same
 * account: to create an account takes longer than the request.
 */
async function sweep(route: Route, faultsOf: FaultsOf): Promise<void> {
  const { faults, run, runEach, broken, end } = await rehearsed(route, faultsOf)
  const together = faults.filter(({ alone }) => !alone)
  const curable = together.filter((fault) => !isFatal(fault))
  await runEach(together.filter(isFatal))
  while (curable.length > 0) await Promise.all(curable.splice(0, AT_ONCE).map(run))
  await runEach(faults.filter(({ alone }) => alone))
  expect(broken).toEqual([])
  await end()
}

/** Sweeps some requests, which the day draws: one call of each meets some faults. */
export function sweepDrawn(requests: number, faults: number): void {
  for (const route of draw(SWEPT, requests)) {
    const name = [route.id, route.way].filter(Boolean).join(', ')
    test(`a call of ${name} fails`, () =>
      sweep(route, (calls) => draw(calls, 1).flatMap((place) => draw(allOf(place), faults))))
  }
}

/**
 * Evicts each object before a call, at the first of these requests that makes it. An eviction waits until the
 * object is idle, that of a token until its lease is closed.
 */
export async function evictEach(callers: readonly Route[]): Promise<void> {
  const isNew = newCallSites()
  const all: Awaited<ReturnType<typeof rehearsed>>[] = []
  for (const route of callers) {
    const faultsOf: FaultsOf = (calls) => calls.filter(isNew).flatMap(evicted)
    all.push(await rehearsed(route, faultsOf))
  }
  await Promise.all(all.flatMap(({ faults, run }) => faults.map(run)))
  expect(all.flatMap(({ broken }) => broken)).toEqual([])
  const unmet = callers.filter((_, i) => all[i]!.calls.every(({ stub }) => !stub))
  expect(unmet, 'each of these requests uses an object').toEqual([])
  for (const { end } of all) await end()
}
