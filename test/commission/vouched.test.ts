import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { BOOK_LIMITS } from '../../src/commission/books/limits.ts'
import { finishReleases } from '../../src/db/records/release.ts'
import { at } from '../dated.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { bookRequests, bookRuns } from './book-firm.ts'
import { rowsOf } from './book-rows.ts'
import { monthly, publish } from './stored.ts'

const PATH = 'accounts/acme-forex'
const TENTH = {
  id: 'tenth',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
} as const

const put = async (path: string, body: unknown) => {
  const { status } = await askAdmin(`${PATH}/${path}`, 'PUT', body)
  expect(status).toBeLessThan(300)
}
const remove = async (path: string) =>
  expect((await askAdmin(`${PATH}/${path}`, 'DELETE')).status).toBe(204)

const paid = (transaction_id: string, month: string, amount_currency: number) => ({
  ...deposit,
  transaction_id,
  currency: 'EUR',
  amount_currency,
  transaction_date: `${month}-10T10:00:00Z`,
})

/** A firm with two affiliates and plans of months and weeks; a customer of `a` paid 3,000 in June. */
async function firm() {
  at('2030-09-05T00:00:00.000Z')
  const acme = await partner('forex', { affiliates: ['a', 'b'] })
  await put('plans/ib', monthly([TENTH], { effective_from: '2030-01-01' }))
  await put('plans/weekly', monthly([TENTH], { effective_from: '2030-01-01', period: 'week' }))
  await acme.post('customers', { ...ada, affiliate_id: 'a', signup_date: '2030-05-20T08:00:00Z' })
  await acme.post('transactions', paid('t-1', '2030-06', 3000))
  return { ...acme, ...bookRequests(PATH), ...bookRuns('acme-forex') }
}

const assignment = (affiliate_id: string, from: string, plan = 'ib') => ({
  ...{ affiliate_id, from, plan },
  customers: 'new',
})

/** Returns drafts and what they come to. */
async function drafts() {
  const { data } = await json(askAdmin(`${PATH}/statements?status=draft`))
  return data.map(({ period, affiliate_id, plan, total }: Record<string, string>) =>
    [period, affiliate_id, plan, total].join(' '),
  )
}

const draftOf = async (affiliate: string, period: string) =>
  (await json(askAdmin(`${PATH}/statements?affiliate_id=${affiliate}&period=${period}`))).data[0]

const fresh = async (affiliate: string, period: string) =>
  (await json(askAdmin(`${PATH}/statements?affiliate_id=${affiliate}&period=${period}&fresh=true`)))
    .data

/** Returns the codes of the statements that the approval of a period refuses. */
async function refusedIn(response: Promise<Response>) {
  const { refused } = await json(response)
  return refused.map(({ affiliate_id, code }: Record<string, string>) => `${affiliate_id} ${code}`)
}

type Firm = Awaited<ReturnType<typeof firm>>
let acme: Firm

beforeEach(async () => {
  acme = await firm()
})

describe('a run settles every draft of its kind of period', () => {
  test.each(['2030-05', '2030-06', '2030-07', '2030-08'])(
    'a run of %s drops the draft of an affiliate whose assignment was deleted',
    async (period) => {
      await put('assignments', [assignment('a', '2030-06-01')])
      await acme.run('2030-06')
      expect(await drafts()).toEqual(['2030-06 a ib 300.00'])
      await remove('assignments?affiliate_id=a&from=2030-06-01')
      await acme.run(period)
      expect(await drafts()).toEqual([])
    },
  )

  test('also where the first assignment moves to a later month', async () => {
    await put('assignments', [assignment('a', '2030-06-01')])
    await acme.post('transactions', paid('t-2', '2030-07', 100))
    await acme.run('2030-07')
    expect(await drafts()).toEqual(['2030-06 a ib 300.00', '2030-07 a ib 10.00'])
    await put('assignments', [assignment('a', '2030-07-01')])
    await remove('assignments?affiliate_id=a&from=2030-06-01')
    await acme.post('transactions', paid('t-1', '2030-07', 3000))
    await acme.run('2030-07')
    const before = await drafts()
    expect(before).toEqual(['2030-07 a ib 310.00'])
    const { id, hash } = await draftOf('a', '2030-07')
    expect((await acme.approve({ id, hash })).status).toBe(200)
  })

  test('also where the first record moves to a later month', async () => {
    await put('assignments', [assignment('a', '2030-01-01')])
    await acme.run('2030-06')
    await acme.post('customers', { ...ada, affiliate_id: 'a', signup_date: '2030-07-01T08:00:00Z' })
    await acme.post('transactions', paid('t-1', '2030-07', 3000))
    await acme.run('2030-07')
    expect(await drafts()).toEqual(['2030-07 a ib 300.00'])
  })

  test('but leaves drafts of the other kind', async () => {
    await put('assignments', [
      assignment('a', '2030-06-01'),
      assignment('b', '2030-06-01', 'weekly'),
    ])
    await acme.post('customers', {
      ...{ ...ada, customer_id: 'c-2', affiliate_id: 'b' },
      signup_date: '2030-05-20T08:00:00Z',
    })
    await acme.post('transactions', { ...paid('t-2', '2030-06', 50), customer_id: 'c-2' })
    await acme.run('2030-06')
    await acme.run('2030-W25')
    const all = ['2030-06 a ib 300.00', '2030-W24 b weekly 5.00']
    expect(await drafts()).toEqual(all)
    await acme.run('2030-06')
    expect(await drafts()).toEqual(all)
  })
})

