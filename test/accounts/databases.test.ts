import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { forecastOf } from '../../src/admin/databases.ts'
import { DAY_MS } from '../../src/durations.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overriding } from '../overriding.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { printedAs } from '../secrecy.ts'

// The databases of a deployment: how full they are, and which of them a new account gets.

const GB = 1e9
const NOW = Date.parse('2026-11-27T12:00:00Z')
const TODAY = NOW / DAY_MS - 0.5

/** Stores the sizes of a database in GB, by the number of days ago. */
const measured = (binding: string, sizes: Record<number, number>) =>
  env.DB.batch(
    Object.entries(sizes).map(([ago, size]) =>
      env.DB.prepare('insert into database_sizes (binding, day, bytes) values (?, ?, ?)').bind(
        binding,
        TODAY - Number(ago),
        size * GB,
      ),
    ),
  )

/** Returns a deployment that also has these databases. */
const withDatabases = (...bindings: string[]) => {
  const all = Object.fromEntries(bindings.map((binding) => [binding, env.DB_2]))
  return { ...env, ...all } as unknown as Env
}

const ask = (path: string, world: Env, body?: object) =>
  fetchWith(
    world,
    new Request(new URL(`/admin/v1/${path}`, ORIGIN), {
      method: body ? 'POST' : 'GET',
      headers: {
        Authorization: `Bearer ${env.ADMIN_KEY}`,
        ...(body && { 'Content-Type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
    }),
  )

const atNoon = () => vi.useFakeTimers({ toFake: ['Date'], now: NOW })

describe('§19.1 the forecast of a database', () => {
  const of = (first: [ago: number, gb: number], last: [ago: number, gb: number]) => {
    const { forecast, full_on, growth_bytes, growth_days } = forecastOf(
      {
        ...{ binding: 'DB', first_day: TODAY - first[0], first_bytes: first[1] * GB },
        ...{ last_day: TODAY - last[0], last_bytes: last[1] * GB },
      },
      TODAY,
    )
    return [forecast, full_on, growth_bytes, growth_days]
  }

  test('a database that was never measured, or for less than a week, has no history', () => {
    expect(forecastOf(undefined, TODAY)).toMatchObject({ forecast: 'no_history', full_on: null })
    expect(of([6, 1], [0, 2])).toEqual(['no_history', null, null, null])
  })

  test.each([
    // 1 GB in 30 days: 3 GB take 90 days.
    [
      [30, 1],
      [0, 2],
      ['growing', '2027-02-25', GB, 30],
    ],
    [
      [7, 4],
      [0, 4.5],
      ['growing', '2026-12-04', 0.5 * GB, 7],
    ],
    // It was not measured since: the day is not in the past.
    [
      [30, 3],
      [20, 4.9],
      ['growing', '2026-11-27', 1.9 * GB, 10],
    ],
    [
      [30, 2],
      [0, 2],
      ['steady', null, 0, 30],
    ],
    [
      [30, 2],
      [0, 1],
      ['steady', null, -GB, 30],
    ],
    [
      [30, 2],
      [0, 2.0078125],
      ['steady', null, 7_812_500, 30],
    ],
    [
      [30, 4],
      [0, 5],
      ['full', '2026-11-27', GB, 30],
    ],
    [
      [0, 5],
      [0, 5],
      ['full', '2026-11-27', null, null],
    ],
  ] as const)('from %j to %j it is %j', (first, last, expected) => {
    expect(of([...first], [...last])).toEqual(expected)
  })
})

describe('GET databases', () => {
  test('each database has its accounts, size, growth and the day on which it has 5 GB', async () => {
    for (const [account, binding] of [
      ['a', 'DB'],
      ['b', 'DB_2'],
      ['c', 'DB_2'],
    ] as const) {
      await askAdmin('accounts', 'POST', { account, name: 'N', vertical: 'forex', binding })
    }
    await measured('DB', { 45: 0.1, 30: 1, 15: 1.2, 0: 2 })
    atNoon()
    expect(await json(askAdmin('databases'))).toEqual({
      data: [
        {
          ...{ binding: 'DB', jurisdiction: null, accounts: 1, bytes: 2 * GB },
          ...{ growth_bytes: GB, growth_days: 30, full_on: '2027-02-25', forecast: 'growing' },
        },
        {
          ...{ binding: 'DB_2', jurisdiction: null, accounts: 2, bytes: null },
          ...{ growth_bytes: null, growth_days: null, full_on: null, forecast: 'no_history' },
        },
      ],
      pools: [{ jurisdiction: null, databases: 1, full_on: null, is_filling: false }],
    })
  })

  test('every ten minutes the sizes of all databases are stored, one a day, for 60 days', async () => {
    await measured('DB', { 61: 1, 60: 1 })
    const failing = overriding(env.DB_2, {
      prepare: () => {
        throw new Error('gone')
      },
    })
    await runCron(
      CRON_SCHEDULES.storage,
      NOW,
      overriding(withDatabases('DB_EU_1') as typeof env, { DB_2: failing }),
    )
    await runCron(CRON_SCHEDULES.storage, NOW + 600_000, withDatabases('DB_EU_1'))
    const { results } = await env.DB.prepare(
      'select binding, day from database_sizes order by 1, 2',
    ).all()
    expect(results).toEqual([
      { binding: 'DB', day: TODAY - 60 },
      ...['DB', 'DB_2', 'DB_EU_1'].map((binding) => ({ binding, day: TODAY })),
    ])
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'Error', binding: 'DB_2' },
    ])
  })

  test('30 days before the last database of a jurisdiction is full, the log and the pool say so', async () => {
    const world = withDatabases('DB_3', 'DB_EU_1', 'DB_EU_2')
    await measured('DB', { 30: 4, 0: 6 })
    await measured('DB_2', { 30: 1, 0: 4 })
    await measured('DB_3', { 30: 0, 0: 1 })
    await measured('DB_EU_1', { 30: 4, 0: 5 })
    await measured('DB_EU_2', { 30: 2, 0: 4 })
    atNoon()
    const { pools } = await json(ask('databases', world))
    expect(pools).toEqual([
      { jurisdiction: null, databases: 2, full_on: '2027-03-27', is_filling: false },
      { jurisdiction: 'eu', databases: 2, full_on: '2026-12-12', is_filling: true },
    ])
    await runCron(CRON_SCHEDULES.report, NOW, world)
    expect(printedAs('warn').map((line) => JSON.parse(line))).toEqual([
      { pool_alarm: 'eu', full_on: '2026-12-12' },
    ])
  })
})

