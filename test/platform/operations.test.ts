import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { OPERATIONS as TEAM_OPERATIONS } from '../../src/api/operations.ts'
import { igaming } from '../../src/ingest/brand/igaming.ts'
import { recordOperations } from '../../src/ingest/record-operations.ts'
import { forex } from '../../src/ingest/trading/forex.ts'
import { propTrading } from '../../src/ingest/trading/prop-trading.ts'
import { ROLES, ROOT } from '../../src/platform/directory/members.ts'
import { perform } from '../../src/platform/http/operation.ts'
import { isFor } from '../../src/platform/http/operation-words.ts'

// What holds for every operation that is a value.

/** The operations of the team and of affiliates, and those of each vertical with its records. */
const OPERATIONS_OF = [
  TEAM_OPERATIONS,
  ...[propTrading, forex, igaming].map((of) => [...recordOperations(of), ...TEAM_OPERATIONS]),
]

test.each(OPERATIONS_OF)('each operation of a caller has an id of its own', (...operations) => {
  for (const caller of ['team', 'account', 'affiliate'] as const) {
    const ids = operations.filter((of) => isFor(of, caller)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  }
})

test.each(OPERATIONS_OF)('no operation before another answers its path', (...operations) => {
  for (const of of operations) {
    const sent = of.path.replace(/\{\w+\}/g, '~')
    const first = operations.find(
      (other) =>
        other.method === of.method &&
        of.callers.some((caller) => isFor(other, caller)) &&
        new RegExp(`^${other.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(sent),
    )
    expect(first?.id).toBe(of.id)
  }
})

describe.each(TEAM_OPERATIONS)('$id', (of) => {
  test('a member with a lower role cannot call it from inside the Worker either', async () => {
    const needed = ROLES.indexOf(of.role)
    for (const role of ROLES.slice(0, needed)) {
      const page = { waitUntil: () => {}, once: <T>(_: string, make: () => Promise<T>) => make() }
      const call = { env, actor: 'Eve', role, member: { ...ROOT, role }, ...page }
      await expect(perform(of, call, {})).rejects.toMatchObject({
        code: 'insufficient_role',
      })
    }
  })
})
