import { afterAll, describe, expect, test, vi } from 'vitest'
import { CURABLE, OVERLOAD } from './faulty.ts'
import { endure, rehearse } from './sweep/endure.ts'
import { allOf, type Fault, fewOf, type Place, unmigrated, vanishing } from './sweep/faults.ts'
import { ROUTES, type Route } from './sweep/routes.ts'
import { operations } from './take.ts'

// Each call of each route to the platform fails in each way there is, before and after its effect.
// What then holds is said in `endure`.

test('no operation of openapi.json is left out', () => {
  const swept = ROUTES.map(({ id }) => id)
  expect([...operations.keys()].filter((id) => !swept.includes(id))).toEqual([])
  expect(new Set(swept).size).toBe(swept.length)
})

/** So many faults meet at once, each of them an account of its own. */
const AT_ONCE = 6

let met = 0
afterAll(() => console.log(`sweep: ${met} faults met`))

// Only what hangs is ended: some routes meet seventy faults, each in an account of its own.
vi.setConfig({ testTimeout: 300_000 })

/** Sends one request into each of these faults. */
async function sweep(route: Route, faultsOf: (place: Place) => Fault[]) {
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
  met += faults.length
  return faults.length
}

const routes = (...ids: string[]) => ROUTES.filter(({ id }) => ids.includes(id))

describe('a call that fails, and a table that is not there yet', () => {
  test.each(ROUTES)('$id', async (route) => {
    await sweep(route, (place) => [...fewOf(place), ...unmigrated(place)])
  })
})

describe('an object that is evicted before it is asked, and aborted while it is', () => {
  const asking = ['getToken', 'revokeToken', 'revokeClient', 'regenerateBrandToken']
  const journal = ['eraseCustomer', 'replayErasures']
  test.each(routes('sendForexCustomers', ...asking, ...journal))('$id', async (route) => {
    expect(await sweep(route, vanishing)).toBeGreaterThan(0)
  })
})

describe(`each of the ${CURABLE.length + OVERLOAD.length} faults of D1, and all of objects`, () => {
  test.each(routes('sendForexTransactions', 'listForexTransactions'))('$id', async (route) => {
    await sweep(route, allOf)
  })
})
