import { expect, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { operations } from '../requests.ts'
import { draw } from '../sweep/faults.ts'
import { breachesOf, meetingsOf } from '../sweep/races.ts'
import { ROUTES } from '../sweep/routes.ts'
import { evictEach, SWEPT, sweepDrawn } from '../sweep/sweep.ts'

watchMarks()

// Calls to the platform meet faults: a lost response, an overload, a missing table, an object that is evicted or
// aborted, once or for good. `endure` asserts the result. Or they meet another request: see `breachesOf`.
// messages.test.ts covers the other error messages; `npm run chaos -- pairs` tries everything at each call of each
// operation, and all requests that meet.

test('the sweep covers every operation of openapi.json, each way once', () => {
  const swept = ROUTES.map(({ id }) => id)
  const missing = [...operations.keys()].filter((id) => !swept.includes(id))
  expect(missing, 'add them to test/sweep/routes.ts').toEqual([])
  const ways = ROUTES.map(({ id, way }) => `${id} ${way ?? ''}`)
  expect(new Set(ways).size).toBe(ways.length)
})

sweepDrawn(6, 3)

/** The pairs of requests that the seed draws; `npm run chaos -- pairs` has all. */
const PAIRS = 60

test(`${PAIRS} pairs of requests that meet are as if one came after the other`, async () => {
  const meetings = draw(await meetingsOf(SWEPT), PAIRS)
  expect(await breachesOf(meetings)).toEqual([])
})

/** Requests that use each object in each way. */
const CALLERS = [
  ...['getToken', 'revokeToken', 'sendForexTransactions', 'revokeClient', 'revokeBrandToken'],
  ...['eraseCustomer', 'replayErasures'],
]

test('the eviction of an object before its call changes no response', () =>
  evictEach(ROUTES.filter(({ id }) => CALLERS.includes(id))))
