import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { all, first, listRows, only, setTerms } from '../../src/db/query.ts'
import { affiliates, transactions } from '../../src/db/schema.ts'
import {
  bindStatement,
  compileStatement,
  lookUp,
  readBatch,
  required,
} from '../../src/db/statement.ts'

const INSERT = compileStatement(`insert into affiliates (account, affiliate_id) values ('a', :id)`)
const SELECT = compileStatement('select affiliate_id from affiliates where affiliate_id > :after')

const insertAffiliates = (...ids: string[]) =>
  env.DB.batch(ids.map((id) => bindStatement(env.DB, INSERT, { id })))

test('all returns every row, first returns the first row or null', async () => {
  expect(await first(env.DB, SELECT, { after: '' })).toBeNull()
  await insertAffiliates('x', 'y')
  expect(await all(env.DB, SELECT, { after: '' })).toEqual([
    { affiliate_id: 'x' },
    { affiliate_id: 'y' },
  ])
  expect(await first(env.DB, SELECT, { after: 'x' })).toEqual({ affiliate_id: 'y' })
})

test('a batch returns the rows of each statement; a row that must exist is an error if it does not', async () => {
  await insertAffiliates('x', 'y')
  const bind = (after: string) => bindStatement(env.DB, SELECT, { after })
  type Row = { affiliate_id: string }
  const [some, none] = await readBatch<[Row[], Row[]]>(env.DB, [bind('x'), bind('y')])

  expect([required(some[0], 'affiliate'), none]).toEqual([{ affiliate_id: 'y' }, []])
  expect(() => required(none[0], 'affiliate')).toThrow('There is no affiliate.')
})

test('only returns the row of a statement, and fails if there is none', async () => {
  const count = compileStatement('select count(*) as n from affiliates')

  expect(await only(env.DB, count, {})).toEqual({ n: 0 })
  await expect(only(env.DB, SELECT, { after: '' })).rejects.toThrow(
    'A statement that always has a row has none.',
  )
})

test('lookUp returns the value of a key, and fails if the map does not have it', () => {
  const map = new Map([['x', 1]])

  expect(lookUp(map, 'x')).toBe(1)
  expect(() => lookUp(map, 'y')).toThrow('A row that belongs to another one is missing.')
})

test('a parameter without a value is an error that names the parameter', async () => {
  const statement = compileStatement('select :account, :day')

  expect(() => bindStatement(env.DB, statement, { account: 'a' })).toThrow(
    'The parameter :day has no value.',
  )
  await expect(all(env.DB, SELECT)).rejects.toThrow('The parameter :after has no value.')
})

test('a parameter that a statement names twice is bound once', () => {
  expect(compileStatement('select :a, :b, :a')).toEqual({
    sql: 'select ?1, ?2, ?1',
    parameters: ['a', 'b'],
  })
})

test('a SET clause has the named columns that have a value, null included', () => {
  const values = { name: null, region: undefined, approvals: 2, version: 3 }

  expect(setTerms(['region', 'approvals', 'name'], values)).toEqual([
    'approvals = :approvals',
    'name = :name',
  ])
})

test('a list has all columns of its table unless it names some', async () => {
  await insertAffiliates('x', 'y')
  const page = { number: 1, size: 1, after: null }
  const list = { table: affiliates, key: 'affiliate_id', account: 'a' } as const

  const { data, total } = await listRows(env.DB, list, page)
  expect({ data, total }).toEqual({
    data: [
      {
        ...{ account: 'a', affiliate_id: 'x', parent: null, display_name: null },
        ...{ contact_email: null, language: null, note: null, status: 'active', suspensions: 0 },
      },
    ],
    total: 2,
  })
  const named = await listRows(env.DB, { ...list, columns: ['affiliate_id'] }, page)
  expect(named.data).toEqual([{ affiliate_id: 'x' }])
})

test('a column that the table lacks does not compile', () => {
  const page = { number: 1, size: 1, after: null }
  const list = { table: transactions, account: 'a' }
  // @ts-expect-error the column is `transaction_id`
  expect(() => listRows(env.DB, { ...list, key: 'id' }, page)).toBeDefined()
  // @ts-expect-error the column is `transaction_id`
  expect(() => transactions.id).toBeDefined()
})
