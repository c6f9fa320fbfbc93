import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { listRows } from '../../src/platform/db/paginate.ts'
import { transactions } from '../../src/platform/db/tables.ts'

test('a column that the table lacks does not compile', () => {
  const page = { number: 1, size: 1, after: null }
  const list = { table: transactions, account: 'a' }
  // @ts-expect-error the column is `transaction_id`
  expect(() => listRows(env.DB, { ...list, key: 'id' }, page)).toBeDefined()
  // @ts-expect-error the column is `transaction_id`
  expect(() => transactions.id).toBeDefined()
})
