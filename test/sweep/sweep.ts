import { describe, expect, test, vi } from 'vitest'
import { endure, rehearse, unchanged } from './endure.ts'
import { aborted, evicted, type Fault, fewOf, type Place, unmigrated } from './faults.ts'
import { ROUTES, type Route } from './routes.ts'

// Only what hangs is ended: some routes meet seventy faults, each in an account of its own.
vi.setConfig({ testTimeout: 300_000 })

/** So many faults meet at once, each of them an account of its own. */
const AT_ONCE = 6

/** What one route is to meet, and how it goes when nothing fails. */
async function rehearsed(route: Route, faultsOf: (place: Place) => Fault[]) {
  // Our retry waits for a moment of chance: here for none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const calm = await rehearse(route)
  expect(calm.said[0]!.status).toBeLessThan(400)
  if (!route.writes) expect(calm.states[1]).toEqual(calm.states[0])
  else if (!route.anew) expect(calm.states[2]!.lasting).toEqual(calm.states[1]!.lasting)

  const broken: string[] = []
  return {
    broken,
    faults: calm.calls.flatMap(faultsOf),
    meet: (fault: Fault) =>
      endure(route, calm, [[fault]]).catch((error) => {
        broken.push(`${route.id}: ${fault.call} (${fault.nth}), ${fault.is}: ${error.message}`)
      }),
    end: () => (route.writes ? undefined : unchanged(calm)),
  }
}

/** Sends one request into each of these faults. */
export async function sweep(route: Route, faultsOf: (place: Place) => Fault[]) {
  const { faults, meet, broken, end } = await rehearsed(route, faultsOf)
  const together = faults.filter(({ alone }) => !alone)
  while (together.length > 0) await Promise.all(together.splice(0, AT_ONCE).map(meet))
  for (const fault of faults.filter(({ alone }) => alone)) await meet(fault)
  expect(broken).toEqual([])
  await end()
}

/** Routes by their names. */
export const routes = (...ids: string[]) => ROUTES.filter(({ id }) => ids.includes(id))

/** Sweeps these routes: a call that fails, a table that it names and that is not there yet, an object that goes. */
export function eachFails(swept: Route[]) {
  describe('a call that fails, a table that is not there yet, an object that is aborted', () => {
    for (const route of swept) {
      test([route.id, route.way].filter(Boolean).join(', '), async () => {
        await sweep(route, (place) => [...fewOf(place), ...unmigrated(place), ...aborted(place)])
      })
    }
  })

  // Who evicts an object waits until it rests, a token's until its lease is closed: here all at once.
  test('an object of theirs that is evicted before it is asked', async () => {
    const all: Awaited<ReturnType<typeof rehearsed>>[] = []
    for (const route of swept) all.push(await rehearsed(route, evicted))
    await Promise.all(all.flatMap(({ faults, meet }) => faults.map(meet)))
    expect(all.flatMap(({ broken }) => broken)).toEqual([])
    const unmet = swept.filter(({ as }, i) => /account|client/.test(as) && !all[i]!.faults[0])
    expect(unmet, 'who asks for an account is known by an object').toEqual([])
    for (const { end } of all) await end()
  })
}
