import { expect, test } from 'vitest'
import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'
import { operations } from './take.ts'

// Every call to the platform, of every operation, meets faults. The first operation of a file that
// reaches a call site meets there a lost response, a fault that lasts or an overload, a missing table, and
// an object that is evicted or aborted. A later operation that writes meets one fault at each of its
// calls: one that lasts, or a lost response. A later operation that reads meets a lasting fault at its
// last call. `endure` asserts the result. messages.test.ts covers the other error messages; `npm run
// pairs` tries everything at each call of each operation. Deliveries and reads of prop firms run the same
// code as those of brokers in sweep-accounts.test.ts: only `npm run pairs` sweeps them. This file covers
// tokens and documents. Other callers have their own files, because objects live until the end of a file.

test('the sweep covers every operation of openapi.json, each way once', () => {
  const swept = ROUTES.map(({ id }) => id)
  const missing = [...operations.keys()].filter((id) => !swept.includes(id))
  expect(missing, 'add them to test/sweep/routes.ts').toEqual([])
  const ways = ROUTES.map(({ id, way }) => `${id} ${way ?? ''}`)
  expect(new Set(ways).size).toBe(ways.length)
})

eachFails(ROUTES.filter(({ as }) => as === 'anyone' || as === 'client'))
