import { describe, test } from 'vitest'
import { dailyStats, day, deposited, eve } from '../brand.ts'
import { checkAnswer } from '../fuzz/answers.ts'
import { delivery, EACH, type Json } from '../fuzz/bodies.ts'
import { holds, PATIENCE } from '../fuzz/runs.ts'
import { brandOf, deliver } from '../fuzz/send.ts'

const augusta = { ...eve, firstName: 'Augusta', email: 'ada@example.org' }

describe('generated bodies of brands', () => {
  const events = [deposited, { ...deposited, eventid: null, product: 'casino' }, day]
  test.each([
    [
      'customers',
      [augusta, [augusta, { ...eve, customerId: 'p-2', tracking_data: 'x', vip: { a: 1 } }]],
    ],
    ['activities', [deposited, day, events]],
  ] as [string, Json[]][])(
    'the response to any body for %s is consistent',
    { timeout: PATIENCE },
    async (name, bodies) => {
      const casino = await brandOf({
        time_zone: 'Europe/Berlin',
        events: { DailyStats: dailyStats },
      })
      await casino.post('customers', augusta)
      await holds(EACH, delivery(bodies), async ([body, lenient]) => {
        const answer = await deliver(casino, name, body, lenient)
        checkAnswer(answer, body, { wraps: false, lenient })
      })
    },
  )
})
