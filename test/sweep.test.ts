import { expect, test } from 'vitest'
import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'
import { operations } from './take.ts'

// Every call to the platform, of every operation, meets these faults before and after its effect: a
// transient fault that happens once or lasts, and an overload. Each table that it uses is missing once,
// and its object is evicted and aborted. `endure` asserts the result. messages.test.ts covers the other
// error messages; `npm run pairs` tries each message at each call. This file covers tokens and
// documents. Other callers have their own files, because objects live until the end of a file.

test('the sweep covers every operation of openapi.json, each way once', () => {
  const swept = ROUTES.map(({ id }) => id)
  expect([...operations.keys()].filter((id) => !swept.includes(id))).toEqual([])
  const ways = ROUTES.map(({ id, way }) => `${id} ${way ?? ''}`)
  expect(new Set(ways).size).toBe(ways.length)
})

eachFails(ROUTES.filter(({ as }) => as === 'anyone' || as === 'client'))
