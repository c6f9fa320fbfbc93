import { describe, expect, test } from 'vitest'
import { judgeAnswer } from './fuzz/answers.ts'
import { delivery, EACH, type Json } from './fuzz/bodies.ts'
import { holds, PATIENCE } from './fuzz/runs.ts'
import { deliver, partnerOf, send } from './fuzz/send.ts'
import { ada, deposit, traded } from './partner.ts'

// No body breaks the service, and whatever it answers is true of what was sent.

/** A good record of each resource of partners, and what makes another of it. */
const RESOURCES = {
  customers: [
    { ...ada, first_name: 'Augusta', email: 'ada@example.org', country_code: 'DE' },
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

describe.each([
  ['forex', {}],
  ['prop-trading', { transactions: { transaction_type: 'payout' } }],
] as const)('generated bodies of %s', (vertical, own: Record<string, object>) => {
  test.each(Object.entries(RESOURCES))(
    'any body for %s gets a consistent response and is stored unchanged',
    { timeout: PATIENCE },
    async (name, [whole, other]) => {
      const firm = await partnerOf(vertical)
      await firm.post('customers', RESOURCES.customers[0])
      const record = { ...whole, ...own[name] }
      const two = [record, { ...record, ...other }]
      const good = [record, two, { data: two }]

      await holds(EACH, delivery(good), async ([body, lenient]) => {
        const answer = await deliver(firm, name, body, lenient)
        const results = judgeAnswer(answer, body, true)
        if (name === 'trading-activity') return
        const stored = results.findLast(({ outcome }) => !/rejected|stale/.test(outcome))
        const id = stored?.key?.transaction_id ?? stored?.key?.customer_id
        // No address can end in dots: what is called so is found in lists.
        if (!id || /^\.\.?$/.test(id)) return
        const path = firm.at(`${name}/${encodeURIComponent(id)}`)
        const read = await send(path, { headers: await firm.who() })
        expect(JSON.parse(read.text)).toEqual(JSON.parse(JSON.stringify(kept(stored!.record))))
      })
    },
  )
})
