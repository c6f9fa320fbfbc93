import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { askAdmin, json, register } from '../partner.ts'

// Sums of statements, and the lists that the console reads beside them.

const COMPUTED_AT = '2026-11-01T02:00:00.000Z'

const head = (payable: string, currency: string, holds: readonly object[], payable_on: string) =>
  JSON.stringify({
    currency,
    earned: payable,
    total: payable,
    payable,
    holds,
    payable_on,
  })

/** Stores a statement of an affiliate. */
const store = (row: {
  affiliate: string
  period?: string
  plan?: string
  status?: string
  payable: string
  currency?: string
  holds?: readonly object[]
  payable_on?: string
}) => {
  const { affiliate, period = '2026-10', plan = 'ib', status = 'draft' } = row
  const { payable, currency = 'EUR', holds = [], payable_on = '2020-01-01' } = row
  return env.DB.prepare(
    `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest, payable,
       closing, statement, lines, parts, state, read_at, computed_at)
     values ('acme', ?1, ?2, ?3, ?4, ?5, ?8, ?8, ?6, '0', ?7, '[]', 1, '{}', 0, '${COMPUTED_AT}')`,
  ).bind(
    ...[period, affiliate, plan, `${period}-${affiliate}-${plan}`, status, payable],
    head(payable, currency, holds, payable_on),
    'a'.repeat(64),
  )
}

const totals = (query = '') => json(askAdmin(`accounts/acme/statements/totals${query}`))

test('totals are exact, by status and currency', async () => {
  await register('forex', { account: 'acme' })
  const large = '9007199254740993.01'
  await env.DB.batch([
    store({ affiliate: 'a', payable: large }),
    store({ affiliate: 'b', payable: large, holds: [{}] }),
    store({ affiliate: 'c', payable: '-0.02', status: 'approved' }),
    store({ affiliate: 'd', payable: '7', plan: 'yen', currency: 'JPY', status: 'paid' }),
    store({ affiliate: 'a', payable: '1.00', period: '2026-09' }),
  ])

  expect(await totals('?period=2026-10')).toEqual({
    data: [
      {
        ...{ status: 'draft', currency: 'EUR', statements: 2, with_holds: 1, paying: 2 },
        ...{ earned: '18014398509481986.02', payable: '18014398509481986.02' },
      },
      {
        ...{ status: 'approved', currency: 'EUR', statements: 1, with_holds: 0, paying: 1 },
        ...{ earned: '-0.02', payable: '-0.02' },
      },
      expect.objectContaining({ status: 'paid', currency: 'JPY', payable: '7' }),
    ],
    is_limited: false,
  })
  const counts = async (query: string) =>
    (await totals(query)).data.map((one: { statements: number }) => one.statements)
  expect(await counts('')).toEqual([3, 1, 1])
  expect(await counts('?affiliate_id=a')).toEqual([2])
  expect(await counts('?plan=yen')).toEqual([1])
  expect(await counts('?status=approved')).toEqual([1])
  expect(await counts('?period=2026-11')).toEqual([])
})

test('the latest periods that have statements are added up, weeks and months by their ends', async () => {
  await register('forex', { account: 'acme' })
  const months = ['2026-03', '2026-02', '2026-01', '2025-12', '2025-11']
  await env.DB.batch([
    ...months.map((period) => store({ affiliate: 'a', payable: '2.00', period })),
    store({ affiliate: 'b', payable: '9007199254740993.01', period: '2026-03', status: 'paid' }),
    store({ affiliate: 'b', payable: '7', period: '2026-03', currency: 'JPY', plan: 'yen' }),
    store({ affiliate: 'w', payable: '0.50', period: '2026-W09' }),
    store({ affiliate: 'w', payable: '0.50', period: '2026-W10' }),
    store({ affiliate: 'v', payable: '0.25', period: '2026-W10' }),
  ])

  const { data, is_limited } = await json(askAdmin('accounts/acme/periods'))
  const seen = data.map((one: Record<string, unknown>) =>
    [one.period, one.status, one.statements, one.total, one.currency].join(' '),
  )
  expect(seen).toEqual([
    '2026-03 draft 1 2.00 EUR',
    '2026-03 paid 1 9007199254740993.01 EUR',
    '2026-03 draft 1 7 JPY',
    '2026-W10 draft 2 0.75 EUR',
    '2026-W09 draft 1 0.50 EUR',
    '2026-02 draft 1 2.00 EUR',
    '2026-01 draft 1 2.00 EUR',
    '2025-12 draft 1 2.00 EUR',
    '2025-11 draft 1 2.00 EUR',
  ])
  expect([data[0].computed_at, is_limited]).toEqual([COMPUTED_AT, false])
})

