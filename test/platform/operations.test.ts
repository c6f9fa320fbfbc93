import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/admin/operations.ts'
import { ROLES } from '../../src/auth/roles.ts'
import { pathsOf, perform } from '../../src/http/operation.ts'
import { isFor } from '../../src/http/operation-words.ts'

// What holds for every operation that is a value.

test.each(['team', 'account', 'affiliate'] as const)(
  'each operation of the %s has an id of its own',
  (caller) => {
    const ids = OPERATIONS.filter((of) => isFor(of, caller)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  },
)

describe.each(OPERATIONS)('$id', (of) => {
  test('no operation before it answers its paths', () => {
    for (const path of pathsOf(of)) {
      const sent = path.replace(/\{\w+\}/g, '~')
      const first = OPERATIONS.find(
        (other) =>
          other.method === of.method &&
          (of.callers ?? ['team']).some((caller) => isFor(other, caller)) &&
          pathsOf(other).some((one) =>
            new RegExp(`^${one.replace(/\{\w+\}/g, '[^/]+')}$`).test(sent),
          ),
      )
      expect(first?.id).toBe(of.id)
    }
  })

  test('a member with a lower role cannot call it from inside the Worker either', async () => {
    const needed = ROLES.indexOf(of.role ?? 'approver')
    for (const role of ROLES.slice(0, needed)) {
      const page = { waitUntil: () => {}, once: <T>(_: string, make: () => Promise<T>) => make() }
      const call = { env, actor: 'Eve', role, ...page }
      await expect(perform(of, call, {} as never)).rejects.toMatchObject({
        code: 'insufficient_role',
      })
    }
  })
})
