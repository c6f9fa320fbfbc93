import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import { app } from '../../src/app.ts'
import { digestOf, earning, idOf, type StatementRow, storeRows } from '../books/book-rows.ts'
import { askAdmin, json, ORIGIN, register } from '../partner.ts'
import { surrounded } from '../sweep/platform.ts'
import { assign, monthly, storePlan } from './stored.ts'

const PATH = 'accounts/acme-forex'
const NOW = '2024-12-05T00:00:00.000Z'

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(NOW) })
  await register('forex', { affiliates: ['a', 'b', 'c'] })
  await storePlan('acme-forex', 'ib', { ...perLot, effective_from: '2024-01-01' } as never)
})

const later = (day: string, more: object = {}) => ({
  ...{ ...perLot, effective_from: day, name: `From ${day}` },
  ...more,
})
const put = (day: string, plan = 'ib', more: object = {}) =>
  askAdmin(`${PATH}/plans/${plan}`, 'PUT', later(day, more))

const october = earning('a', '2024-10', '5.00')

const approve = async (row: StatementRow = october) => {
  await storeRows([row])
  const body = { hash: digestOf(row) }
  const { status } = await askAdmin(`${PATH}/statements/${idOf(row)}/approve`, 'POST', body)
  expect(status).toBe(200)
}

const close = (period: string, plan = 'ib', open: string[] = []) =>
  env.DB.batch([
    env.DB.prepare(`insert into closed_periods values ('acme-forex', ?, ?, 1)`).bind(plan, period),
    ...open.map((one) =>
      env.DB.prepare(`insert into open_affiliates values ('acme-forex', ?, ?, ?)`).bind(
        ...[plan, period, one],
      ),
    ),
  ])

