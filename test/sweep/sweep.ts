import { describe, expect, test, vi } from 'vitest'
import { endure, endureEach, rehearse, unchanged } from './endure.ts'
import {
  evicted,
  type Fault,
  fewOf,
  isReading,
  newCallSites,
  oneLasting,
  oneOf,
  type Place,
} from './faults.ts'
import { ROUTES, type Route } from './routes.ts'

/** The number of faults at the same time, each in its own account. */
const AT_ONCE = 6

/** The most faults that one account meets if each request counts as ten. */
const OF_WEIGHTED = 80

/** Where a call is in its request: whether a call before it may have stored something, and whether it is the last. */
interface Moment {
  readonly hasStored: boolean
  readonly isLast: boolean
}

/** Returns the faults that a request meets at one of its calls. */
type FaultsOf = (place: Place, route: Route, moment: Moment) => Fault[]

/** Returns the faults that a request meets at its calls. */
function faultsAt(calls: readonly Place[], route: Route, faultsOf: FaultsOf): Fault[] {
  let hasStored = false
  return calls.flatMap((place, i) => {
    const faults = faultsOf(place, route, { hasStored, isLast: i === calls.length - 1 })
    hasStored ||= !isReading(place)
    return faults
  })
}

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
    faults: faultsAt(calm.calls, route, faultsOf),
    run: (fault: Fault) => endure(route, calm, [[fault]]).catch((error) => note(fault, error)),
    runEach: async (faults: Fault[]) => {
      while (faults.length > 0) {
        let fault: Fault | undefined
        let left = route.weighs ? OF_WEIGHTED : Number.POSITIVE_INFINITY
        // A try that has taken effect is followed by one without faults.
        const nextPlan = (done: number) => {
          const next = done === 0 && left-- > 0 ? faults.shift() : undefined
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
async function sweep(route: Route, faultsOf: FaultsOf) {
  const { faults, run, runEach, broken, end, calls } = await rehearsed(route, faultsOf)
  const together = faults.filter(({ alone }) => !alone)
  const curable = together.filter((fault) => !isFatal(fault))
  await runEach(together.filter(isFatal))
  while (curable.length > 0) await Promise.all(curable.splice(0, AT_ONCE).map(run))
  await runEach(faults.filter(({ alone }) => alone))
  expect(broken).toEqual([])
  await end()
  return calls
}

/** Returns routes by their names. */
export const routes = (...ids: string[]) => ROUTES.filter(({ id }) => ids.includes(id))

/**
 * Sweeps these routes: a call fails, a table is missing, an object is aborted or evicted. The first
 * request that reaches a call site meets all these faults there. A later request that writes meets one fault at each
 * call that writes, or that comes after one, unless it goes on where it failed; one that reads meets a lasting fault at
 * its last call.
 */
export function eachFails(swept: Route[]) {
  const isNew = newCallSites()
  /** The swept routes, each with whether it calls an object, and whether that call site is new. */
  const objects = new Map<Route, { isCalled: boolean; isNew: boolean }>()
  const isNewObject = newCallSites()

  describe('a failing call, a missing table or an aborted object', () => {
    for (const route of swept) {
      test([route.id, route.way].filter(Boolean).join(', '), async () => {
        const calls = await sweep(route, (place, { writes, partly }, { hasStored, isLast }) => {
          if (isNew(place)) return fewOf(place)
          if (writes) return !partly && (hasStored || !isReading(place)) ? [oneOf(place)] : []
          return isLast ? [oneLasting(place)] : []
        })
        const found = calls.filter(({ stub }) => stub).map(isNewObject)
        objects.set(route, { isCalled: found.length > 0, isNew: found.includes(true) })
      })
    }
  })

  // An eviction waits until the object is idle, that of a token until its lease is closed.
  test('the eviction of an object before its call changes no response', async () => {
    const isNew = newCallSites()
    const all: Awaited<ReturnType<typeof rehearsed>>[] = []
    const callers = swept.filter((route) => objects.get(route)?.isNew !== false)
    for (const route of callers) {
      all.push(await rehearsed(route, (place) => (isNew(place) ? evicted(place) : [])))
    }
    await Promise.all(all.flatMap(({ faults, run }) => faults.map(run)))
    expect(all.flatMap(({ broken }) => broken)).toEqual([])
    const withAccount = swept.filter(({ as }) => /account|client|affiliate/.test(as))
    const unmet = withAccount.filter((route) => objects.get(route)?.isCalled === false)
    expect(unmet, 'each caller with an account uses an object').toEqual([])
    for (const { end } of all) await end()
  })
}
