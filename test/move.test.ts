import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ACCOUNT_TABLES } from '../src/db/account-tables.ts'
import { compareStep, finalCheck } from '../src/db/move/compare.ts'
import { copyStep } from '../src/db/move/copy.ts'
import { dropStep } from '../src/db/move/drop.ts'
import {
  closeWrites,
  endCopying,
  endFollowing,
  followStep,
  startFollowing,
} from '../src/db/move/follow.ts'
import { type CopyPlace, type Difference, MOVE_LIMITS } from '../src/db/move/place.ts'
import { anyTables, bytesOf, changeTables, fillTables } from './any-rows.ts'
import { randomSource } from './commission/worlds.ts'

// The engine that copies an account from one database to another, while it is used.

const { DB, DB_2 } = env
const limits = { ...MOVE_LIMITS }
const random = randomSource(1)
const chance = () => random.below(2 ** 30) / 2 ** 30

const insertAccount = (account: string, binding: string) =>
  DB.prepare(
    `insert into accounts (id, name, vertical, mode, binding, unknown_customer, created_at)
     values (?, ?, 'forex', 'test', ?, 'reject', '2026-01-01T00:00:00.000Z')`,
  )
    .bind(account, account, binding)
    .run()

/** The schema of a database without what a move created. */
const schemaOf = async (db: D1Database) =>
  (
    await db
      .prepare(
        "select name, tbl_name, sql from sqlite_schema where name not like 'move~_%' escape '~' order by name",
      )
      .all()
  ).results

beforeEach(async () => {
  Object.assign(MOVE_LIMITS, limits)
  await insertAccount('acme', 'DB_2')
})
afterEach(async () => {
  Object.assign(MOVE_LIMITS, limits)
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

/** Repeats a step until it has no next place. Between two steps, `meanwhile` runs. */
async function copyAll(source: D1Database, target: D1Database, meanwhile = async () => {}) {
  let steps = 0
  for (let place: CopyPlace | null = null, isFirst = true; place || isFirst; isFirst = false) {
    place = await copyStep(source, target, 'acme', place)
    steps++
    await meanwhile()
  }
  return steps
}

async function followAll(source: D1Database, target: D1Database) {
  while ((await followStep(source, target, 'acme')) > 0);
}

async function compareAll(source: D1Database, target: D1Database, meanwhile = async () => {}) {
  const found: Difference[] = []
  for (let place: CopyPlace | null = null, isFirst = true; place || isFirst; isFirst = false) {
    const { differences, next } = await compareStep(source, target, 'acme', place)
    found.push(...differences)
    place = next
    await meanwhile()
  }
  return found
}

test('each table with an account is copied by a move, or belongs to the directory', async () => {
  const { results } = await DB.prepare(
    `select name from sqlite_schema where type = 'table' and sql like '% account %'`,
  ).all<{ name: string }>()
  const ofMoves = ['move_changes', 'move_copies', 'move_sources']
  const ofDirectory = [
    'account_logos',
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

describe.each([
  ['DB_2', 'DB'],
  ['DB', 'DB_2'],
] as const)('from %s to %s', (from, to) => {
  const [source, target] = [env[from], env[to]]
  const except = from === 'DB' ? ['audit_log'] : []

  test('an account that changes all the time is the same to the byte', async () => {
    await fillTables(source, chance, 'acme', 12)
    const filled = await bytesOf(source, 'acme')
    expect(Object.values(filled).every((list) => list.length > 0)).toBe(true)
    await fillTables(source, chance, 'other', 3)
    await fillTables(target, chance, 'third', 3)
    const before = [await schemaOf(source), await schemaOf(target)]
    const others = [await bytesOf(source, 'other'), await bytesOf(target, 'third')]
    Object.assign(MOVE_LIMITS, { rows: 3, queries: 70, pages: 5, changes: 7 })
    const change = () => changeTables(source, chance, 'acme', 5)

    await startFollowing(source, target, 'acme')
    expect(await copyAll(source, target, change)).toBeGreaterThan(20)
    await followStep(source, target, 'acme')
    await change()
    expect(await compareAll(source, target, change)).toEqual([])
    await followAll(source, target)
    await change()
    await closeWrites(source, 'acme')
    await followAll(source, target)
    expect(await finalCheck(source, target, 'acme')).toEqual([])
    expect(await compareAll(source, target)).toEqual([])
    const bytes = await bytesOf(source, 'acme', except)
    expect(await bytesOf(target, 'acme', except)).toEqual(bytes)
    await endCopying(target, 'acme')

    while (!(await dropStep(source, 'acme')));
    const left = await bytesOf(source, 'acme')
    expect(
      Object.entries(left).filter(([name, list]) => list.length > 0 && !except.includes(name)),
    ).toEqual([])
    await endFollowing(source, 'acme')
    expect(await bytesOf(target, 'acme', except)).toEqual(bytes)
    expect([await bytesOf(source, 'other'), await bytesOf(target, 'third')]).toEqual(others)
    expect([await schemaOf(source), await schemaOf(target)]).toEqual(before)
  })
})
