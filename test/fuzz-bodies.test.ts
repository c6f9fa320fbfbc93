import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dailyStats, day, deposited, eve } from './brand.ts'
import { judgeAnswer } from './fuzz/answers.ts'
import { type Json, nearly } from './fuzz/bodies.ts'
import { holds, PATIENCE } from './fuzz/runs.ts'
import { brandOf, partnerOf, type Sender, send } from './fuzz/send.ts'
import { ada, deposit, traded } from './partner.ts'

// No body breaks the service, and whatever it answers is true of what was sent.

/** So many of each of the eight resources: 10,000 in all. */
const EACH = 1250

/** A good record of each resource of partners, and what makes another of it. */
const RESOURCES = {
  customers: [
    { ...ada, first_name: 'Ada', email: 'ada@example.org', country_code: 'DE' },
    { customer_id: 'c-2' },
  ],
  transactions: [{ ...deposit, amount_usd: 109.4, note: 'order 7' }, { transaction_id: 't-2' }],
  'trading-activity': [traded, { instrument: 'GBPUSD' }],
} as const

/** A record as the service keeps it: date-times in UTC, cut to milliseconds. */
const kept = (record: Json) =>
  Object.fromEntries(
    Object.entries(record as object).map(([name, value]) => [
      name,
      /_date$/.test(name) ? new Date(value).toISOString() : value,
    ]),
  )

const post = async (sender: Sender, path: string, body: Uint8Array, lenient: boolean) =>
  send(sender.at(path), {
    method: 'POST',
    body,
    headers: {
      ...(await sender.who()),
      'Content-Type': 'application/json',
      ...(lenient && { Prefer: 'handling=lenient' }),
    },
  })

/** What is sent, and whether the good of it is to be kept without the rest. */
const asked = (good: readonly Json[]) => fc.tuple(nearly(good), fc.boolean())

const encode = (value: Json) => new TextEncoder().encode(JSON.stringify(value))

describe.each([
  ['forex', {}],
  ['prop-trading', { transactions: { transaction_type: 'payout' } }],
] as const)('a body of %s', (vertical, own: Record<string, object>) => {
  test.each(Object.entries(RESOURCES))(
    'for %s is answered truly, and kept as it was sent',
    { timeout: PATIENCE },
    async (name, [whole, other]) => {
      const firm = await partnerOf(vertical)
      await post(firm, 'customers', encode(ada), false)
      const record = { ...whole, ...own[name] }
      const two = [record, { ...record, ...other }]
      const good = [record, two, { data: two }]

      await holds(EACH, asked(good), async ([body, lenient]) => {
        const answer = await post(firm, name, body, lenient)
        const results = judgeAnswer(answer, body, true)
        if (name === 'trading-activity') return
        for (const { key, outcome, record } of results) {
          const id = key?.transaction_id ?? key?.customer_id
          // No address can end in dots: those are found in lists.
          if (outcome === 'rejected' || outcome === 'stale' || !id || /^\.\.?$/.test(id)) continue
          const path = firm.at(`${name}/${encodeURIComponent(id)}`)
          const read = await send(path, { headers: await firm.who() })
          expect(JSON.parse(read.text)).toEqual(JSON.parse(JSON.stringify(kept(record))))
        }
      })
    },
  )
})

describe('a body of a brand', () => {
  const events = [deposited, { ...deposited, eventid: null, product: 'casino' }, day]
  test.each([
    ['customers', [eve, [eve, { ...eve, customerId: 'p-2', tracking_data: 'x', vip: { a: 1 } }]]],
    ['activities', [deposited, day, events]],
  ] as [string, Json[]][])(
    'for %s is answered truly',
    { timeout: PATIENCE },
    async (name, good) => {
      const casino = await brandOf({
        time_zone: 'Europe/Berlin',
        events: { DailyStats: dailyStats },
      })
      await post(casino, 'customers', encode(eve), false)
      await holds(EACH, asked(good), async ([body, lenient]) => {
        judgeAnswer(await post(casino, name, body, lenient), body, false)
      })
    },
  )
})