describe('the database of a new account', () => {
  const create = async (world: Env, more: object = {}) => {
    const body = { account: crypto.randomUUID(), name: 'N', vertical: 'forex', ...more }
    const created = await ask('accounts', world, body)
    expect(created.status).toBe(201)
    return (await json(created)).binding
  }

  test('is DB while it is the only one, and before another one was measured', async () => {
    expect(await create({ ...env, DB_2: undefined } as never)).toBe('DB')
    expect(await create(env as Env)).toBe('DB')
  })

  test('is the emptiest of its jurisdiction, and never DB, which is the directory', async () => {
    const world = withDatabases('DB_3', 'DB_EU_1', 'DB_EU_2')
    await measured('DB', { 0: 0.1 })
    await measured('DB_2', { 9: 0.1, 0: 3 })
    await measured('DB_3', { 9: 4, 0: 2 })
    await measured('DB_EU_1', { 0: 0.5 })
    await measured('DB_EU_2', { 0: 0.4 })
    expect(await create(world)).toBe('DB_3')
    expect(await create(world, { jurisdiction: 'eu' })).toBe('DB_EU_2')
    expect(await create(world, { binding: 'DB_2' })).toBe('DB_2')
  })

  test('of a jurisdiction without a measured database is its first, and DB without any', async () => {
    expect(await create(withDatabases('DB_EU_1', 'DB_EU_2'), { jurisdiction: 'eu' })).toBe(
      'DB_EU_1',
    )
    expect(await create(env as Env, { jurisdiction: 'eu' })).toBe('DB')
  })
})
