import { deepEqual, doesNotThrow, match } from 'node:assert/strict'
import { test } from 'node:test'
import { describedSql } from '../scripts/sql/files.ts'
import { planFaults, queryPlan } from '../scripts/sql/plan.ts'

test('no statement that writes or reads records scans a table or uses an index that it is not meant to', () => {
  doesNotThrow(describedSql)
})

test('statements are in ASCII: a character beyond Latin-1 would double the memory of requests to D1', () => {
  for (const [name, text] of describedSql()) match(text, /^[\n -~]*$/, name)
})

const faultsOf = (sql: string, indexes: string[] = []) => planFaults(sql, queryPlan(sql), indexes)

test('a plan that scans a table is a fault', () => {
  match(
    faultsOf('select * from transactions t where t.note = :note').join(),
    /scans a table: SCAN t/,
  )
})

test('a plan that scans the key of a table, or a table whose name is quoted, is a fault', () => {
  for (const sql of [
    'select transaction_id from transactions',
    'select * from transactions t indexed by transactions_key',
    'select * from "transactions" q',
  ])
    match(faultsOf(sql).join(), /scans a table: SCAN/, sql)
})

test('a plan that uses an index is a fault unless the statement is meant to use it', () => {
  const sql = `select count(*) from customers indexed by customers_day
    where account = :account and day > :day`

  match(faultsOf(sql).join(), /uses another index: SEARCH customers USING/)
  deepEqual(faultsOf(sql, ['customers_day']), [])
})

test('a plan that follows the key of the records has no fault', () => {
  deepEqual(
    faultsOf('select * from transactions where account = :account and transaction_id = :id'),
    [],
  )
})