describe('a manual entry finds a statement', () => {
  const enter = async () => expect((await acme.enter('b', 'ib', '25.00', 'bonus')).status).toBe(201)

  test('after the only assignments were deleted', async () => {
    await put('assignments', [assignment('b', '2030-08-01')])
    await enter()
    await remove('assignments?affiliate_id=b&from=2030-08-01')
    await acme.run('2030-08')
    await acme.run('2030-09')
    expect(await drafts()).toEqual(['2030-09 b ib 25.00'])
    expect(await fresh('b', '2030-09')).toMatchObject([{ total: '25.00' }])
    expect(await fresh('b', '2030-08')).toEqual([])
  })

  test('after its own assignment was deleted, in the first period that is not closed', async () => {
    await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-06-01')])
    await enter()
    await remove('assignments?affiliate_id=b&from=2030-06-01')
    await acme.run('2030-06')
    expect(await drafts()).toEqual(['2030-06 a ib 300.00', '2030-06 b ib 25.00'])
    await acme.run('2030-07')
    expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({ approved: 2, closed: true })
    expect(await rowsOf('manual_entries')).toMatchObject([{ statement: expect.any(String) }])
    expect((await acme.enter('b', 'ib', '1.00', 'second')).status).toBe(422)
  })

  test('that was closed without a statement', async () => {
    await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-07-01')])
    await acme.run('2030-06')
    expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({ closed: true })
    await enter()
    await remove('assignments?affiliate_id=b&from=2030-07-01')
    await acme.run('2030-08')
    expect(await drafts()).toEqual(['2030-07 b ib 25.00'])
  })

  test('so its plan cannot be withdrawn', async () => {
    await put('plans/next', monthly([TENTH], { effective_from: '2031-01-01' }))
    await put('assignments', [assignment('b', '2030-08-01', 'next')])
    expect((await acme.enter('b', 'next', '25.00', 'bonus')).status).toBe(201)
    await remove('assignments?affiliate_id=b&from=2030-08-01')
    expect((await askAdmin(`${PATH}/plans/next/versions/1`, 'DELETE')).status).toBe(409)
  })
})

