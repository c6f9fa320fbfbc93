import { env } from 'cloudflare:workers'
import { afterEach, expect, test } from 'vitest'
import { FRESH_LIMITS } from '../../src/commission/statements/limits.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { assign, monthly, storePlan } from './stored.ts'

const LIMITS = { ...FRESH_LIMITS }
afterEach(() => {
  Object.assign(FRESH_LIMITS, LIMITS)
})

const PATH = 'accounts/acme-forex/statements'
const TENTH = {
  id: 'tenth',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
} as const

async function firm() {
  const acme = await partner('forex')
  await storePlan(acme.account, 'ib', monthly([TENTH]))
  await assign(acme.account, 'ib')
  await acme.post('customers', ada)
  await acme.post('transactions', deposit)
  return acme
}

const FRESH = `${PATH}?affiliate_id=aff-7&period=2026-10&fresh=true`

test('a fresh statement is computed at once and is not stored', async () => {
  const acme = await firm()
  const { data, meta } = await json(askAdmin(FRESH))
  expect(meta).toEqual({ total: 1, page: 1, per_page: 50, next_cursor: null })
  expect(data[0]).toMatchObject({ total: '10.02', status: 'draft', lines_total: 1 })
  expect(data[0].lines).toMatchObject([{ rule: 'tenth', base: '100.25', amount: '10.02' }])
  expect((await json(askAdmin(PATH))).data).toEqual([])

  await acme.post('transactions', { ...deposit, amount_currency: 50 })
  const [changed] = (await json(askAdmin(FRESH))).data
  expect(changed).toMatchObject({ id: data[0].id, total: '5.00' })
  expect(changed.lines[0].id).toBe(data[0].lines[0].id)
  expect(changed.hash).not.toBe(data[0].hash)
})

test('a fresh statement can be narrowed to a plan', async () => {
  await firm()
  expect((await json(askAdmin(`${FRESH}&plan=ib`))).meta.total).toBe(1)
  expect((await json(askAdmin(`${FRESH}&plan=other`))).meta.total).toBe(0)
  expect((await json(askAdmin(`${FRESH}&status=paid`))).meta.total).toBe(0)
})

test('more than 50,000 records are refused, with the run that computes them', async () => {
  expect(FRESH_LIMITS.facts).toBe(50_000)
  FRESH_LIMITS.facts = 500
  await firm()
  const insert = (count: number) =>
    env.DB.prepare(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
       insert into transactions (account, transaction_id, customer_id, transaction_type,
         amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
       select 'acme-forex', 'x' || ? || '-' || i, 'c-1', 'deposit', 1, 'EUR', 0, 'approved',
         20728 + i % 7, 0, 'dlv_1', 0, 1 from n`,
    )
      .bind(count, count)
      .run()
  // The signup is a fact, too.
  await insert(498)
  expect((await json(askAdmin(FRESH))).data[0].total).toBe('59.82')
  await insert(1)
  const refused = await askAdmin(FRESH)
  expect(refused.status).toBe(422)
  expect((await json(refused)).detail).toContain(
    'more records than one request can read (500). Start a run of the period, which computes any number: POST /admin/v1/accounts/acme-forex/periods/2026-10/run.',
  )
})

test.each([
  ['fresh=true', '`fresh` requires `affiliate_id` and `period`.'],
  ['fresh=yes', '`fresh` must be `true` or `false`, not `yes`.'],
  [
    'period=2026-13',
    '`period` must be a month such as `2026-10` or a week such as `2026-W41`, not `2026-13`.',
  ],
  ['status=open', '`status` must be `draft`, `approved` or `paid`, not `open`.'],
  [
    'affiliate_id=a&period=2026-10&fresh=true&page=2',
    '`fresh` computes the statements of one affiliate, without pages.',
  ],
])('the query %s is refused', async (query, detail) => {
  await partner('forex')
  expect(await json(askAdmin(`${PATH}?${query}`))).toMatchObject({ code: 'invalid_query', detail })
})

test('accounts read their statements, and cannot have them computed', async () => {
  const acme = await firm()
  expect((await json(acme.get('statements'))).data).toEqual([])
  expect(await json(acme.get('statements?fresh=true'))).toMatchObject({ code: 'invalid_query' })
  for (const part of ['0', '10001']) {
    expect(await json(acme.get(`statements/stm_1?part=${part}`))).toMatchObject({
      code: 'invalid_query',
    })
  }
  expect((await acme.post('periods/2026-10/run', {})).status).toBe(404)
})
