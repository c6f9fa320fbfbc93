import { afterEach, expect, test, vi } from 'vitest'
import { fetchWith } from '../checked-fetch.ts'
import { json, ORIGIN } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'

/** The parts that were asked since the last request, in any order. */
const asked: string[] = []
/** A platform whose parts with these names fail. */
const without = (...failing: string[]) =>
  surrounded((call, act) => {
    const part = /^\w+/.exec(call.name)?.[0] ?? ''
    asked.push(part)
    return failing.includes(part) ? Promise.reject(new Error('down')) : act()
  })

/** Returns the answer, and the parts that were asked for it. */
async function probe(world: Env, query = '?deep') {
  asked.length = 0
  const response = await fetchWith(world, new Request(`${ORIGIN}/healthz${query}`))
  return [response.status, (await json(response)).detail, asked.toSorted().join(' ')]
}

afterEach(() => vi.useRealTimers())

test('a deep check asks the directory, one other database and the gates, once in ten seconds, and names what fails', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  const PARTS = 'CLIENT_GATE DB DB_2 TOKEN_GATE'
  expect(await probe(without(), '')).toEqual([200, undefined, ''])
  expect(await probe(without())).toEqual([200, undefined, PARTS])
  vi.setSystemTime(Date.now() + 9_999)
  expect(await probe(without('DB'))).toEqual([200, undefined, ''])
  for (const part of PARTS.split(' ')) {
    vi.setSystemTime(Date.now() + 10_000)
    const named = expect.stringMatching(`^No answer from ${part}\\. `)
    expect(await probe(without(part))).toEqual([503, named, PARTS])
    expect(await probe(without())).toEqual([503, named, ''])
  }
  // A deployment of one database has no other to ask.
  vi.setSystemTime(Date.now() + 10_000)
  const alone = { ...without(), DB_2: undefined } as Env
  expect(await probe(alone)).toEqual([200, undefined, 'CLIENT_GATE DB TOKEN_GATE'])
})
