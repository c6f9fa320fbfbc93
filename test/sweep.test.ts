import { describe, expect, test } from 'vitest'
import { CURABLE, OVERLOAD } from './faulty.ts'
import { allOf } from './sweep/faults.ts'
import { ROUTES } from './sweep/routes.ts'
import { eachFails, eachVanishes, routes, sweep } from './sweep/sweep.ts'
import { operations } from './take.ts'

// Each call of each route to the platform fails in each way there is, before and after its effect.
// What then holds is said in `endure`. Here tokens and documents; a file for each other kind of caller,
// since objects stay as long as a file runs.

test('no operation of openapi.json is left out', () => {
  const swept = ROUTES.map(({ id }) => id)
  expect([...operations.keys()].filter((id) => !swept.includes(id))).toEqual([])
  expect(new Set(swept).size).toBe(swept.length)
})

eachFails(({ as }) => as === 'anyone' || as === 'client')
eachVanishes('getToken', 'revokeToken')

describe(`each of the ${CURABLE.length + OVERLOAD.length} faults of D1, and all of objects`, () => {
  test.each(routes('sendForexTransactions', 'listForexTransactions'))('$id', async (route) => {
    await sweep(route, allOf)
  })
})