describe('a draft is approved only as it is computed now', () => {
  /** Approves the draft of `a` in June by its hash. */
  const approve = async () => {
    const { id, hash } = await draftOf('a', '2030-06')
    return json(acme.approve({ id, hash }))
  }

  test.each<[string, () => Promise<unknown>]>([
    ['its assignment was deleted', () => remove('assignments?affiliate_id=a&from=2030-06-01')],
    ['a record has changed', () => acme.post('transactions', paid('t-1', '2030-06', 2000))],
    ['a record is new', () => acme.post('transactions', paid('t-2', '2030-06', 2000))],
    ['a record has moved', () => acme.post('transactions', paid('t-1', '2030-07', 3000))],
    ['a plan has a new version', () => put('plans/ib', VERSION)],
    ['there is a manual entry', () => acme.enter('a', 'ib', '25.00', 'bonus')],
    [
      'the customer is refused',
      () => put('customers/c-1/refusal', { reason: 'fraud', from: '2030-06-01' }),
    ],
  ])('409 not_run if %s since the run', async (_, change) => {
    await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-01-01')])
    await acme.run('2030-06')
    at('2030-09-05T00:30:00.000Z')
    await change()
    expect(await approve()).toMatchObject({ status: 409, code: 'not_run' })
    expect(await refusedIn(acme.approvePeriod('2030-06'))).toEqual(['a not_run'])
    expect(await rowsOf('ledger')).toEqual([])
    await acme.run('2030-06')
    expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({ closed: true, refused: [] })
  })

  const VERSION = monthly([{ ...TENTH, percent: '20' }], { effective_from: '2030-05-01' })

  test('409 not_run if a rate was published since', async () => {
    await publish('2030-06-10', { USD: '1.25' })
    await put('assignments', [assignment('a', '2030-06-01')])
    await acme.post('transactions', { ...paid('t-2', '2030-06', 100), currency: 'HUF' })
    await acme.run('2030-06')
    at('2030-09-05T00:30:00.000Z')
    await publish('2030-06-10', { HUF: '400' }, Date.now())
    expect(await approve()).toMatchObject({ code: 'not_run' })
  })

  test('409 not_run if held records were released since', async () => {
    await put('assignments', [assignment('a', '2030-06-01')])
    await acme.post('transactions', paid('t-2', '2030-06', 100))
    // As the delivery of a customer leaves records that are released after its response.
    await env.DB.batch([
      env.DB.prepare(`update transactions set held = 1 where transaction_id = 't-2'`),
      env.DB.prepare(
        `update totals set releasing = 'dlv_0', held = 1, total = 1 where resource = 'transactions'`,
      ),
    ])
    await acme.run('2030-06')
    at('2030-09-05T00:30:00.000Z')
    await finishReleases(env.DB, null, Date.now() + 1000)
    expect(await approve()).toMatchObject({ code: 'not_run' })
  })

  test('changes that leave it as it is do not matter', async () => {
    await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-01-01')])
    await acme.run('2030-06')
    at('2030-09-05T00:30:00.000Z')
    await acme.post('transactions', paid('t-2', '2030-09', 2000))
    await put('plans/other', monthly([TENTH], { effective_from: '2030-01-01' }))
    expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({
      ...{ closed: true, approved: 1, refused: [], plans: ['ib'] },
    })
  })

  test('if it depends on too many records, changes up to the end of its period matter', async () => {
    const facts = BOOK_LIMITS.facts
    BOOK_LIMITS.facts = 1
    try {
      await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-01-01')])
      await acme.post('customers', {
        ...{ ...ada, customer_id: 'c-2', affiliate_id: 'b' },
        signup_date: '2030-05-20T08:00:00Z',
      })
      await acme.post('transactions', { ...paid('t-2', '2030-06', 50), customer_id: 'c-2' })
      await acme.run('2030-06')
      at('2030-09-05T00:30:00.000Z')
      await acme.post('transactions', paid('t-3', '2030-06', 1))
      expect(await refusedIn(acme.approvePeriod('2030-06'))).toEqual(['a not_run', 'b not_run'])
      at('2030-09-05T00:40:00.000Z')
      await acme.run('2030-06')
      at('2030-09-05T00:50:00.000Z')
      await acme.post('transactions', paid('t-4', '2030-09', 1))
      expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({ closed: true, approved: 2 })
    } finally {
      BOOK_LIMITS.facts = facts
    }
  })
})

describe('a run vouches for', () => {
  test('its own kind of period', async () => {
    await put('assignments', [assignment('a', '2030-06-01', 'weekly')])
    await acme.run('2030-09')
    expect(await json(acme.approvePeriod('2030-W24'))).toMatchObject({ code: 'not_run' })
    await acme.run('2030-W24')
    await env.DB.prepare(`delete from statement_runs where period = '2030-09'`).run()
    expect(await json(acme.approvePeriod('2030-05'))).toMatchObject({ code: 'not_run' })
    expect(await json(acme.approvePeriod('2030-W24'))).toMatchObject({ closed: true, approved: 1 })
  })

  test('the plans that existed when it began', async () => {
    await put('assignments', [assignment('a', '2030-06-01')])
    await acme.run('2030-06')
    at('2030-09-05T00:30:00.000Z')
    await put('plans/other', monthly([TENTH], { effective_from: '2030-01-01' }))
    const named = askAdmin(`${PATH}/periods/2030-06/approve`, 'POST', { plan: 'other' })
    expect(await json(named)).toMatchObject({ status: 409, code: 'not_run' })
    expect(await json(acme.approvePeriod('2030-06'))).toMatchObject({ plans: ['ib'] })
    expect(await rowsOf('closed_periods')).toMatchObject([{ plan: 'ib' }])
  })
})
