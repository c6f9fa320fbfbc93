import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ACCOUNT_TABLES } from '../../src/db/account-tables.ts'
import { finalCheck } from '../../src/db/move/compare.ts'
import { copyStep } from '../../src/db/move/copy.ts'
import { dropStep } from '../../src/db/move/drop.ts'
import {
  closeWrites,
  endCopying,
  endFollowing,
  followStep,
  openWrites,
  startFollowing,
} from '../../src/db/move/follow.ts'
import { COPY_LIMITS, type CopyPlace } from '../../src/db/move/place.ts'
import { randomSource } from '../commission/worlds.ts'
import { anyTables, bytesOf, changeTables, fillTables } from '../ingest/any-rows.ts'
import { overriding } from '../overriding.ts'
import { ada, json, partner } from '../partner.ts'

// The engine that copies an account from one database to another, while it is used.

const { DB, DB_2 } = env
const limits = { ...COPY_LIMITS }
const random = randomSource(1)
const chance = () => random.below(2 ** 30) / 2 ** 30

const insertAccount = (account: string, binding: string) =>
  DB.prepare(
    `insert into accounts (id, name, vertical, mode, binding, unknown_customer, created_at)
     values (?, ?, 'forex', 'test', ?, 'reject', '2026-01-01T00:00:00.000Z')`,
  )
    .bind(account, account, binding)
    .run()

beforeEach(async () => {
  Object.assign(COPY_LIMITS, limits)
  await insertAccount('acme', 'DB_2')
})
afterEach(async () => {
  Object.assign(COPY_LIMITS, limits)
  for (const db of [DB, DB_2]) {
    await db.batch(
      ['move_sources', 'move_changes', 'move_copies'].map((name) =>
        db.prepare(`delete from ${name}`),
      ),
    )
    await endFollowing(db, 'acme')
    const tables = await anyTables(db)
    for (const { name, triggers } of tables) {
      await db.batch([
        ...triggers.map((trigger) => db.prepare(`drop trigger ${trigger.name}`)),
        db.prepare(`delete from ${name}`),
        ...triggers.map(({ sql }) => db.prepare(sql)),
      ])
    }
  }
})

test('each table with an account is copied by a move, or belongs to the directory', async () => {
  const { results } = await DB.prepare(
    `select name from sqlite_schema where type = 'table' and sql like '% account %'`,
  ).all<{ name: string }>()
  const ofMoves = ['move_changes', 'move_copies', 'move_sources']
  const ofDirectory = [
    'account_logos',
    'account_moves',
    'affiliate_keys',
    'brand_tokens',
    'clients',
    'event_definitions',
    'links',
    'vocabulary',
  ]
  expect(results.map(({ name }) => name).sort()).toEqual(
    [...ACCOUNT_TABLES, ...ofDirectory, ...ofMoves].sort(),
  )
})

/** Returns a database of which one in `times` calls fails, before or after its effect. */
function failing(db: D1Database, times: number): D1Database {
  const stop =
    <A extends unknown[], R>(real: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (random.oneIn(times)) throw new Error('killed')
      const result = await real(...args)
      if (random.oneIn(times)) throw new Error('killed')
      return result
    }
  const statement = (real: D1PreparedStatement): D1PreparedStatement =>
    overriding(real, {
      bind: (...values: unknown[]) => statement(real.bind(...values)),
      all: stop(() => real.all()),
      first: stop(() => real.first()),
      raw: stop(() => real.raw()),
      run: stop(() => real.run()),
    })
  return overriding(db, {
    prepare: (sql: string) => statement(db.prepare(sql)),
    batch: stop((list: D1PreparedStatement[]) => db.batch(list)),
  })
}

/** Repeats a step until it is not killed. Counts how often it was. */
async function persist<T>(killed: { times: number }, step: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'killed') throw error
      killed.times++
    }
  }
}

test('a move whose steps are killed between any two queries, and repeated, loses nothing', async () => {
  await fillTables(DB_2, chance, 'acme', 3)
  Object.assign(COPY_LIMITS, { rows: 2, queries: 90, pages: 9, changes: 3, deleted: 3 })
  const [source, target] = [failing(DB_2, 70), failing(DB, 70)]
  const killed = { times: 0 }
  const repeat = <T>(step: () => Promise<T>) => persist(killed, step)
  const change = () => changeTables(DB_2, chance, 'acme', 2)

  await repeat(() => startFollowing(source, target, 'acme'))
  for (let place: CopyPlace | null = null, isFirst = true; place || isFirst; isFirst = false) {
    place = await repeat(() => copyStep(source, target, 'acme', place))
    if (random.oneIn(3)) await change()
  }
  await repeat(() => closeWrites(source, 'acme', 1))
  while ((await repeat(() => followStep(source, target, 'acme'))) > 0);
  expect(await repeat(() => finalCheck(source, target, 'acme'))).toEqual([])
  const bytes = await bytesOf(DB_2, 'acme')
  expect(await bytesOf(DB, 'acme')).toEqual(bytes)
  await repeat(() => endCopying(target, 'acme'))
  while (!(await repeat(() => dropStep(source, 'acme'))));
  await repeat(() => endFollowing(source, 'acme'))
  expect(Object.values(await bytesOf(DB_2, 'acme')).flat()).toEqual([])
  expect(await bytesOf(DB, 'acme')).toEqual(bytes)
  expect(killed.times).toBeGreaterThan(10)
})

test('no database takes a copy that has rows of the account, and none loses those that live there', async () => {
  await fillTables(DB, chance, 'acme', 1)
  await expect(startFollowing(DB_2, DB, 'acme')).rejects.toThrow('target_has_rows')
  await expect(dropStep(DB, 'acme')).rejects.toThrow('not_a_copy')
  await expect(dropStep(DB_2, 'acme')).rejects.toThrow('not_a_copy')
  await startFollowing(DB_2, DB_2, 'other')
  // Followed, but not closed.
  await startFollowing(DB, DB_2, 'acme')
  await expect(dropStep(DB, 'acme')).rejects.toThrow('not_a_copy')
  await expect(closeWrites(DB_2, 'acme', 1)).rejects.toThrow('not_following')
})

test('a delivery of the account is 503 with Retry-After in the pause, and stored before and after', async () => {
  const firm = await partner('forex', { account: 'beta', binding: 'DB_2' })
  await startFollowing(DB_2, DB, 'beta')
  expect((await firm.post('customers', ada)).status).toBe(201)
  await closeWrites(DB_2, 'beta', 1)
  const refused = await firm.post('customers', { ...ada, customer_id: 'c-2' })
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '2'])
  expect((await json(refused)).code).toBe('unavailable')
  expect((await firm.get('customers')).status).toBe(200)
  const other = await partner('forex', { account: 'gamma', binding: 'DB_2' })
  expect((await other.post('customers', ada)).status).toBe(201)
  await openWrites(DB_2, 'beta', 1)
  expect((await firm.post('customers', { ...ada, customer_id: 'c-2' })).status).toBe(201)
  const copied = await copyStep(DB_2, DB, 'beta', null)
  expect(copied).toBe(null)
  while ((await followStep(DB_2, DB, 'beta')) > 0);
  expect(await bytesOf(DB, 'beta')).toEqual(await bytesOf(DB_2, 'beta'))
  await endFollowing(DB_2, 'beta')
})
