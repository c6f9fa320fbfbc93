import { env } from 'cloudflare:workers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { assign, draftsOf, monthly, publish, storePlan } from '../commission/stored.ts'
import { signedIn } from '../console/browser.ts'
import {
  ada,
  askAdmin,
  deposit,
  json,
  issuedPartner as partner,
  register,
  traded,
} from '../partner.ts'
import { earning, storeRows } from './book-rows.ts'

// The book zone of a partner: by which days its records count, and when it can change.

const NEW_YORK = 'America/New_York'

type Partner = Awaited<ReturnType<typeof partner>>

const dated = (transaction_id: string, transaction_date: string, amount_currency = 1) => ({
  ...deposit,
  transaction_id,
  transaction_date,
  amount_currency,
})

const totalsOf = async (acme: Partner, from: string, to: string) =>
  (await json(acme.get(`totals?from=${from}&to=${to}`))).data.map(
    ({ day, resource, count }: Record<string, unknown>) => `${day} ${resource} ${count}`,
  )

describe('days', () => {
  test.each([
    // The clock is set back: 1 November has 25 hours.
    [
      ['2026-11-01T03:59:59.999Z', '2026-10-31'],
      ['2026-11-01T04:00:00.000Z', '2026-11-01'],
      ['2026-11-02T04:59:59.999Z', '2026-11-01'],
      ['2026-11-02T05:00:00.000Z', '2026-11-02'],
    ],
    // The clock is set forward: 8 March has 23 hours.
    [
      ['2026-03-08T04:59:59.999Z', '2026-03-07'],
      ['2026-03-08T05:00:00.000Z', '2026-03-08'],
      ['2026-03-09T03:59:59.999Z', '2026-03-08'],
      ['2026-03-09T04:00:00.000Z', '2026-03-09'],
    ],
  ])('transactions around midnight count on their day in New York: %j', async (...records) => {
    const acme = await partner('forex', { book_zone: NEW_YORK })
    await acme.post('customers', { ...ada, signup_date: records[0]![0] })
    const sent = records.map(([at = ''], i) => dated(`t-${i}`, at))
    expect((await acme.post('transactions', sent)).status).toBe(200)

    for (const [i, [at, day]] of records.entries()) {
      const { data } = await json(acme.get(`transactions?from=${day}&to=${day}`))
      expect(data.map((one: typeof deposit) => one.transaction_id)).toContain(`t-${i}`)
      expect(data.find((one: typeof deposit) => one.transaction_id === `t-${i}`)).toMatchObject({
        transaction_date: at,
      })
    }
    const [first, second, , last] = records.map(([, day = '']) => day)
    expect(await totalsOf(acme, first!, last!)).toEqual([
      `${first} customers 1`,
      `${first} transactions 1`,
      `${second} transactions 2`,
      `${last} transactions 1`,
    ])
    expect(await json(acme.post('transactions', sent))).toMatchObject({ summary: { unchanged: 4 } })
  })

  test('trading activity keeps the date that was sent', async () => {
    const acme = await partner('forex', { book_zone: 'Pacific/Auckland' })
    await acme.post('customers', ada)
    await acme.post('trading-activity', traded)
    expect(await totalsOf(acme, '2026-10-02', '2026-10-02')).toEqual([
      '2026-10-02 trading-activity 1',
    ])
  })

  test.each([
    [NEW_YORK, '0000-01-01T00:00:00.000Z', '0000-01-01'],
    ['Pacific/Auckland', '9999-12-31T23:59:59.999Z', '9999-12-31'],
  ])('in %s the day of %s is the last of the calendar', async (book_zone, at, day) => {
    const acme = await partner('forex', { book_zone })
    await acme.post('customers', { ...ada, signup_date: at })
    expect((await acme.post('transactions', dated('t-1', at))).status).toBe(201)
    expect(await totalsOf(acme, day, day)).toEqual([`${day} customers 1`, `${day} transactions 1`])
  })

  test('a change of affiliate takes effect on the day in UTC on which it was received', async () => {
    const acme = await partner('forex', { book_zone: 'Pacific/Kiritimati' })
    await acme.post('customers', ada)
    // A first affiliate that lasted less than a day is corrected instead.
    await env.DB.prepare('update customers set first_seen_at = first_seen_at - 86400000').run()
    await acme.post('customers', { ...ada, affiliate_id: 'aff-8' })
    const path = `accounts/${acme.account}/customers/${ada.customer_id}/affiliations`
    const { affiliations } = await json(askAdmin(path))
    expect(affiliations.at(-1)).toMatchObject({ from: new Date().toISOString().slice(0, 10) })
  })

  test('today is the day in the book zone when a version of a plan is withdrawn', async () => {
    const acme = await partner('forex', { book_zone: 'Pacific/Kiritimati' })
    const tomorrow = new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10)
    const rule = { id: 'r', kind: 'share', percent: '1', base: [{ transactions: ['deposit'] }] }
    const plan = monthly([rule as never], { effective_from: tomorrow })
    const path = `accounts/${acme.account}/plans/p`
    expect((await askAdmin(path, 'PUT', plan)).status).toBe(201)
    expect((await askAdmin(`${path}/versions/1`, 'DELETE')).status).toBe(409)
  })
})