test('beside the periods stands what is payable today, by currency', async () => {
  await register('forex', { account: 'acme' })
  await env.DB.batch([
    store({ affiliate: 'a', payable: '9007199254740993.01', status: 'approved' }),
    store({ affiliate: 'a', payable: '0.50', status: 'approved', period: '2026-09' }),
    store({ affiliate: 'b', payable: '7', status: 'approved', currency: 'JPY', plan: 'yen' }),
    store({ affiliate: 'c', payable: '3.00', status: 'paid' }),
    store({ affiliate: 'd', payable: '4.00' }),
    store({ affiliate: 'e', payable: '5.00', status: 'approved', payable_on: '9998-01-01' }),
  ])

  const { due } = await json(askAdmin('accounts/acme/periods'))
  expect(due).toEqual([
    { currency: 'EUR', affiliates: 1, statements: 2, amount: '9007199254740993.51' },
    { currency: 'JPY', affiliates: 1, statements: 1, amount: '7' },
  ])
})

test('totals refuse other filters and other values', async () => {
  await register('forex', { account: 'acme' })
  for (const query of ['?period=10', '?status=open', '?cursor=x']) {
    const response = await askAdmin(`accounts/acme/statements/totals${query}`)
    expect([query, response.status]).toEqual([query, 400])
  }
})

test('links are listed of one affiliate', async () => {
  await register('forex', { account: 'acme', affiliates: ['a', 'b'] })
  const landing_page = 'https://acme.example/'
  for (const affiliate_id of ['a', 'a', 'b']) {
    await askAdmin('accounts/acme/links', 'POST', { affiliate_id, landing_page })
  }

  const { data, meta } = await json(askAdmin('accounts/acme/links?affiliate_id=a'))
  expect(data.map((one: { affiliate_id: string }) => one.affiliate_id)).toEqual(['a', 'a'])
  expect(meta.total).toBe(2)
})

test('attention names the currencies in drafts that wait for a rate', async () => {
  await register('forex', { account: 'acme' })
  const hold = (reason: string, currency: string, count: number) => ({
    reason,
    currency,
    count,
    sum: '1',
  })
  await env.DB.batch([
    store({
      affiliate: 'a',
      payable: '1',
      holds: [hold('fx_missing', 'HUF', 2), hold('no_currency', 'EUR', 9)],
    }),
    // The rates of a period that has not ended may still be published.
    store({
      affiliate: 'd',
      period: '2099-12',
      payable: '1',
      holds: [hold('fx_pending', 'NOK', 1)],
    }),
    store({
      affiliate: 'b',
      period: '2024-10',
      payable: '1',
      holds: [
        hold('fx_missing', 'HUF', 3),
        hold('fx_missing', 'CZK', 1),
        hold('fx_pending', 'PLN', 1),
      ],
    }),
    store({
      affiliate: 'c',
      payable: '1',
      status: 'approved',
      holds: [hold('fx_missing', 'SEK', 4)],
    }),
  ])
  const { data } = await json(askAdmin('accounts/acme/attention'))

  expect(data).toContainEqual({
    ...{ code: 'waiting_for_rates', count: 8, names: ['HUF', 'CZK', 'NOK', 'PLN'] },
    detail:
      'Not paid before there is an exchange rate: 5 amounts in HUF, 1 amount in CZK, 1 amount in NOK, 1 amount in PLN. Import the rates and compute the periods again.',
  })
})
