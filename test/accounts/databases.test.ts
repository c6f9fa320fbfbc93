import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { CRON_SCHEDULES } from '../../src/jobs/crons.ts'
import { fetchWith } from '../checked-fetch.ts'
import { overriding } from '../overriding.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { runCron } from '../platform/crons.ts'
import { printedAs } from '../secrecy.ts'

// The databases of a deployment: how full they are, and which of them a new account gets.

const GB = 1e9
const NOW = Date.parse('2026-11-27T12:00:00Z')

/** Stores the size of a database in GB. */
const measured = (binding: string, size: number) =>
  env.DB.prepare('insert into database_sizes (binding, bytes) values (?, ?)')
    .bind(binding, size * GB)
    .run()

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

describe('GET databases', () => {
  test('each database has its accounts and its size', async () => {
    for (const [account, binding] of [
      ['a', 'DB'],
      ['b', 'DB_2'],
      ['c', 'DB_2'],
    ] as const) {
      await askAdmin('accounts', 'POST', { account, name: 'N', vertical: 'forex', binding })
    }
    await measured('DB', 2)
    expect(await json(askAdmin('databases'))).toEqual({
      data: [
        { binding: 'DB', jurisdiction: null, accounts: 1, bytes: 2 * GB },
        { binding: 'DB_2', jurisdiction: null, accounts: 2, bytes: null },
      ],
    })
  })

  test('every ten minutes the sizes of all databases are stored', async () => {
    await measured('DB', 1)
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
    const { results } = await env.DB.prepare('select binding from database_sizes order by 1').all()
    expect(results).toEqual(['DB', 'DB_2', 'DB_EU_1'].map((binding) => ({ binding })))
    expect(printedAs('error').map((line) => JSON.parse(line))).toEqual([
      { fault: 'Error', binding: 'DB_2' },
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
    await measured('DB', 0.1)
    await measured('DB_2', 3)
    await measured('DB_3', 2)
    await measured('DB_EU_1', 0.5)
    await measured('DB_EU_2', 0.4)
    expect(await create(world)).toBe('DB_3')
    expect(await create(world, { jurisdiction: 'eu' })).toBe('DB_EU_2')
    expect(await create(world, { binding: 'DB_2' })).toBe('DB_2')
  })

  test('keeps no rules there of an attempt that failed', async () => {
    await env.DB_2.prepare(
      `insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
       values ('late', 'reversals', 1, '2026-01-01', '{}', ''), ('late', 'x', 1, '2026-01-01', '{}', '')`,
    ).run()
    await create(env as Env, { account: 'late', binding: 'DB_2' })
    await create(env as Env, { account: 'first', binding: 'DB_2' })
    const rulesOf = async (account: string) => {
      const of = `select rule from fraud_rule_versions where account = ? order by rule`
      return (await env.DB_2.prepare(of).bind(account).all()).results
    }
    expect(await rulesOf('late')).toEqual(await rulesOf('first'))
  })

  test('of a jurisdiction without a measured database is its first, and DB without any', async () => {
    expect(await create(withDatabases('DB_EU_1', 'DB_EU_2'), { jurisdiction: 'eu' })).toBe(
      'DB_EU_1',
    )
    expect(await create(env as Env, { jurisdiction: 'eu' })).toBe('DB')
  })
})