/** Sends a request, and does something else before its nth call of the platform. Returns null if it has fewer. */
async function interrupted(
  path: string,
  body: object,
  nth: number,
  meanwhile: () => Promise<unknown>,
) {
  let calls = 0
  const platform = surrounded(async (_call, act) => {
    if (calls++ === nth) await meanwhile()
    return act()
  })
  const request = new Request(`${ORIGIN}/admin/v1/${PATH}/${path}`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const response = await app.fetch(request, platform, createExecutionContext())
  return calls > nth ? response : null
}

describe('a version of a plan', () => {
  const refusal = async (response: Promise<Response>) => {
    const { status, errors } = await json(response)
    expect(status).toBe(422)
    return errors
  }

  test.each([
    ['a statement is approved', () => approve()],
    ['a row without a statement is approved', () => storeRows([{ ...october, ...SILENT }])],
    ['the period is closed', () => close('2024-10')],
    [
      'a statement is paid',
      () => storeRows([{ ...october, status: 'paid' as const, approved_at: 1 }]),
    ],
  ])('begins after the last period of which %s', async (_what, prepare) => {
    await prepare()
    for (const day of ['2024-10-01', '2024-09-01', '2023-01-01']) {
      expect(await refusal(put(day))).toEqual([
        {
          pointer: '/effective_from',
          code: 'minimum',
          message: `\`${day}\` is less than the minimum, 2024-11-01.`,
          hint: 'The period 2024-10 of this plan is closed. Choose `2024-11-01` or a later day.',
        },
      ])
    }
    expect((await put('2024-11-01')).status).toBe(201)
    // The same terms again create no version, so nothing is refused.
    await close('2024-11')
    expect((await put('2024-11-01')).status).toBe(200)
  })

  const SILENT = { head: null, status: 'approved', approved_at: 1 } as const

  test('of `signup` terms may begin within an open period, and of weeks after the closed one', async () => {
    const weekly = { period: 'week', terms: 'signup' }
    expect((await put('2024-01-01', 'weekly', weekly)).status).toBe(201)
    await close('2024-W41', 'weekly')
    for (const day of ['2024-10-13', '2024-10-07']) {
      expect(await refusal(put(day, 'weekly', weekly))).toMatchObject([
        { hint: 'The period 2024-W41 of this plan is closed. Choose `2024-10-14` or a later day.' },
      ])
    }
    expect((await put('2024-10-14', 'weekly', weekly)).status).toBe(201)
  })

  test('is not bound by drafts, by other plans and by other accounts', async () => {
    await storeRows([october])
    await close('2024-10', 'other')
    await storeRows([{ ...october, account: 'other', status: 'approved', approved_at: 1 }])
    expect((await put('2024-10-01')).status).toBe(201)
  })

  test.each<[string, (affiliate: string, plan: string) => Promise<unknown>]>([
    ['a statement is approved', (affiliate, plan) => approve({ ...october, affiliate, plan })],
    ['the period is closed', (_, plan) => close('2024-10', plan)],
  ])('is refused if %s at any moment before it is stored', async (_, happens) => {
    let refused = 0
    for (let nth = 0; ; nth++) {
      const affiliate = `n-${nth}`
      const plan = `plan-${nth}`
      await storePlan('acme-forex', plan, { ...perLot, effective_from: '2024-01-01' } as never)
      const meanwhile = () => happens(affiliate, plan)
      const response = await interrupted(`plans/${plan}`, later('2024-10-01'), nth, meanwhile)
      if (response === null) break
      expect([409, 422], `before call ${nth}`).toContain(response.status)
      refused += 1
    }
    expect(refused).toBeGreaterThan(3)
  })

  test('that governs a closed period cannot be withdrawn', async () => {
    vi.setSystemTime(Date.parse('2023-12-01T00:00:00.000Z'))
    const withdraw = () => askAdmin(`${PATH}/plans/ib/versions/1`, 'DELETE')
    await close('2023-10')
    expect((await withdraw()).status).toBe(409)
    await env.DB.exec('delete from closed_periods')
    const old = { ...october, period: '2023-10', status: 'approved', approved_at: 1 } as const
    await storeRows([{ ...old, plan: 'other' }])
    await storeRows([old])
    expect((await withdraw()).status).toBe(409)
    await storePlan('acme-forex', 'bonus', { ...perLot, effective_from: '2024-01-01' } as never)
    await env.DB.exec(
      `insert into manual_entries values ('acme-forex', 'man_1', 'a', 'bonus', 'EUR', '5.00', 'x', 'm-1', 'x', '', null, 'm-1')`,
    )
    expect((await askAdmin(`${PATH}/plans/bonus/versions/1`, 'DELETE')).status).toBe(409)
    expect((await put('2024-02-01')).status).toBe(201)
    expect((await askAdmin(`${PATH}/plans/ib/versions/2`, 'DELETE')).status).toBe(204)
  })
})

describe('an assignment', () => {
  const send = (...rows: [affiliate: string, from: string, plan?: string][]) =>
    askAdmin(
      `${PATH}/assignments`,
      'PUT',
      rows.map(([affiliate_id, from, plan = 'ib']) => ({
        ...{ affiliate_id, from, plan, customers: 'all' },
      })),
    )
  const drop = (affiliate: string, from: string) =>
    askAdmin(
      `${PATH}/assignments?affiliate_id=${encodeURIComponent(affiliate)}&from=${from}`,
      'DELETE',
    )
  const stored = async () => (await json(askAdmin(`${PATH}/assignments`))).data
  const refusal = async (response: Promise<Response>) => {
    const before = await stored()
    const { status, code, detail } = await json(response)
    expect([status, code]).toEqual([409, 'conflict'])
    expect(await stored()).toEqual(before)
    return detail
  }

  beforeEach(async () => {
    await storePlan('acme-forex', 'vip', monthly([], { effective_from: '2024-01-01' }))
    await assign('acme-forex', 'ib', '*', '2024-01-01')
  })

  test('begins after the closed periods of its affiliate', async () => {
    await approve()
    for (const from of ['2024-10-31', '2024-10-01', '2024-02-01']) {
      expect(await refusal(send(['b', '2024-10-01'], ['a', from, 'vip']))).toBe(
        `The assignment from ${from} on would change the period 2024-10 of the plan \`ib\`, which is closed for affiliate \`a\`. Assign from 2024-11-01 or a later day. Nothing was changed.`,
      )
    }
    expect((await send(['a', '2024-11-01', 'vip'], ['b', '2024-10-01', 'vip'])).status).toBe(200)
  })

  test('begins after a closed week', async () => {
    const week = { ...october, plan: 'weekly', period: '2024-W41' }
    await storeRows([{ ...week, status: 'approved', approved_at: 1 }])
    expect(await refusal(send(['a', '2024-10-13']))).toContain('Assign from 2024-10-14 or')
    expect((await send(['a', '2024-10-14'])).status).toBe(200)
  })

  test.each([
    ['2024-10', '2024-W46', '2024-11-18'],
    ['2024-11', '2024-W41', '2024-12-01'],
  ])('begins after the later one of a closed month %s and week %s', async (month, week, first) => {
    const closed = { status: 'approved', approved_at: 1 } as const
    await storeRows([
      { ...october, ...closed, period: month },
      { ...october, ...closed, period: week, plan: 'weekly' },
    ])
    expect(await refusal(send(['a', '2024-10-01', 'vip']))).toContain(`Assign from ${first} or`)
    expect((await send(['a', first, 'vip'])).status).toBe(200)
  })

  test.each([
    ['of a plan that it has by `*`', 'c', 'vip', 'ib'],
    ['of a plan that it gets', 'c', 'vip', 'vip'],
    ['of a plan that it has had itself', 'b', 'ib', 'vip'],
    ['of everybody', '*', 'vip', 'ib'],
    ['of a plan that everybody gets', '*', 'vip', 'vip'],
  ])(
    'begins after a period %s that was closed as a whole',
    async (_, affiliate, plan, closedPlan) => {
      await send(['b', '2024-01-01', 'vip'])
      await close('2024-10', closedPlan)
      expect(await refusal(send([affiliate, '2024-10-31', plan]))).toContain(
        `the period 2024-10 of the plan \`${closedPlan}\`, which is closed`,
      )
      expect((await send([affiliate, '2024-11-01', plan])).status).toBe(200)
    },
  )

  test.each([
    ['of plans that it does not have', 'b', 'vip', 'ib'],
    ['that were left open for it', 'a', 'vip', 'ib'],
    ['of other accounts and drafts', 'c', 'vip', 'none'],
  ])('may begin in or before closed periods %s', async (_, affiliate, plan, closedPlan) => {
    await send(['b', '2024-01-01', 'vip'])
    await storeRows([
      { ...october, affiliate: 'c' },
      { ...october, account: 'other', affiliate: 'c', status: 'approved', approved_at: 1 },
    ])
    await close('2024-10', closedPlan, ['a'])
    expect((await send([affiliate, '2024-10-01', plan])).status).toBe(200)
  })

  test('of everybody begins after the closed periods of each affiliate that it covers', async () => {
    await approve()
    expect(await refusal(send(['*', '2024-10-15', 'vip']))).toContain(
      'which is closed for an affiliate that `*` covers. Assign from 2024-11-01',
    )
    await assign('acme-forex', 'ib', 'a', '2024-10-15')
    expect(await refusal(send(['*', '2024-10-14', 'vip']))).toContain('2024-11-01')
    expect((await send(['*', '2024-10-15', 'vip'])).status).toBe(200)
  })

  test('that is stored already can be sent again', async () => {
    await send(['a', '2024-10-01'])
    await approve()
    const again = await send(['a', '2024-10-01'], ['b', '2024-12-01'])
    expect([again.status, (await json(again)).changed]).toEqual([200, 1])
    expect(await refusal(send(['a', '2024-10-01', 'vip']))).toContain('2024-10')
  })

  test('is deleted only if it begins after closed periods', async () => {
    await send(['a', '2024-10-01'], ['a', '2024-12-01', 'vip'])
    await approve()
    expect(await refusal(drop('a', '2024-10-01'))).toContain('the period 2024-10 of the plan `ib`')
    expect(await refusal(drop('*', '2024-01-01'))).toContain('2024-10')
    expect((await drop('a', '2024-12-01')).status).toBe(204)
  })

  test('is refused if the period is approved at any moment before it is stored', async () => {
    let refused = 0
    for (let nth = 0; ; nth++) {
      const affiliate = `n-${nth}`
      const body = [{ affiliate_id: affiliate, plan: 'vip', from: '2024-10-05', customers: 'all' }]
      const meanwhile = () => approve({ ...october, affiliate })
      const response = await interrupted('assignments', body, nth, meanwhile)
      if (response === null) break
      expect(response.status, `before call ${nth}`).toBe(409)
      refused += 1
    }
    expect(refused).toBeGreaterThan(3)
  })
})

describe('a correction of a customer', () => {
  const reason = 'Wrong link'
  const affiliate = (from: string | null, affiliate_id: string) => ({ from, affiliate_id })
  /** Stores a customer who signed up on a day, and returns what sends corrections of them. */
  const customer = async (day: string) => {
    const values = [Date.parse(day) / 86_400_000, 'a', 'c', 'acme-forex'].reverse()
    await env.DB.prepare(`insert into customers (account, customer_id, affiliate_id, day, delivery, idx, revision)
      values (?, ?, ?, ?, 'dlv', 0, 1)`)
      .bind(...values)
      .run()
    return async (part: string, body: object) => {
      const answer = await json(askAdmin(`${PATH}/customers/c/${part}`, 'PUT', { reason, ...body }))
      return answer.warnings.map(({ code }: { code: string }) => code)
    }
  }

  test('warns if it governs closed periods, and not if it changes nothing there', async () => {
    const correct = await customer('2024-09-10')
    await close('2024-10')
    const from = (day: string) => ({ affiliations: [affiliate(null, 'a'), affiliate(day, 'b')] })
    expect(await correct('affiliations', from('2024-11-01'))).toEqual([])
    expect(await correct('affiliations', from('2024-10-31'))).toEqual(['changes_closed'])
    expect(await correct('affiliations', from('2024-10-31'))).toEqual([])
    expect(await correct('affiliations', from('2024-11-01'))).toEqual(['changes_closed'])
    expect(await correct('refusal', { from: '2024-11-01' })).toEqual([])
    expect(await correct('refusal', {})).toEqual(['changes_closed'])
    expect(await correct('refusal', { reason: 'Fraud' })).toEqual([])
    expect(await correct('refusal', { from: '2024-11-01' })).toEqual(['changes_closed'])
  })

  test('does not warn of who signed up later', async () => {
    const correct = await customer('2024-11-05')
    await close('2024-10')
    expect(await correct('affiliations', { affiliations: [affiliate(null, 'b')] })).toEqual([])
  })
})
