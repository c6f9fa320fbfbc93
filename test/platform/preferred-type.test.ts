import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { preferredType } from '../../src/platform/http/preferred-type.ts'

const app = new Hono().get('/', (c) =>
  c.text(preferredType(c, ['application/json', 'text/csv', 'text/html'])),
)

test.each([
  [undefined, 'application/json'],
  ['image/png', 'application/json'],
  ['*/*', 'application/json'],
  ['text/csv', 'text/csv'],
  ['TEXT/CSV; charset=utf-8', 'text/csv'],
  ['text/html, text/csv', 'text/html'],
  ['text/html;q=0.8, text/csv', 'text/csv'],
  ['text/html ; Q = 0.8, text/csv; q="0.7"', 'text/html'],
  ['text/csv;q=0, image/png', 'application/json'],
  ['text/*', 'text/csv'],
  ['text/*, text/csv;q=0.5', 'text/html'],
  ['text/*, application/json', 'application/json'],
  ['*/*, text/html;q=0.1', 'text/html'],
])('Accept: %s prefers %s', async (accept, expected) => {
  const response = await app.request('/', { headers: accept ? { Accept: accept } : {} })

  expect(await response.text()).toBe(expected)
})
