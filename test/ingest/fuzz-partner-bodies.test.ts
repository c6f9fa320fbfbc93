import { describe, expect, test } from 'vitest'
import { checkAnswer } from '../fuzz/answers.ts'
import { delivery, EACH, type Json } from '../fuzz/bodies.ts'
import { holds, PATIENCE } from '../fuzz/runs.ts'
import { deliver, partnerOf, send } from '../fuzz/send.ts'
import { ada, deposit, traded } from '../partner.ts'

// No body breaks the service, and every response is consistent with its request.

/** A valid record of each partner resource, and the members that make it another record. */
const RESOURCES = {
  customers: [
    { ...ada, first_name: 'Augusta', email: 'ada@example.org', country_code: 'DE' },
    { customer_id: 'c-2' },
  ],
  transactions: [{ ...deposit, amount_usd: 109.4, note: 'order 7' }, { transaction_id: 't-2' }],
  'trading-activity': [traded, { instrument: 'GBPUSD' }],
} as const

/** Returns a record as the service stores it: date-times in UTC, cut to milliseconds. */
const storedForm = (record: Json) =>
  Object.fromEntries(
    Object.entries(record as object).map(([name, value]) => [
      name,
      /_date$/.test(name) ? new Date(value).toISOString() : value,
    ]),
  )

describe.each([
  ['forex', {}],
  ['prop-trading', { transactions: { transaction_type: 'payout' } }],
] as const)('generated bodies of %s', (vertical, changes: Record<string, object>) => {
  test.each(Object.entries(RESOURCES))(
    'any body for %s gets a consistent response and is stored unchanged',
    { timeout: PATIENCE },
    async (name, [valid, otherKey]) => {
      const firm = await partnerOf(vertical)
      await firm.post('customers', RESOURCES.customers[0])
      const record = { ...valid, ...changes[name] }
      const two = [record, { ...record, ...otherKey }]
      const bodies = [record, two, { data: two }]

      await holds(EACH, delivery(bodies), async ([body, lenient]) => {
        const answer = await deliver(firm, name, body, lenient)
        const results = checkAnswer(answer, body, { wraps: true, lenient })
        if (name === 'trading-activity') return
        const stored = results.findLast(({ outcome }) => !/rejected|stale/.test(outcome))
        const id = stored?.key?.transaction_id ?? stored?.key?.customer_id
        // A path cannot end in `.` or `..`: records with these ids are read by a query parameter.
        if (!id || /^\.\.?$/.test(id)) return
        const path = firm.at(`${name}/${encodeURIComponent(id)}`)
        const read = await send(path, { headers: await firm.credentials() })
        expect(JSON.parse(read.text)).toEqual(
          JSON.parse(JSON.stringify(storedForm(stored!.record))),
        )
      })
    },
  )
})
