import { expect, test } from 'vitest'
import { watchMarks } from '../marks.ts'
import { operations } from '../requests.ts'
import { ROUTES } from '../sweep/routes.ts'
import { evictEach, sweepDrawn } from '../sweep/sweep.ts'

watchMarks()

// Calls to the platform meet faults: a lost response, an overload, a missing table, an object that is evicted or
// aborted, once or for good. `endure` asserts the result. messages.test.ts covers the other error messages;
// `npm run chaos -- pairs` tries everything at each call of each operation.

test('the sweep covers every operation of openapi.json, each way once', () => {
  const swept = ROUTES.map(({ id }) => id)
  const missing = [...operations.keys()].filter((id) => !swept.includes(id))
  expect(missing, 'add them to test/sweep/routes.ts').toEqual([])
  const ways = ROUTES.map(({ id, way }) => `${id} ${way ?? ''}`)
  expect(new Set(ways).size).toBe(ways.length)
})

sweepDrawn(6, 3)

/** Requests that use each object in each way. */
const CALLERS = [
  ...['getToken', 'revokeToken', 'sendForexTransactions', 'revokeClient', 'revokeBrandToken'],
  ...['eraseCustomer', 'replayErasures'],
]

test('the eviction of an object before its call changes no response', () =>
  evictEach(ROUTES.filter(({ id }) => CALLERS.includes(id))))
