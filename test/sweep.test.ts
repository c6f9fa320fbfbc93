import { expect, test } from 'vitest'
import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'
import { operations } from './take.ts'

// Each call of each operation to the platform meets, before and after its effect: a transient fault, once
// and for as long as it is asked, and an overload; it meets each table that it names missing, and its
// object evicted and aborted. What then holds is said in `endure`. That all messages of their kind are
// treated alike is in messages.test.ts; `npm run pairs` sends each message at each call. Here tokens and
// documents; a file for each other kind of caller, since objects stay as long as a file runs.

test('the sweep covers every operation of openapi.json exactly once', () => {
  const swept = ROUTES.map(({ id }) => id)
  expect([...operations.keys()].filter((id) => !swept.includes(id))).toEqual([])
  expect(new Set(swept).size).toBe(swept.length)
})

eachFails(ROUTES.filter(({ as }) => as === 'anyone' || as === 'client'))
