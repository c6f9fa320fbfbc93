import { describe, expect, test, vi } from 'vitest'
import { endure, rehearse, unchanged } from './endure.ts'
import { type Fault, fewOf, type Place, unmigrated, vanishing } from './faults.ts'
import { ROUTES, type Route } from './routes.ts'

// Only what hangs is ended: some routes meet seventy faults, each in an account of its own.
vi.setConfig({ testTimeout: 300_000 })

/** So many faults meet at once, each of them an account of its own. */
const AT_ONCE = 6

/** Sends one request into each of these faults. */
export async function sweep(route: Route, faultsOf: (place: Place) => Fault[]) {
  // Our retry waits for a moment of chance: here for none.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const calm = await rehearse(route)
  expect(calm.said[0]!.status).toBeLessThan(400)
  if (!route.writes) expect(calm.states[1]).toEqual(calm.states[0])
  else if (!route.anew) expect(calm.states[2]!.lasting).toEqual(calm.states[1]!.lasting)

  const broken: string[] = []
  const meet = async (fault: Fault) => {
    await endure(route, calm, [[fault]]).catch((error) => {
      broken.push(`${fault.call} (${fault.nth}), ${fault.is}: ${error.message}`)
    })
  }
  const faults = calm.calls.flatMap(faultsOf)
  const together = faults.filter(({ alone }) => !alone)
  while (together.length > 0) await Promise.all(together.splice(0, AT_ONCE).map(meet))
  for (const fault of faults.filter(({ alone }) => alone)) await meet(fault)
  expect(broken).toEqual([])
  if (!route.writes) await unchanged(calm)
  return faults.length
}

/** Routes by their names. */
export const routes = (...ids: string[]) => ROUTES.filter(({ id }) => ids.includes(id))

/** Sweeps these routes: a call that fails, and a table that it names and that is not there yet. */
export const eachFails = (which: (route: Route) => boolean) =>
  describe('a call that fails, and a table that is not there yet', () => {
    test.each(ROUTES.filter(which))('$id', async (route) => {
      await sweep(route, (place) => [...fewOf(place), ...unmigrated(place)])
    })
  })

/** Sweeps these routes: an object that is evicted before it is asked, and aborted while it is. */
export const eachVanishes = (...ids: string[]) =>
  describe('an object that is evicted before it is asked, and aborted while it is', () => {
    test.each(routes(...ids))('$id', async (route) => {
      expect(await sweep(route, vanishing)).toBeGreaterThan(0)
    })
  })
