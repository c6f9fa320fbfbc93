import { env } from 'cloudflare:workers'
import { count, eq, sql } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { all, build, first, isOneOf, preparedQuery, toStatement } from '../src/db/query.ts'
import { affiliates, clients, links } from '../src/db/schema.ts'
import { bindStatement, compileStatement } from '../src/db/statement.ts'

const insertAffiliates = (...ids: string[]) =>
  env.DB.batch(
    ids.map((affiliate_id) =>
      toStatement(env.DB, build.insert(affiliates).values({ account: 'a', affiliate_id })),
    ),
  )

const ids = build.select({ affiliate_id: affiliates.affiliate_id }).from(affiliates)

test('all returns every row, first returns the first row or null', async () => {
  expect(await first(env.DB, ids)).toBeNull()
  await insertAffiliates('x', 'y')
  expect(await all(env.DB, ids)).toEqual([{ affiliate_id: 'x' }, { affiliate_id: 'y' }])
  expect(await first(env.DB, ids)).toEqual({ affiliate_id: 'x' })
})

test('an expression is returned under its alias', async () => {
  await insertAffiliates('x', 'y')
  const total = build.select({ total: count().as('total') }).from(affiliates)
  expect(await all(env.DB, total)).toEqual([{ total: 2 }])
})

test('a list of 200 values is bound as one parameter', async () => {
  await insertAffiliates('x', 'y')
  const values = ['y', ...Array.from({ length: 199 }, (_, i) => `z${i}`)]
  const query = build
    .select({ affiliate_id: affiliates.affiliate_id })
    .from(affiliates)
    .where(isOneOf(affiliates.affiliate_id, values))
  expect(query.toSQL().params).toHaveLength(1)
  expect(await all(env.DB, query)).toEqual([{ affiliate_id: 'y' }])
})

test('a prepared query is built once and bound each time', async () => {
  await insertAffiliates('x', 'y')
  let built = 0
  const byId = preparedQuery(() => {
    built += 1
    return build
      .select({ affiliate_id: affiliates.affiliate_id })
      .from(affiliates)
      .where(eq(affiliates.affiliate_id, sql.placeholder('id')))
  })
  for (const id of ['x', 'y'])
    expect(await first(env.DB, byId({ id }))).toEqual({ affiliate_id: id })
  expect(built).toBe(1)
})

test('a parameter without a value is an error that names the parameter', () => {
  const statement = compileStatement('select :account, :day')

  expect(() => bindStatement(env.DB, statement, { account: 'a' })).toThrow(
    'The parameter :day has no value.',
  )
})

describe('type errors', () => {
  test('a field named differently from its column does not compile', () => {
    const query = build.select({ id: clients.client_id }).from(clients)
    // @ts-expect-error D1 returns `client_id`
    expect(() => all(env.DB, query)).toBeDefined()
  })

  test('an expression without an alias does not compile', () => {
    const query = build.select({ total: count() }).from(clients)
    // @ts-expect-error D1 returns `count(*)`
    expect(() => all(env.DB, query)).toBeDefined()
  })

  test('a table as a field does not compile', () => {
    const query = build
      .select({ client: clients, link: links })
      .from(clients)
      .innerJoin(links, eq(links.account, clients.account))
    // @ts-expect-error both tables have a column `account`
    expect(() => all(env.DB, query)).toBeDefined()
  })
})
