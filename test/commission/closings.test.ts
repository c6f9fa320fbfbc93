import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { AFFILIATES_PER_QUERY } from '../../src/db/commission/books/approved-rows.ts'
import { CLOSING_BYTES, readClosings } from '../../src/db/commission/books/closings.ts'
import { readOpenManualEntries } from '../../src/db/commission/books/manual-entries.ts'
import { digestOf, headOf, type StatementRow, storeRows } from './book-rows.ts'

const ACCOUNT = 'acme-forex'

const approved = (affiliate: string, period: string, head: StatementRow['head'] = {}) =>
  ({ affiliate, period, head, status: 'approved', approved_at: 1000 }) as const

test('approved statements and closed periods of some affiliates are read', async () => {
  const rows: StatementRow[] = [
    approved('a', '2026-08', { dropped: '-2.50', closing: '0.00' }),
    approved('a', '2026-09', null),
    { affiliate: 'a', period: '2026-10', head: {} },
    { ...approved('b', '2026-08'), status: 'paid' },
    approved('c', '2026-08'),
    { ...approved('a', '2026-08'), account: 'other' },
  ]
  await storeRows(rows)
  await env.DB.batch([
    env.DB.prepare(`insert into closed_periods values (?, 'ib', '2026-09', 5)`).bind(ACCOUNT),
    env.DB.prepare(`insert into closed_periods values ('other', 'ib', '2026-10', 5)`),
    ...['b', 'c'].map((one) =>
      env.DB.prepare(`insert into open_affiliates values (?, 'ib', '2026-09', ?)`).bind(
        ACCOUNT,
        one,
      ),
    ),
  ])
  const { statements, periods } = await readClosings(env.DB, ACCOUNT, ['b', 'a'])
  expect(
    statements.map(({ affiliate_id, period, status, dropped }) => [
      affiliate_id,
      period,
      status,
      dropped,
    ]),
  ).toEqual([
    ['a', '2026-08', 'approved', '-2.50'],
    ['a', '2026-09', 'approved', '0'],
    ['b', '2026-08', 'paid', '0.00'],
  ])
  expect(statements[0]).toMatchObject({
    digest: digestOf(rows[0]!),
    approved_at: 1000,
  })
  expect(JSON.parse(statements[0]!.statement!)).toEqual(headOf(rows[0]!, rows[0]!.head!))
  expect(statements[1]!.statement).toBe(null)
  expect(periods).toEqual([{ plan: 'ib', period: '2026-09', closed_at: 5, open: ['b'] }])
})

test('approved statements beyond the bytes of one answer are all read', async () => {
  const note = 'x'.repeat(CLOSING_BYTES / 8)
  const months = Array.from({ length: 10 }, (_, i) => `2026-${String(i + 1).padStart(2, '0')}`)
  const affiliates = Array.from({ length: AFFILIATES_PER_QUERY + 5 }, (_, i) => `a-${i + 100}`)
  for (const period of months) await storeRows([approved('a-100', period, { note })])
  await storeRows(affiliates.slice(1).map((one) => approved(one, '2026-01')))
  const { statements } = await readClosings(env.DB, ACCOUNT, affiliates)
  expect(statements.map(({ affiliate_id, period }) => `${affiliate_id} ${period}`)).toEqual([
    ...months.map((period) => `a-100 ${period}`),
    ...affiliates.slice(1).map((one) => `${one} 2026-01`),
  ])
})

test('manual entries are open until an approved statement has them', async () => {
  const insert = (id: string, affiliate: string, statement: string | null, account = ACCOUNT) =>
    env.DB.prepare(
      `insert into manual_entries values (?, ?, ?, 'ib', 'EUR', '5.00', 'bonus', ?2, 'ada', 'now', ?, ?2)`,
    ).bind(account, id, affiliate, statement)
  await env.DB.batch([
    insert('man_2', 'a', null),
    insert('man_1', 'b', null),
    insert('man_0', 'a', 'stm_1'),
    insert('man_3', 'c', null),
    insert('man_4', 'a', null, 'other'),
  ])
  const open = await readOpenManualEntries(env.DB, ACCOUNT, ['a', 'b'])
  expect(open.map(({ id }) => id)).toEqual(['man_1', 'man_2'])
})