test('the account names its book zone', async () => {
  const acme = await partner('forex', { book_zone: NEW_YORK })
  expect(await json(acme.get('account'))).toMatchObject({ book_zone: NEW_YORK })
  const settings = await json(askAdmin(`accounts/${acme.account}`))
  expect(settings).toMatchObject({ book_zone: NEW_YORK, time_zone: 'UTC' })
})

describe('commissions', () => {
  test('statements, unearned records and totals agree on the period of each record', async () => {
    const acme = await partner('forex', { book_zone: NEW_YORK, affiliates: ['aff-7'] })
    const share = { id: 's', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] }
    await storePlan(acme.account, 'p', monthly([share as never], { effective_from: '2025-01-01' }))
    await assign(acme.account, 'p', '*', '2025-01-01')
    await acme.post('customers', { ...ada, signup_date: '2025-11-01T03:00:00Z' })
    await acme.post('transactions', [
      dated('oct-1', '2025-10-01T04:00:00Z', 100),
      dated('oct-2', '2025-11-01T03:59:59Z', 20),
      { ...dated('oct-3', '2025-11-01T03:00:00Z', 7), status: 'declined' },
      dated('nov-1', '2025-11-01T04:00:00Z', 3000),
      dated('nov-2', '2025-12-01T04:59:59Z', 400),
      { ...dated('nov-3', '2025-12-01T03:00:00Z', 5), status: 'pending' },
      dated('dec-1', '2025-12-01T05:00:00Z', 50_000),
    ])
    for (const [period, last, amount, counted, unearned] of [
      ['2025-10', '31', '12.00', '120', ['oct-3']],
      ['2025-11', '30', '340.00', '3400', ['nov-3']],
    ] as const) {
      const [statement] = await draftsOf(acme.account, period, ['aff-7'])
      expect(statement).toMatchObject({ lines: [{ amount }] })
      const path = `accounts/${acme.account}`
      const why = await json(askAdmin(`${path}/unearned?period=${period}`))
      expect(why.counted).toMatchObject([
        { resource: 'transactions', count: 2, sums: { amount_currency: counted } },
      ])
      const facts = await json(askAdmin(`${path}/unearned/facts?period=${period}`))
      const ids = facts.data.flatMap(({ resource, id }: Record<string, string>) =>
        resource === 'transactions' ? [id] : [],
      )
      expect(ids).toEqual(unearned)

      const { data } = await json(acme.get(`totals?from=${period}-01&to=${period}-${last}`))
      const count = (list: { count: number }[]) => list.reduce((sum, one) => sum + one.count, 0)
      expect(count([...why.counted, ...why.data])).toBe(count(data))
    }
  })

  test('a window of whole days begins with the signup day in the book zone', async () => {
    const acme = await partner('forex', { book_zone: NEW_YORK, affiliates: ['aff-7'] })
    const cpa = {
      ...{ id: 'cpa', kind: 'once', amount: '5.00', trigger: { transactions: ['deposit'] } },
      qualify: [{ sum: [{ activity: 'volume_usd' }], min: '1', within_days: 0 }],
    }
    await storePlan(acme.account, 'p', monthly([cpa as never], { currency: 'USD' }))
    await assign(acme.account, 'p')
    await acme.post('customers', { ...ada, signup_date: '2026-11-01T03:30:00Z' })
    await acme.post('transactions', dated('t', '2026-11-01T03:40:00Z'))
    await acme.post('trading-activity', { ...traded, date: '2026-10-31', volume_usd: 10 })
    const [statement] = await draftsOf(acme.account, '2026-10', ['aff-7'])
    expect(statement).toMatchObject({ lines: [{ rule: 'cpa', amount: '5.00' }] })
  })

  test('a whole day stands at its start in the book zone, among transactions', async () => {
    const acme = await partner('forex', { book_zone: 'Pacific/Auckland', affiliates: ['aff-7'] })
    const terms = [{ transactions: ['deposit'] }, { activity: 'volume_usd' }]
    const cpa = {
      ...{ id: 'cpa', kind: 'once', amount: '5.00', trigger: { transactions: ['deposit'] } },
      qualify: [{ sum: terms, min: '10' }],
    }
    await storePlan(acme.account, 'p', monthly([cpa as never], { currency: 'USD' }))
    await assign(acme.account, 'p')
    await acme.post('customers', ada)
    // 2 November begins at 11:00 UTC the day before. Its activity reaches the sum before the deposit.
    await acme.post('trading-activity', {
      ...{ ...traded, instrument: 'X', lots_traded: 1, pnl: 0 },
      ...{ date: '2026-11-02', volume_usd: 10, currency: 'USD' },
    })
    const paid = { ...dated('t', '2026-11-01T12:00:00Z', 10), currency: 'USD' }
    await acme.post('transactions', paid)
    // The rates are complete up to the end of the period.
    await publish('2026-11-30', { USD: '1.1' })
    const path = `accounts/${acme.account}/unearned/facts?period=2026-11`
    expect((await json(askAdmin(path))).data).toEqual([])
  })
})

