import { env } from 'cloudflare:workers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { canonicalJson } from '../../src/platform/validation/canonical-json.ts'
import {
  adjustmentsOf,
  approve,
  closePeriod,
  customer,
  firm,
  PATH,
  refresh,
  statementOf,
} from '../books/closed.ts'
import { askAdmin, deposit, json, partner } from '../partner.ts'
import { bothWays } from './random-firms.ts'
import { assign, draftsOf, monthly, storePlan } from './stored.ts'

// A first affiliate of a partner's customer that lasted less than a day is replaced from the signup on.

const AFFILIATES = ['aff-7', 'aff-8', 'aff-9']

const RULES = (type: string): Rule[] => [
  { id: 'tenth', kind: 'share', percent: '10', base: [{ transactions: [type] }] },
  { id: 'cpa', kind: 'once', trigger: { transactions: [type], min: '20' }, amount: '50.00' },
]

/** What happens to a customer, in order. */
type Step = { affiliate: string; single: boolean } | { paid: number; day: number; held: boolean }

const VERTICALS = [
  ['forex', 'deposit'],
  ['prop-trading', 'challenge_fee'],
] as const

describe.each(VERTICALS)('%s', (vertical, type) => {
  const open = async (account: string) => {
    const acme = await partner(vertical, {
      account,
      affiliates: AFFILIATES,
      unknown_customer: 'hold',
    })
    await storePlan(account, 'ib', monthly(RULES(type)))
    await assign(account, 'ib')
    return acme
  }
  const c1 = { ...customer('c-1'), signup_date: '2026-03-01T08:00:00.000Z' }
  const transaction = (id: number, day: number, amount: number) => ({
    ...deposit,
    transaction_id: `t-${id}`,
    transaction_type: type,
    customer_id: 'c-1',
    transaction_date: `2026-0${3 + (day % 2)}-${10 + day}T10:00:00Z`,
    amount_currency: amount,
    currency: 'EUR',
  })
  const statements = async (account: string) =>
    Promise.all(
      ['2026-03', '2026-04'].map(async (period) =>
        canonicalJson(await draftsOf(account, period, AFFILIATES)),
      ),
    )

  test('statements after one affiliate and then another are those of the other from the start', async () => {
    const affiliate = fc.constantFrom(...AFFILIATES)
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({ affiliate, single: fc.boolean() }),
      fc.record({
        paid: fc.constantFrom(10, 20, 500),
        day: fc.nat({ max: 9 }),
        held: fc.boolean(),
      }),
    )
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), affiliate, async (steps, last) => {
        run += 1
        const name = `${vertical}-${run}`
        const [changed, plain] = [await open(`${name}-a`), await open(`${name}-b`)]
        const paid = steps.flatMap((one, i) =>
          'paid' in one ? [{ ...one, sent: transaction(i, one.day, one.paid) }] : [],
        )
        // Some records wait for their customer.
        for (const { held, sent } of paid) if (held) await changed.post('transactions', sent)
        for (const [i, one] of [...steps, { affiliate: last, single: true }].entries()) {
          if ('affiliate' in one) {
            const sent = { ...c1, affiliate_id: one.affiliate }
            await changed.post(
              'customers',
              one.single ? sent : [sent, { ...sent, customer_id: 'c-2' }],
            )
          } else if (!one.held)
            await changed.post('transactions', transaction(i, one.day, one.paid))
        }
        await plain.post('customers', { ...c1, affiliate_id: last })
        await plain.post(
          'transactions',
          paid.length > 0 ? paid.map(({ sent }) => sent) : transaction(0, 0, 10),
        )
        if (paid.length === 0) await changed.post('transactions', transaction(0, 0, 10))
        expect(await statements(`${name}-a`)).toEqual(await statements(`${name}-b`))
        const { stored, records } = await bothWays(`${name}-a`, '2026-04', AFFILIATES)
        expect(stored).toEqual(records)
      }),
      { numRuns: env.MODEL_RUNS || 3 },
    )
  })
})

const march = (affiliate_id: string) => ({
  ...customer('c-2'),
  signup_date: '2026-03-01T08:00:00.000Z',
  affiliate_id,
})
const paidInMarch = {
  ...deposit,
  transaction_id: 't-m',
  customer_id: 'c-2',
  transaction_date: '2026-03-10T10:00:00Z',
  amount_currency: 500,
  currency: 'EUR',
}
const changeOf = (body: { results: { warnings?: { code: string; from?: string }[] }[] }) =>
  body.results[0]!.warnings?.find(({ code }) => code === 'affiliation_changed')?.from

test('a draft of the wrong affiliate is gone once it is computed again', async () => {
  const { post } = await firm()
  await post('customers', march('aff-7'))
  await post('transactions', paidInMarch)
  expect((await statementOf('2026-03', 'aff-7')).lines_sum).toBe('50.00')
  expect(changeOf(await json(post('customers', march('aff-8'))))).toBe('2026-03-01')
  await refresh('2026-03', ['aff-7', 'aff-8'])
  expect((await statementOf('2026-03', 'aff-8')).lines_sum).toBe('50.00')
  expect((await statementOf('2026-03', 'aff-7'))?.lines_sum ?? '0.00').toBe('0.00')
})

test('once a statement with the affiliate is approved, a change counts from its day', async () => {
  const { post } = await firm()
  await post('customers', march('aff-7'))
  await post('transactions', paidInMarch)
  await refresh('2026-03')
  await approve('2026-03')
  // Also if it was approved in the very millisecond in which the customer was received.
  await env.DB.prepare(
    `update customers set first_seen_at = (select max(approved_at) from statements)
     where customer_id = 'c-2'`,
  ).run()
  const today = new Date().toISOString().slice(0, 10)
  expect(changeOf(await json(post('customers', march('aff-8'))))).toBe(today)
  expect((await statementOf('2026-03', 'aff-7')).lines_sum).toBe('50.00')
  expect(await adjustmentsOf('2026-04', 'aff-7')).toEqual([])
  expect(await adjustmentsOf('2026-04', 'aff-8')).toEqual([])
})

test('statements of earlier periods and of others do not keep an affiliate from being corrected', async () => {
  const { post, paid } = await firm()
  await paid('t-1', '2026-02-10', 100)
  await refresh('2026-02')
  await post('customers', march('aff-7'))
  await approve('2026-02')
  expect(changeOf(await json(post('customers', march('aff-8'))))).toBe('2026-03-01')
})

test('the correction is a cause of what it adds to a closed period', async () => {
  const { post } = await firm()
  await closePeriod('2026-03')
  await post('customers', march('aff-7'))
  await post('transactions', paidInMarch)
  const { delivery_id } = await json(post('customers', march('aff-8')))
  expect(await adjustmentsOf('2026-04', 'aff-7')).toEqual([])
  const [added, ...others] = await adjustmentsOf('2026-04', 'aff-8')
  expect(others).toEqual([])
  expect(added.amount).toBe('50.00')
  expect(added.causes).toContainEqual({ kind: 'corrected_early', customer_id: 'c-2', delivery_id })
  const path = `${PATH}/lines/${added.id}/explain`
  const text = await (await askAdmin(path, 'GET', undefined, { Accept: 'text/plain' })).text()
  expect(text).toMatch(new RegExp(`^- .*: c-2, ${delivery_id}$`, 'm'))
})

test('a customer who is sent again within the day without another affiliate has no warning', async () => {
  const { post } = await firm()
  await post('customers', march('aff-7'))
  expect(
    changeOf(await json(post('customers', { ...march('aff-7'), country_code: 'FR' }))),
  ).toBeUndefined()
})
