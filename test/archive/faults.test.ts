import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { archiveStep, STEP_LIMITS } from '../../src/archive/archive-month.ts'
import { continueArchives } from '../../src/archive/continue-archives.ts'
import { OBJECT_LIMITS } from '../../src/archive/object.ts'
import { readMonth } from '../../src/db/archive/months.ts'
import { archive, formOfResource, keepTotals, monthOf, place, restore } from '../archive-steps.ts'
import { deliverJob, runCron } from '../crons.ts'
import { overriding, overridingSessions } from '../overriding.ts'
import { ada, deposit, json, partner } from '../partner.ts'

// What R2 and D1 may do while months leave and come back: no record is lost, doubled or changed.

const USUAL = [{ ...OBJECT_LIMITS }, { ...STEP_LIMITS }]
// A month then has several objects, and several steps of each kind.
beforeEach(() => {
  Object.assign(OBJECT_LIMITS, { records: 9, group: 4 })
  Object.assign(STEP_LIMITS, { page: 3, dropped: 7 })
})
afterEach(() => {
  Object.assign(OBJECT_LIMITS, USUAL[0])
  Object.assign(STEP_LIMITS, USUAL[1])
})

const MONTH = '2024-03'
const march = monthOf('acme', 'transactions', MONTH)
const task = { month: march, form: formOfResource('transactions') }
const RECORDS = 20

/** Returns a firm with records of an old month. */
async function firm() {
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  await acme.post('customers', [ada])
  const sent = Array.from({ length: RECORDS }, (_, i) => ({
    ...{ ...deposit, transaction_id: `t-${i}`, amount_currency: 10 + i / 4 },
    transaction_date: `${MONTH}-${String(1 + i).padStart(2, '0')}T09:30:00Z`,
  }))
  expect((await acme.post('transactions', sent)).status).toBe(200)
  await keepTotals('acme', 'forex', `${MONTH}-01`, `${MONTH}-31`)
  return acme
}

const storedRows = async () =>
  (await env.DB.prepare('select * from transactions order by day, transaction_id').all()).results

/** The calls of R2 that may fail. */
const CALLS = ['head', 'get', 'put', 'list', 'delete'] as const

/** Returns the bucket whose call number `calls` does something else. */
function bucketThat(calls: number, fail: (call: () => Promise<unknown>) => Promise<unknown>) {
  let left = calls
  const failing = (name: (typeof CALLS)[number]) => {
    const call = env.ARCHIVE[name] as (...values: unknown[]) => Promise<unknown>
    return (...values: unknown[]) => {
      const real = () => call.apply(env.ARCHIVE, values)
      left -= 1
      return left === 0 ? fail(real) : real()
    }
  }
  const bucket = overriding(
    env.ARCHIVE,
    Object.fromEntries(CALLS.map((name) => [name, failing(name)])),
  )
  return { place: { ...place, bucket }, hasFailed: () => left <= 0 }
}

const OVERLOADED = new Error('get: We are overloaded (10058)')

const FAULTS: Record<string, (call: () => Promise<unknown>) => Promise<unknown>> = {
  'fails before it acts': () => Promise.reject(OVERLOADED),
  'acts, and then fails': async (call) => {
    await call()
    throw OVERLOADED
  },
  'finds nothing': () => Promise.resolve(null),
}

describe('R2 that', () => {
  test.for(Object.keys(FAULTS))(
    '%s, at any call of an archiving and a restoration',
    async (name) => {
      await firm()
      const before = await storedRows()
      for (let calls = 1, hasFailed = true; hasFailed; calls++) {
        const leaving = bucketThat(calls, FAULTS[name]!)
        await archive(march, Date.now() + calls, leaving.place).catch(() => null)
        if ((await storedRows()).length === RECORDS) expect(await storedRows()).toEqual(before)
        await archive(march, Date.now() + calls)
        expect(await readMonth(env.DB, march)).toMatchObject({
          state: 'archived',
          records: RECORDS,
        })
        const returning = bucketThat(calls, FAULTS[name]!)
        await restore(march, returning.place).catch(() => null)
        await restore(march)
        expect(await storedRows()).toEqual(before)
        hasFailed = leaving.hasFailed() || returning.hasFailed()
      }
    },
  )

  test('answers after the end of an invocation loses nothing: the next one goes on', async () => {
    await firm()
    const before = await storedRows()
    const slow = overriding(env.ARCHIVE, {
      put: async (...values: Parameters<R2Bucket['put']>) => {
        await scheduler.wait(30)
        return env.ARCHIVE.put(...values)
      },
      get: async (key: string) => {
        await scheduler.wait(30)
        return env.ARCHIVE.get(key)
      },
    })
    const minute = () =>
      continueArchives(
        { ...place, bucket: slow },
        {
          formOf: () => Promise.resolve(task.form),
          onFailure: (_, error) => expect(error).toBeNull(),
          ...{ deadline: Date.now() + 20, now: Date.now() },
        },
      )
    await archiveStep(place, task, Date.now())
    let minutes = 0
    while (!(await minute())) minutes += 1
    expect(await readMonth(env.DB, march)).toMatchObject({ state: 'archived', records: RECORDS })
    await env.DB.prepare('update archived_months set wanted_at = 1').run()
    while (!(await minute())) minutes += 1
    expect(minutes).toBeGreaterThan(3)
    expect(await readMonth(env.DB, march)).toBeNull()
    expect(await storedRows()).toEqual(before)
  })
})

