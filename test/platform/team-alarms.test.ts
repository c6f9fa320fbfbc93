import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import type { AlarmJob } from '../../src/admin/jobs.ts'
import { RUN_LIMITS } from '../../src/commission/statements/limits.ts'
import { DAY_MS, HOUR_MS } from '../../src/durations.ts'
import worker from '../../src/index.ts'
import { newWebhookSecret, signMessage } from '../../src/webhooks/secrets.ts'
import { monthly, storePlan } from '../commission/stored.ts'
import { overriding } from '../overriding.ts'
import { partner } from '../partner.ts'
import { printedAs } from '../secrecy.ts'
import { deliverJob, listing, type Sent } from './crons.ts'

// Alarms that are sent to the team, to a receiver that vitest.config.ts serves.

const SECRET = newWebhookSecret()
const NOW = Date.parse('2026-11-26T06:05:00Z')
let url: string
let sent: Sent[]

beforeEach(() => {
  url = `https://alarms.example/${crypto.randomUUID()}`
  sent = []
})

const { ofDatabase } = RUN_LIMITS
afterEach(() => {
  Object.assign(RUN_LIMITS, { ofDatabase })
})

/** The service with a webhook of the team, whose queue is listed. */
const world = (own: object = {}) =>
  overriding(env as Env, {
    ...{ TEAM_WEBHOOK: url, TEAM_WEBHOOK_SECRET: SECRET, ACCOUNT_JOBS: listing(sent) },
    ...own,
  })

const answer = (...statuses: number[]) =>
  fetch(url, { method: 'PUT', body: JSON.stringify(statuses) })

interface Received {
  headers: Record<string, string>
  body: string
}
const received = async () => (await fetch(url)).json<Received[]>()

/** Stores an account that has almost all of its quota. */
async function fullAccount() {
  const { account } = await partner('forex')
  await env.DB.batch([
    env.DB.prepare('update accounts set storage_quota = 1000 where id = ?').bind(account),
    env.DB.prepare(
      `insert into totals (account, resource, total, bytes) values (?, 'customers', 0, 990)`,
    ).bind(account),
  ])
  return account
}

/** Looks at accounts, as the cron does each morning. Returns the alarms that it has put on the queue. */
async function measure(now: number, own: object = {}): Promise<AlarmJob[]> {
  const platform = world(own)
  const scheduled = { cron: CRON_SCHEDULES.report, scheduledTime: now } as ScheduledController
  await worker.scheduled(scheduled, platform)
  for (let i = 0; i < sent.length; i++) {
    if (sent[i]!.body.job !== 'alarm') await deliverJob(sent[i]!.body, platform)
  }
  return sent.splice(0).flatMap(({ body }) => (body.job === 'alarm' ? [body] : []))
}

test('an alarm of the log is sent to the team, signed as webhooks are', async () => {
  await answer()
  const account = await fullAccount()
  const [alarm] = await measure(NOW)
  expect(await deliverJob(alarm!, world())).toBe(false)

  const [request] = await received()
  const { body, headers } = request!
  expect(JSON.parse(body)).toEqual({
    type: 'storage_alarm',
    timestamp: '2026-11-26T06:05:00.000Z',
    data: { storage_alarm: 'account', account, binding: 'DB', bytes: 990, quota: 1000 },
  })
  const [id, timestamp] = [headers['webhook-id']!, Number(headers['webhook-timestamp'])]
  expect(id).toMatch(/^alarm_[0-9a-f]{64}$/)
  expect(headers['webhook-signature']).toBe(await signMessage([SECRET], { id, timestamp, body }))
  expect(printedAs('warn')).toContain(JSON.stringify(JSON.parse(body).data))
})

test('an alarm that lasts is sent once a day, and logged each time', async () => {
  await fullAccount()
  expect(await measure(NOW)).toHaveLength(1)
  expect(await measure(NOW + 600_000)).toEqual([])
  expect(await measure(NOW + DAY_MS)).toHaveLength(1)
  expect(printedAs('warn').filter((line) => line.includes('storage_alarm'))).toHaveLength(3)
})

test('a receiver that fails gets the same alarm again, later', async () => {
  await answer(503, 302)
  await fullAccount()
  const [alarm] = await measure(NOW)
  const isRetried = []
  for (let i = 1; i <= 3; i++) isRetried.push(await deliverJob(alarm!, world(), i))
  expect(isRetried).toEqual([true, true, false])
  const ids = (await received()).map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(1)
  expect(ids).toHaveLength(3)
  expect(printedAs('error')).toEqual(
    Array(2).fill(JSON.stringify({ fault: 'TeamWebhookError', job: 'alarm' })),
  )
})

test('without a secret, or with a URL that is not public, nothing is sent, and the log says so', async () => {
  await answer()
  await fullAccount()
  const [alarm] = await measure(NOW)
  expect(await deliverJob(alarm!, world({ TEAM_WEBHOOK_SECRET: '' }))).toBe(true)
  expect(await deliverJob(alarm!, world({ TEAM_WEBHOOK: 'https://10.0.0.1/' }))).toBe(true)
  expect(await received()).toEqual([])
})

test('a run that waits is told, too', async () => {
  const { account } = await partner('forex')
  await storePlan(account, 'ib', monthly([]))
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  Object.assign(RUN_LIMITS, { ofDatabase: 0 })
  vi.setSystemTime(NOW + 4 * HOUR_MS)
  await deliverJob({ job: 'morning', binding: 'DB', account, at: NOW }, world())
  expect(sent.flatMap(({ body }) => (body.job === 'alarm' ? [body.data] : []))).toEqual([
    { late_run: account, binding: 'DB', minutes: 240 },
  ])
})
