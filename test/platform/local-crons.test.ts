import { expect, test } from 'vitest'
import { fires } from '../../scripts/dev/crons.ts'

// The crons of `npm run dev`.

const at = (text: string) => Date.parse(`2026-11-${text}Z`)
const isDue = (cron: string, after: string, now: string) => fires(cron, at(after), at(now))

test.each([
  ['* * * * *', '25T08:00:10', '25T08:02:10', true],
  ['* * * * *', '25T08:02:00', '25T08:02:10', false],
  ['17 * * * *', '25T08:16:00', '25T08:17:00', true],
  ['17 * * * *', '25T08:17:00', '25T09:16:59', false],
  ['*/10 * * * *', '25T08:00:00', '25T08:09:00', false],
  ['*/10 * * * *', '25T08:00:00', '25T08:31:00', true],
  ['5 6 * * *', '25T06:04:00', '25T06:05:00', true],
  ['5 6 * * *', '25T05:05:00', '25T06:04:59', false],
  ['20 15,16,18,21 * * MON-FRI', '25T15:00:00', '25T18:19:00', true],
  // 28 November 2026 is a Saturday.
  ['20 15,16,18,21 * * MON-FRI', '28T01:00:00', '28T23:59:00', false],
  ['20 15,16,18,21 * * MON-FRI', '27T20:00:00', '28T01:00:00', true],
])('%s after %s and until %s: %s', (cron, after, now, expected) => {
  expect(isDue(cron, after, now)).toBe(expected)
})

test('after a night in which the machine slept, a cron fires once, and none of an earlier day', () => {
  expect(isDue('5 6 * * *', '20T00:00:00', '25T09:00:00')).toBe(true)
  expect(isDue('20 15,16,18,21 * * MON-FRI', '20T00:00:00', '23T09:00:00')).toBe(false)
})
