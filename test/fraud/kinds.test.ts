import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { TooManyFacts } from '../../src/commission/statements/compute.ts'
import { type DayFinding, findInTurns, findingsOf } from '../../src/fraud/findings.ts'
import type { Evidence, View } from '../../src/fraud/kind.ts'
import { KINDS } from '../../src/fraud/kinds.ts'
import { customer, paid, times, traded, viewOf } from './view.ts'

// What the random worlds of worlds.test.ts do not have: usual parameters, shared e-mails, crowds, spellings.

const DAY = 20_000

/** Returns what a rule finds on a day, or on several up to it, with the defaults and some parameters. */
function findings(name: string, view: View, parameters: object = {}, first = DAY): DayFinding[] {
  const kind = KINDS.find((one) => one.kind === name)!
  return findingsOf({ kind, parameters: v.parse(kind.parameters, parameters) }, view, first, DAY)
}

const evidenceOf = (one: Pick<Evidence, 'resource' | 'id' | 'day'>): Evidence => ({
  ...{ ...one, customer_id: one.id, delivery_id: 'dlv_b' },
})

const figuresOf = (found: readonly DayFinding[]) =>
  found.map(({ subject, figures }) => [
    Object.values(subject).join(),
    ...figures.map(({ value, threshold, unit }) => `${value} / ${threshold} ${unit}`),
  ])

/** The numbers that the contract names, for a version that names none. */
const USUAL: Record<string, object> = {
  shared_identity: { names: false },
  click_to_signup: { min_signups: 10, days: 7, share_percent: '50', seconds: 10 },
  signup_burst: { min: 20, times: '5' },
  country_mix: { min_signups: 20, days: 7, points: '40' },
  minimum_deposit: {
    ...{ min_customers: 10, days: 30, share_percent: '60', within_percent: '1', idle_days: 14 },
  },
  short_life: { min_customers: 10, share_percent: '80', active_days: 3, days: 30 },
  deposit_withdrawal: {
    ...{ percent: '90', days: 7, lots: '0.1', share_percent: '30', min_customers: 10 },
  },
  reversals: { percent: '20', min_count: 5, days: 30 },
  resets: { count: 5, days: 14 },
  hedge_pair: { days: 3, window_days: 30, lots_percent: '1', pnl_percent: '10' },
  drawdown_breach: { daily: '5', total: '10', grace_days: 2, by_challenge_type: {} },
  payout_without_trading: { days: 30, times: '1' },
  activity_outlier: { times: '20' },
  lot_churn: { percent: '80', days: 30 },
  commission_over_revenue: { periods: 3, percent: '100', min: '1000' },
}

test('§17 a version that names no numbers has those of the contract', () => {
  const usual = KINDS.map(({ kind, parameters }) => {
    const { events: _, ...numbers } = v.parse(parameters, {}) as { events?: object }
    return [kind, numbers]
  })
  expect(Object.fromEntries(usual)).toEqual(USUAL)
})

describe('shared_identity', () => {
  test('names a customer who has the e-mail of an earlier one', () => {
    const first = evidenceOf({ resource: 'customers', id: 'B', day: DAY - 9 })
    const earlier = { email: { count: 1, first: [first] }, name: { count: 0, first: [] } }
    const [found, ...others] = findings(
      'shared_identity',
      viewOf([customer('C', DAY, { earlier })]),
    )
    expect(others).toEqual([])
    expect(figuresOf([found!])).toEqual([['C', '2 / 2 customers']])
    expect(found!.evidence.map(({ id, day }) => [id, day - DAY])).toEqual([
      ['B', -9],
      ['C', 0],
    ])
  })

  test('names the affiliate whose contact is a customer', () => {
    const view = viewOf([customer('C', DAY, { isContact: true })])
    expect(findings('shared_identity', view).map(({ subject }) => subject)).toEqual([
      { affiliate_id: 'A' },
    ])
  })
})

describe('hedge_pair', () => {
  test.each([
    ['EURUSD', 'eurusd'],
    ['EURUSD', 'EURUSD.m'],
    ['EURUSDm', 'EURUSD.pro'],
    ['US30-cash', 'US30'],
    ['XAUUSD#', 'xauusd_x'],
  ])('takes %s and %s for the same instrument', (one, other) => {
    const view = viewOf(
      ['C', 'D'].map((id, i) =>
        customer(id, DAY - 40, {
          facts: times(3, (day) =>
            traded(DAY - day, { lots_traded: 2, pnl: i ? -405 : 400 }, [one, other][i]),
          ),
        }),
      ),
    )
    expect(findings('hedge_pair', view)).toMatchObject([{ subject: { customer_ids: ['C', 'D'] } }])
  })

  test.each([
    ['EUR_USD', 'EUR_GBP'],
    ['USOil', 'USO'],
    ['GBPUSD', 'EURUSD'],
  ])('takes %s and %s for different instruments', (...names) => {
    const view = viewOf(
      names.map((name, i) =>
        customer(name, DAY - 40, {
          facts: times(3, (day) => traded(DAY - day, { lots_traded: 2, pnl: i ? -1 : 1 }, name)),
        }),
      ),
    )
    expect(findings('hedge_pair', view)).toEqual([])
  })

  const crowd = (customers: number) =>
    viewOf(
      times(customers, (i) =>
        customer(`C-${1000 + i}`, DAY - 40, {
          facts: times(30, (day) => traded(DAY - day, { lots_traded: 1, pnl: i % 2 ? 100 : -100 })),
        }),
      ),
    )

  test('of 180 customers finds one case, and yields to other requests meanwhile', async () => {
    const kind = KINDS.find((one) => one.kind === 'hedge_pair')!
    const rule = { kind, parameters: v.parse(kind.parameters, {}) }
    const wait = vi.spyOn(scheduler, 'wait')
    const found = await findInTurns(rule, crowd(180), DAY - 5, DAY)
    expect(wait).toHaveBeenCalledTimes(3)
    wait.mockRestore()
    expect(found.map(({ subject }) => subject)).toEqual([
      ...times(6, () => ({ customer_ids: ['C-1000', 'C-1001'] })),
    ])
    expect(found[0]!.sentence).toContain('180 customers')
    expect(new Set(found[0]!.evidence.map(({ customer_id }) => customer_id)).size).toBe(180)
  })

  test('of more customers than can be compared throws that they are too many', () => {
    expect(() => findings('hedge_pair', crowd(1500))).toThrow(TooManyFacts)
  })
})

test('the order of customers and of their records does not matter', () => {
  const view = viewOf(
    times(12, (i) =>
      customer(`C${i}`, DAY - 60, {
        facts: [
          ...times(6, (n) =>
            paid(`T${i}-${n}`, DAY - n, 'reset_fee', 10, n % 2 ? 'approved' : 'reversed'),
          ),
          ...times(4, (n) =>
            traded(DAY - n, { lots_traded: 5, pnl: i % 2 ? 100 : -100, drawdown: 9 }),
          ),
        ],
      }),
    ),
  )
  const shuffled = {
    ...view,
    customers: view.customers
      .map((one) => ({ ...one, facts: one.facts.toReversed() }))
      .toReversed(),
  }
  for (const { kind } of KINDS) {
    expect(findings(kind, shuffled, {}, DAY - 3), kind).toEqual(findings(kind, view, {}, DAY - 3))
  }
})
