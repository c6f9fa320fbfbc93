import {
  abortAllDurableObjects,
  createExecutionContext,
  createMessageBatch,
  evictDurableObject,
  getQueueResult,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Click } from '../../src/attribution/go.ts'
import worker from '../../src/index.ts'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { runCron } from '../platform/crons.ts'
import { faultyPlatform, propagate } from '../sweep/endure.ts'
import {
  draw,
  type Fault,
  lastingOf,
  newCallSites,
  onceOf,
  type Place,
  unmigrated,
} from '../sweep/faults.ts'
import { rememberedBy } from '../sweep/state.ts'
import { prepare } from '../sweep/worlds.ts'

// Background work when the platform fails: the next run completes what a failed run left.

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
})

const count = async (text: string) => Number(await env.DB.prepare(text).first('n'))

test('a click is stored once after any fault between queue and database', async () => {
  const clicked_at = Date.UTC(2026, 9, 2)
  const click = { account: 'firm', binding: 'DB', link_id: 'abcdefgh', clicked_at, subs: {} }
  const deliver = async (click_id: string, faults: Fault[] = []) => {
    const { platform, seen } = faultyPlatform(faults)
    const message = {
      id: click_id,
      timestamp: new Date(),
      attempts: 1,
      body: { ...click, click_id },
    }
    const batch = createMessageBatch<Click>('tributary-clicks', [message])
    await worker.queue(batch, platform, createExecutionContext())
    const { explicitAcks, retryMessages } = await getQueueResult(batch, createExecutionContext())
    return { ...seen, acked: explicitAcks.length, retries: retryMessages.length }
  }
  const { calls } = await deliver('calm')
  // `deliveries` is a column of `arrivals` here.
  const faults = calls
    .flatMap((place) => [...onceOf(place), ...lastingOf(place), ...unmigrated(place)])
    .filter(({ is }) => is !== 'without deliveries')
  expect(faults.length).toBeGreaterThan(3)

  for (const [i, fault] of faults.entries()) {
    const { acked, retries, failed } = await deliver(`click-${i}`, [fault])
    expect([acked, retries], fault.is).toEqual(fault.cured && !fault.lasting ? [1, 0] : [0, 1])
    expect(failed).toBe(fault.lasting ? 3 : 1)
    if (retries) expect((await deliver(`click-${i}`)).acked).toBe(1)
    expect(await count('select count(*) as n from clicks')).toBe(i + 2)
  }
})

const isNew = newCallSites()

/** How many calls of a cron meet faults, and how many each. In `npm run worlds` each call meets all of them. */
const [CALLS, FAULTS] = env.FUZZ_RUNS > 0 ? [Infinity, Infinity] : [1, 1]

/** Returns the faults of a cron. */
const faultsOf = (calls: readonly Place[]): Fault[] =>
  draw(calls.filter(isNew), CALLS).flatMap((place) =>
    draw([...onceOf(place), ...lastingOf(place), ...unmigrated(place)], FAULTS),
  )

describe.each(Object.entries(CRON_SCHEDULES))('the cron to %s', (_, cron) => {
  const dueWork = [
    `insert or ignore into clicks (account, day, link_id, click_id, clicked_at) values (?1, 20454, 'abcdefgh', 'click', 0)`,
    `insert or ignore into arrivals values (?1, 1, 'customers', 1, 0, 0, 0, 0)`,
    `update accounts set name = 'Another', version = version + 1 where id = ?1`,
  ]
  /** Whether a failed run leaves some of that work. The other crons begin anew at each run. */
  const leavesWork = cron === CRON_SCHEDULES.propagate || cron === CRON_SCHEDULES.expire
  const run = async (faults: Fault[] = []) => {
    const { platform, seen } = faultyPlatform(faults)
    const thrown = await runCron(cron, Date.now(), platform).then(
      () => undefined,
      (error) => error,
    )
    // A run may fail as a whole with an API error, but never with a bug.
    if (thrown !== undefined) expect(thrown).toBeInstanceOf(ApiError)
    return seen
  }

  test('the next run completes the work of a failed run', async () => {
    const world = await prepare('forex', true)
    const due = () => env.DB.batch(dueWork.map((text) => env.DB.prepare(text).bind(world.account)))
    const expectPropagated = async () => {
      expect(await count('select count(*) as n from accounts where pushed < version')).toBe(0)
      expect((await rememberedBy(world)).token).toContain('Another')
    }
    // The first run of all also keeps the totals of days.
    await run()
    await due()
    const { calls } = await run()
    for (const fault of faultsOf(calls)) {
      await due()
      const { failed } = await run([fault])
      const rest = calls.filter(({ name }) => name === fault.call).length - fault.nth
      // What was taken of webhooks is due again soon, so this statement is not repeated.
      const isRepeated = fault.lasting && !fault.call.includes('update webhook_messages')
      // The work that a fault ends makes no more of these calls; other work does.
      const works = isRepeated ? failed / 3 : failed
      expect(Number.isInteger(works), `${fault.call}, ${fault.is}`).toBe(true)
      expect(works, `${fault.call}, ${fault.is}`).toBeGreaterThan(0)
      expect(works, `${fault.call}, ${fault.is}`).toBeLessThanOrEqual(isRepeated ? rest : 1)
      if (leavesWork) await run()
      if (cron === CRON_SCHEDULES.expire) {
        // The queue may deliver clicks of earlier tests late.
        expect(await count('select count(*) as n from clicks where clicked_at = 0')).toBe(0)
        expect(await count('select count(*) as n from arrivals where hour = 1')).toBe(0)
      }
      if (cron === CRON_SCHEDULES.propagate) await expectPropagated()
    }
    // A run after all failed ones does what the first did.
    await due()
    const namesOf = (list: Place[]) => list.map(({ name }) => name).sort()
    expect(namesOf((await run()).calls)).toEqual(namesOf(calls))
    // The failed runs of other crons leave the settings as they are: they still reach the tokens.
    await propagate()
    await expectPropagated()
  })
})

describe('alarms', () => {
  test('an alarm deletes the state of a token once, even after an eviction', async () => {
    for (const stop of [evictDurableObject, abortAllDurableObjects]) {
      const world = await prepare('forex', false)
      const { token } = world.objects()
      await stop(token!)
      expect(await runDurableObjectAlarm(world.objects().token!)).toBe(true)
      expect(await runDurableObjectAlarm(world.objects().token!)).toBe(false)
      const kept = await runInDurableObject(world.objects().token!, (_, { storage }) => [
        ...storage.kv.list(),
      ])
      expect(kept).toEqual([])
    }
  })

  test("a client's alarm deletes its tokens and wrong attempts, and keeps its settings and version", async () => {
    const world = await prepare('forex', false)
    await env.DB.prepare('update accounts set version = version + 1').run()
    await propagate()
    await runInDurableObject(world.objects().client!, (_, { storage }) => {
      for (const key of ['wrongs', 'ended']) storage.kv.put(key, [])
    })
    await evictDurableObject(world.objects().client!)
    expect(await runDurableObjectAlarm(world.objects().client!)).toBe(true)
    const kept = await runInDurableObject(world.objects().client!, (_, { storage }) => [
      ...storage.kv.list(),
    ])
    expect(kept.map(([key]) => key)).toEqual(['settings', 'version'])
  })
})