describe('two invocations at once', () => {
  test('archive and restore a month once', async () => {
    await firm()
    const before = await storedRows()
    for (let round = 1; round < 6; round++) {
      const now = Date.now() + round
      // A step that another one has overtaken may fail; the next one goes on.
      const both = (work: () => Promise<unknown>) => Promise.allSettled([work(), work(), work()])
      await both(() => archive(march, now))
      await archive(march, now)
      expect(await readMonth(env.DB, march)).toMatchObject({ state: 'archived', records: RECORDS })
      expect(await storedRows()).toEqual([])
      await both(() => restore(march))
      await restore(march)
      expect(await readMonth(env.DB, march)).toBeNull()
      expect(await storedRows()).toEqual(before)
    }
  })

  test('one that archives and one that restores leave every record in one place', async () => {
    const acme = await firm()
    const before = await json(acme.get(`transactions?per_page=100&from=${MONTH}-01`))
    for (let round = 1; round < 6; round++) {
      const now = Date.now() + 10 * round
      await Promise.allSettled([archive(march, now), restore(march), archive(march, now)])
      const found = await json(acme.get(`transactions?per_page=100&from=${MONTH}-01`))
      expect(found.data).toEqual(before.data)
      await restore(march)
      expect(await storedRows()).toHaveLength(RECORDS)
    }
  })
})

/** Returns the environment in which the database ends an invocation at its call number `calls`. */
function worldThatEnds(calls: number) {
  let left = calls
  const ending = <A extends unknown[], R>(real: (...values: A) => Promise<R>) => {
    return async (...values: A) => {
      left -= 1
      if (left < 0) throw new Error('D1_ERROR: the invocation has ended')
      return real(...values)
    }
  }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    overriding(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values)),
      all: ending(() => real.all()),
      first: ending(() => real.first()),
      run: ending(() => real.run()),
      raw: ending(() => real.raw()),
    })
  const DB = overridingSessions(env.DB as never, (real) => ({
    prepare: (text: string) => statement(real.prepare(text) as never),
    batch: ending((list: D1PreparedStatement[]) => real.batch(list as never)),
  }))
  return { world: overriding(env as Env, { DB }), hasEnded: () => left < 0 }
}

describe('the cron of each minute', () => {
  test('and the message that looks for old months go on with what ended at any query', async () => {
    await firm()
    const before = await storedRows()
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    let ends = 0
    /** Makes invocations that end later and later, until one is whole. */
    const untilWhole = async (invoke: (world: Env) => Promise<unknown>) => {
      for (let calls = 1, hasEnded = true; hasEnded; calls += 2) {
        const ending = worldThatEnds(calls)
        await invoke(ending.world).catch(() => null)
        hasEnded = ending.hasEnded()
        ends += Number(hasEnded)
      }
    }
    const start = { job: 'old-months', account: 'acme', at: Date.now(), round: 1 } as const
    await untilWhole((world) => deliverJob(start, world))
    expect(await readMonth(env.DB, march)).toMatchObject({ state: 'writing' })
    const minute = (world: Env) => runCron(CRON_SCHEDULES.propagate, Date.now(), world)
    await untilWhole(minute)
    expect(await readMonth(env.DB, march)).toMatchObject({ state: 'archived', records: RECORDS })
    expect(await storedRows()).toEqual([])
    await env.DB.prepare('update archived_months set wanted_at = 1').run()
    await untilWhole(minute)
    expect(ends).toBeGreaterThan(10)
    expect(await readMonth(env.DB, march)).toBeNull()
    expect(await storedRows()).toEqual(before)
    errors.mockRestore()
  })
})