describe('the setting', () => {
  const firm = { account: 'firm', name: 'Firm', vertical: 'forex', mode: 'live' }

  test('is given at the creation, and never changes', async () => {
    const created = await askAdmin('accounts', 'POST', { ...firm, book_zone: 'america/new_york' })
    expect([created.status, await json(created)]).toMatchObject([201, { book_zone: NEW_YORK }])
    const changed = await askAdmin('accounts/firm', 'PATCH', { book_zone: 'Asia/Tokyo' })
    expect(changed.status).toBe(422)
    expect((await json(changed)).errors).toMatchObject([{ code: 'unknown_field' }])
  })

  test.each<[object, object]>([
    [{ book_zone: 'Mars/Olympus' }, { pointer: '/book_zone', code: 'pattern' }],
    [{ book_zone: '+02:00' }, { pointer: '/book_zone', code: 'pattern' }],
    [{ book_zone: '' }, { pointer: '/book_zone', code: 'length' }],
    [{ book_zone: 2 }, { pointer: '/book_zone', code: 'type' }],
    [{ book_zone: null }, { pointer: '/book_zone', code: 'type' }],
    [
      { book_zone: 'UTC', vertical: 'igaming' },
      {
        pointer: '/book_zone',
        code: 'not_applicable',
        message:
          '`book_zone` cannot be used here: it is for partners, and the days of a brand are those of its `time_zone`.',
      },
    ],
  ])('%j is refused', async (fields, error) => {
    const created = await askAdmin('accounts', 'POST', { ...firm, ...fields })
    expect(created.status).toBe(422)
    expect((await json(created)).errors).toEqual([expect.objectContaining(error)])
  })
})

test('“today”, “is over”, due payouts and default days are those of the zone of the books', async () => {
  await register('forex', { affiliates: ['early', 'late'] })
  await env.DB.prepare('update accounts set book_zone = ?').bind(NEW_YORK).run()
  await storePlan('acme-forex', 'ib', monthly([]))
  await assign('acme-forex', 'ib', 'late', '2026-11-01')
  await storeRows([
    earning('early', '2026-10', '3.00'),
    { ...earning('early', '2026-08', '1.00', { payable_on: '2026-10-31' }), status: 'approved' },
    { ...earning('late', '2026-08', '2.00', { payable_on: '2026-11-01' }), status: 'approved' },
  ])
  const admin = async (path: string) => json(askAdmin(`accounts/acme-forex/${path}`))
  const seen = async (time: string) => {
    vi.setSystemTime(new Date(time))
    const team = await signedIn()
    const page = async (path: string) =>
      (await team.get(`/console/accounts/acme-forex/${path}`)).text()
    const payouts = await page('payouts')
    return {
      isOver: !(await page('statements?period=2026-10')).includes('has not ended'),
      listed: [...payouts.matchAll(/aria-label="Pay (\w+)/g)].map(([, one]) => one),
      paidOn: /name="execute_on"[^>]*value="([^"]*)"/.exec(payouts)?.[1],
      due: (await admin('periods')).due.map(({ amount }: { amount: string }) => amount),
      toApprove: (await admin('attention')).data.flatMap(
        ({ code, names }: { code: string; names: string[] }) =>
          code === 'unapproved_drafts' ? names : [],
      ),
      inForce: (await admin('affiliates/figures?search=late')).data[0].plan?.from ?? null,
    }
  }
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  // 22:00 of 31 October in New York, and two hours and a minute later.
  expect(await seen('2026-11-01T02:00:00Z')).toMatchObject({
    ...{ isOver: false, listed: ['early'], paidOn: '2026-10-31' },
    ...{ due: ['1.00'], toApprove: [], inForce: null },
  })
  expect(await seen('2026-11-01T04:01:00Z')).toMatchObject({
    ...{ isOver: true, listed: ['early', 'late'], paidOn: '2026-11-01' },
    ...{ due: ['3.00'], toApprove: ['2026-10'], inForce: '2026-11-01' },
  })
})
