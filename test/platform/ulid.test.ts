import { expect, test } from 'vitest'
import { ulid, ulidPrefix, ulidTime } from '../../src/platform/db/ulid.ts'

const LAST_TIME = 2 ** 48 - 1

test.each([
  [0, '0000000000'],
  [1469918176385, '01ARYZ6S41'],
  [LAST_TIME, '7ZZZZZZZZZ'],
])('a ULID of %i ms begins with %s, and names this time', (time, prefix) => {
  const id = ulid(time)

  expect(ulidPrefix(time)).toBe(prefix)
  expect(id).toMatch(new RegExp(`^${prefix}[0-9A-HJKMNP-TV-Z]{16}$`))
  expect(ulidTime(id)).toBe(time)
})

test('ULIDs of the same time differ, and use every digit', () => {
  const ids = Array.from({ length: 200 }, () => ulid(0))

  expect(new Set(ids).size).toBe(200)
  expect(new Set(ids.map((id) => id.slice(10)).join('')).size).toBe(32)
})
