import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { deposited, eve, storedBrand } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, deposit, json, ORIGIN, partner } from '../partner.ts'
import { faultyPlatform } from '../sweep/endure.ts'
import { failing, type Kind } from '../sweep/faults.ts'
import { CURABLE, OVERLOAD } from './faulty.ts'

// The treatment of each error of D1 and of Durable Objects: the number of calls, the status and
// `Retry-After`. Each case sends a new record, which shows whether the call took effect, and then
// repeats the request, which must store the record exactly once.

/** The expected treatment of a fault that happens once, and of one that lasts. */
interface Treatment {
  once: [tries: number, status: number, retryAfter: string | null]
  lasting: [tries: number, status: number, retryAfter: string | null]
}
const CURED: Treatment = { once: [2, 200, null], lasting: [3, 503, '2'] }
const NEVER_AGAIN: Treatment = { once: [1, 503, '10'], lasting: [1, 503, '10'] }
/** An aborted object looks like an exception in it: the first is retried, a second gets 500. */
const OURS: Treatment = { once: [2, 200, null], lasting: [2, 500, null] }

type Case = [message: string, flags: object, treatment: Treatment]

const D1: Case[] = [
  ...CURABLE.map((text): Case => [text, {}, CURED]),
  ...OVERLOAD.map((text): Case => [text, {}, NEVER_AGAIN]),
]
/** The flags of an object's error that is not worth a retry. */
const HOPELESS = [{ overloaded: true }, { retryable: true, overloaded: true }, {}]
/** Only the flags of an object's error count: each message here means the opposite for D1. */
const OBJECT: Case[] = [
  ...OVERLOAD.map((text): Case => [text, { retryable: true }, CURED]),
  ...CURABLE.map((text, i): Case => [text, HOPELESS[i % HOPELESS.length]!, NEVER_AGAIN]),
  [OVERLOAD[0]!, { remote: true }, OURS],
]

/** An account that sends records or reads them. */
interface TestCaller {
  url: string
  headers: Record<string, string>
  /** Returns the record with this id; absent for a read. */
  record?: (id: string) => object
  /** The place of the id in the database. */
  where?: [table: string, column: string]
}

const brokerSends = async (record: (id: string) => object): Promise<TestCaller> => {
  const firm = await partner('forex', { account: 'firm' })
  await firm.post('customers', ada)
  return {
    url: '/api/v1/forex/transactions',
    headers: { Authorization: `Bearer ${firm.access_token}` },
    record,
    where: ['transactions', 'transaction_id'],
  }
}

const brandSends = async (
  resource: string,
  record: (id: string) => object,
  where: [string, string],
): Promise<TestCaller> => {
  const casino = await storedBrand()
  await casino.post('customers', eve)
  const headers = { 'x-api-key': casino.brand_token }
  return { url: `/tracking/events/${resource}`, headers, record, where }
}

const CALLERS: Record<string, () => Promise<TestCaller>> = {
  'a broker that sends': () => brokerSends((transaction_id) => ({ ...deposit, transaction_id })),
  'a brand that sends customers': () =>
    brandSends('customers', (customerId) => ({ ...eve, customerId }), ['customers', 'customer_id']),
  'a brand that sends activities': () =>
    brandSends('activities', (eventid) => ({ ...deposited, eventid }), ['events', 'eventid']),
  'a broker that reads': async () => {
    const { record, where, ...caller } = await brokerSends((id) => ({ id }))
    return caller
  },
}

const PLACES = { D1: [/^DB/, D1], 'an object': [/^TOKEN_GATE/, OBJECT] } as const

/** When a fault happens, and whether it lasts. */
const WAYS = [false, true].flatMap((lasting) => [false, true].map((after) => ({ lasting, after })))

/**
 * Returns the ways in which the nth error is tried: each one for the first caller, and one for the others,
 * so that the errors of a treatment are tried in all ways.
 */
const waysOf = (caller: string, nth: number) =>
  caller === Object.keys(CALLERS)[0] ? WAYS : [WAYS[nth % WAYS.length]!]

describe.each(Object.entries(CALLERS))('%s', (caller, createCaller) => {
  test.each(Object.entries(PLACES))(
    'every error of %s gets its documented treatment',
    async (_platform, [pattern, cases]) => {
      // Without randomness the retry does not wait.
      vi.spyOn(Math, 'random').mockReturnValue(0)
      const { url, headers, record, where } = await createCaller()
      const method = record ? 'POST' : 'GET'
      let turn = 0
      const ask = (id: string, platform: Env) => {
        const body = record ? { body: JSON.stringify([record(id)]) } : {}
        const init = {
          method,
          headers: { ...headers, 'Content-Type': 'application/json' },
          ...body,
        }
        return fetchWith(platform, new Request(new URL(url, ORIGIN), init))
      }
      const stored = ([table, column]: [string, string]) =>
        env.DB.prepare(`select count(*) as n from ${table} where ${column} like 'turn-%'`).first(
          'n',
        )

      // The last call to this part of the platform is the one that writes.
      const calm = faultyPlatform()
      expect((await ask('calm', calm.platform)).status).toBe(200)
      const place = calm.seen.calls.findLast(({ name }) => pattern.test(name))!

      for (const [nth, [message, flags, treatment]] of cases.entries()) {
        const kind: Kind = [() => Object.assign(new Error(message), flags), treatment === CURED]
        for (const { lasting, after } of waysOf(caller, nth)) {
          const { platform, seen } = faultyPlatform([failing(place, kind, after, lasting)])
          turn += 1
          const id = `turn-${turn}`
          const response = await ask(id, platform)
          const tries = seen.calls.filter(({ name }) => name === place.name).length
          const actual = [tries, response.status, response.headers.get('Retry-After')]
          const label = `${message} ${JSON.stringify({ ...flags, lasting, after })}`
          // What was written is found by the next read.
          const isFound = record && after && place.db !== undefined && treatment === CURED
          expect(actual, label).toEqual(
            isFound ? [1, 200, null] : treatment[lasting ? 'lasting' : 'once'],
          )
          if (!record) continue

          const isCured = response.status === 200
          if (isCured) expect((await json(response)).summary, label).toMatchObject({ created: 1 })
          // The outcome of the repeat shows whether the record was stored.
          const isStored = isCured || (after && place.db !== undefined)
          const { summary } = await json(ask(id, env))
          expect(summary, label).toMatchObject(isStored ? { unchanged: 1 } : { created: 1 })
        }
      }
      if (where) expect(await stored(where)).toBe(turn)
    },
  )
})
