import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { lastFiring } from '../../src/jobs/local-crons.ts'
import { MINUTE_MS } from '../../src/platform/durations.ts'

// The crons in development, where an object runs them.

const at = (text: string) => Date.parse(`2026-11-${text}Z`)
const last = (cron: string, after: string, now: string) => {
  const time = lastFiring(cron, at(after), at(now))
  return time && new Date(time).toISOString().slice('2026-11-'.length, -':00.000Z'.length)
}

test.each([
  ['* * * * *', '25T08:00:10', '25T08:02:10', '25T08:02'],
  ['* * * * *', '25T08:02:00', '25T08:02:10', null],
  ['17 * * * *', '25T08:16:00', '25T08:17:00', '25T08:17'],
  ['17 * * * *', '25T08:17:00', '25T09:16:59', null],
  ['*/10 * * * *', '25T08:00:00', '25T08:09:00', null],
  ['*/10 * * * *', '25T08:00:00', '25T08:31:00', '25T08:30'],
  ['5 6 * * *', '25T06:04:00', '25T06:05:00', '25T06:05'],
  ['5 6 * * *', '25T05:05:00', '25T06:04:59', null],
  ['20 15,16,18,21 * * MON-FRI', '25T15:00:00', '25T18:19:00', '25T16:20'],
  // 28 November 2026 is a Saturday.
  ['20 15,16,18,21 * * MON-FRI', '28T01:00:00', '28T23:59:00', null],
  ['20 15,16,18,21 * * MON-FRI', '27T20:00:00', '28T01:00:00', '27T21:20'],
])('%s after %s and until %s: %s', (cron, after, now, expected) => {
  expect(last(cron, after, now)).toBe(expected)
})

test('after a night in which the machine slept, a cron fires once, and none of an earlier day', () => {
  expect(last('5 6 * * *', '20T00:00:00', '25T09:00:00')).toBe('25T06:05')
  expect(last('20 15,16,18,21 * * MON-FRI', '20T00:00:00', '23T09:00:00')).toBeNull()
})

test('the object of the crons runs what is due, and again at the next minute', async () => {
  const object = env.BACKGROUND_JOBS.getByName('crons')
  await object.request({ name: 'crons' })
  await expect
    .poll(() => runInDurableObject(object, (_, { storage }) => storage.getAlarm()))
    .toBe((Math.floor(Date.now() / MINUTE_MS) + 1) * MINUTE_MS)
  await env.DB.prepare(
    `insert into clicks (account, day, link_id, click_id, clicked_at) values ('firm', 1, 'abcdefgh', 'click', 0)`,
  ).run()
  await runInDurableObject(object, (_, { storage }) => {
    storage.kv.put('fired', Date.now() - 60 * MINUTE_MS)
  })
  expect(await runDurableObjectAlarm(object)).toBe(true)
  // The hourly cron deletes clicks that have expired.
  await expect
    .poll(() => env.DB.prepare('select count(*) as n from clicks').first('n'), { timeout: 10_000 })
    .toBe(0)
})
