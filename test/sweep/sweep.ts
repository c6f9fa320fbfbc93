import { describe, expect, test, vi } from 'vitest'
import { endure, rehearse, unchanged } from './endure.ts'
import { aborted, evicted, type Fault, fewOf, type Place, unmigrated } from './faults.ts'
import { ROUTES, type Route } from './routes.ts'

// The limit ends only tests that hang: some routes meet fifty faults, each in its own account.
vi.setConfig({ testTimeout: 300_000 })

/** The number of faults at the same time, each in its own account. */
const AT_ONCE = 6

/** Runs a route without faults and returns the faults that it can meet. */
async function rehearsed(route: Route, faultsOf: (place: Place) => Fault[]) {
  // Without randomness the retry of the service does not wait.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const calm = await rehearse(route)
  expect(calm.responses[0]!.status).toBeLessThan(400)
  if (!route.writes) expect(calm.states[1]).toEqual(calm.states[0])
  else if (!route.repeats) expect(calm.states[2]!.lasting).toEqual(calm.states[1]!.lasting)

  const broken: string[] = []
  return {
    broken,
    faults: calm.calls.flatMap(faultsOf),
    run: (fault: Fault) =>
      endure(route, calm, [[fault]]).catch((error) => {
        broken.push(`${route.id}: ${fault.call} (${fault.nth}), ${fault.is}: ${error.message}`)
      }),
    end: () => (route.writes ? undefined : unchanged(calm)),
  }
}

/** Sends a request for each of these faults. */
export async function sweep(route: Route, faultsOf: (place: Place) => Fault[]) {
  const { faults, run, broken, end } = await rehearsed(route, faultsOf)
  const together = faults.filter(({ alone }) => !alone)
  while (together.length > 0) await Promise.all(together.splice(0, AT_ONCE).map(run))
  for (const fault of faults.filter(({ alone }) => alone)) await run(fault)
  expect(broken).toEqual([])
  await end()
}

/** Returns routes by their names. */
export const routes = (...ids: string[]) => ROUTES.filter(({ id }) => ids.includes(id))

/** Sweeps these routes: a call fails, a table is missing, an object is aborted or evicted. */
export function eachFails(swept: Route[]) {
  describe('a failing call, a missing table or an aborted object', () => {
    for (const route of swept) {
      test([route.id, route.way].filter(Boolean).join(', '), async () => {
        await sweep(route, (place) => [...fewOf(place), ...unmigrated(place), ...aborted(place)])
      })
    }
  })

  // An eviction waits until the object is idle, that of a token until its lease is closed.
  test('the eviction of an object before its call changes no response', async () => {
    const all: Awaited<ReturnType<typeof rehearsed>>[] = []
    for (const route of swept) all.push(await rehearsed(route, evicted))
    await Promise.all(all.flatMap(({ faults, run }) => faults.map(run)))
    expect(all.flatMap(({ broken }) => broken)).toEqual([])
    const unmet = swept.filter(({ as }, i) => /account|client/.test(as) && !all[i]!.faults[0])
    expect(unmet, 'each caller with an account uses an object').toEqual([])
    for (const { end } of all) await end()
  })
}
