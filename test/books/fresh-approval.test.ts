import { beforeEach, describe, expect, test } from 'vitest'
import { monthly } from '../commission/stored.ts'
import { at } from '../days.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { bookRequests, bookRuns } from './book-firm.ts'
import { rowsOf } from './book-rows.ts'

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

/** A firm with two affiliates and a plan; a customer of `a` paid 3,000 in June. */
async function firm() {
  at('2030-09-05T00:00:00.000Z')
  const acme = await partner('forex', { affiliates: ['a', 'b'], unknown_customer: 'hold' })
  await put('plans/ib', monthly([TENTH], { effective_from: '2030-01-01' }))
  await acme.post('customers', { ...ada, affiliate_id: 'a', signup_date: '2030-05-20T08:00:00Z' })
  await acme.post('transactions', [
    paid('t-1', '2030-06', 3000),
    { ...paid('t-held', '2030-06', 500), customer_id: 'c-new' },
  ])
  return { ...acme, ...bookRequests(PATH), ...bookRuns('acme-forex') }
}

/** A customer of `a` of whom a record is held. */
const NEW = {
  ...{ ...ada, customer_id: 'c-new', affiliate_id: 'a' },
  signup_date: '2030-05-20T08:00:00Z',
}

const assignment = (affiliate_id: string, from: string) => ({
  ...{ affiliate_id, from, plan: 'ib' },
  customers: 'new',
})

const draftOf = async (affiliate: string, period: string) =>
  (await json(askAdmin(`${PATH}/statements?affiliate_id=${affiliate}&period=${period}`))).data[0]

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
    ['a record is no longer held', () => acme.post('customers', NEW)],
    ['a plan has a new version', () => put('plans/ib', VERSION)],
    ['there is a manual entry', () => acme.enter('a', 'ib', '25.00', 'bonus')],
    [
      'the customer is refused',
      () => put('customers/c-1/refusal', { reason: 'fraud', from: '2030-06-01' }),
    ],
  ])('409 not_run if %s since the run', async (_, change) => {
    await put('assignments', [assignment('a', '2030-06-01'), assignment('b', '2030-01-01')])
    at('2030-09-05T00:10:00.000Z')
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
})
