import * as v from 'valibot'
import { describe, expect, test, vi } from 'vitest'
import { dayNumber } from '../../src/commission/engine/calendar.ts'
import { decimal } from '../../src/commission/engine/decimal.ts'
import type { Fact } from '../../src/commission/engine/facts.ts'
import { type DayFinding, findInTurns, findingsOf } from '../../src/fraud/findings.ts'
import type { Qualified, View } from '../../src/fraud/kind.ts'
import { KINDS, kindsOf } from '../../src/fraud/kinds.ts'
import { windowsOf } from '../../src/fraud/views.ts'
import { customer, paid, times, traded, viewOf } from './view.ts'

// Each kind of fraud rule by an example that can be checked by hand: just enough for a finding, and just not.

const DAY = 20_000

/** What is known always. */
const known = (...qualified: Qualified[]) => [
  { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY, qualified },
]

/** Returns what a rule finds on a day, or on several up to it, with the defaults and some parameters. */
function findings(name: string, view: View, parameters: object = {}, first = DAY): DayFinding[] {
  const kind = KINDS.find((one) => one.kind === name)!
  return findingsOf({ kind, parameters: v.parse(kind.parameters, parameters) }, view, first, DAY)
}

const figuresOf = (found: readonly DayFinding[]) =>
  found.map(({ subject, figures }) => [
    Object.values(subject).join(),
    ...figures.map(({ value, threshold, unit }) => `${value} / ${threshold} ${unit}`),
  ])

/** Writes the numbers of which the figures of the first finding are made, and what is left out. */
const partsOf = ([found]: readonly DayFinding[]) =>
  found!.figures.map(({ name, made_of = [], left_out = [] }) => [
    name,
    ...made_of.map((one) => {
      const days = one.from && [one.from, one.to!].map((day) => dayNumber(day) - DAY).join(' to ')
      return `${one.name} ${one.value} ${one.unit}${days ? `, days ${days}` : ''}`
    }),
    ...left_out.map(({ currency, amounts }) => `without ${amounts} ${currency}`),
  ])

const comparisonsOf = (found: readonly DayFinding[]) =>
  found.flatMap(({ figures }) => figures.map(({ comparison }) => comparison))

describe('kinds', () => {
  test('each has a name of its own, and every vertical has some', () => {
    expect(new Set(KINDS.map(({ kind }) => kind)).size).toBe(15)
    expect(kindsOf('prop-trading').map(({ kind }) => kind)).toEqual([
      'shared_identity',
      'click_to_signup',
      'signup_burst',
      'country_mix',
      'minimum_deposit',
      'reversals',
      'resets',
      'hedge_pair',
      'drawdown_breach',
      'payout_without_trading',
      'activity_outlier',
      'commission_over_revenue',
    ])
    expect(kindsOf('forex')).toHaveLength(12)
    expect(kindsOf('igaming')).toHaveLength(8)
  })

  test('what no rule reads is not read', () => {
    const none = Number.POSITIVE_INFINITY
    expect(windowsOf({ customers: 2, transactions: 30 }, DAY)).toEqual({
      customers: DAY - 1,
      transactions: DAY - 29,
      'trading-activity': none,
      activities: none,
    })
  })

  test('no kind finds anything of an affiliate without customers', () => {
    for (const { kind } of KINDS) expect(findings(kind, viewOf([])), kind).toEqual([])
  })
})

describe('shared_identity', () => {
  const twin = (signupDay: number) => [{ customer_id: 'B', signupDay, delivery_id: 'dlv_b' }]

  test('names the later of two customers with one e-mail', () => {
    const view = viewOf([customer('C', DAY, { sameEmail: twin(DAY - 9) })])
    expect(figuresOf(findings('shared_identity', view))).toEqual([['C', '2 / 2 customers']])
    expect(
      findings('shared_identity', view)[0]!.evidence.map(({ id, day, delivery_id }) => [
        ...[id, day - DAY, delivery_id],
      ]),
    ).toEqual([
      ['B', -9, 'dlv_b'],
      ['C', 0, expect.anything()],
    ])
    expect(
      findings('shared_identity', viewOf([customer('C', DAY, { sameEmail: twin(DAY + 1) })])),
    ).toEqual([])
    // Of one day the id decides.
    expect(
      findings('shared_identity', viewOf([customer('A', DAY, { sameEmail: twin(DAY) })])),
    ).toEqual([])
    expect(
      findings('shared_identity', viewOf([customer('C', DAY, { sameEmail: twin(DAY) })])),
    ).toHaveLength(1)
  })

  test('names the affiliate whose contact is a customer', () => {
    const view = viewOf([customer('C', DAY, { isContact: true })])
    expect(findings('shared_identity', view).map(({ subject }) => subject)).toEqual([
      { affiliate_id: 'A' },
    ])
  })
})

describe('click_to_signup', () => {
  const clicked = (after: number, i: number) =>
    customer(`C${i}`, DAY - (i % 7), {
      time: 60_000,
      clickedAt: (DAY - (i % 7)) * 86_400_000 + 60_000 - after,
    })

  test('names an affiliate half of whose signups come within ten seconds', () => {
    const view = (fast: number) => viewOf(times(10, (i) => clicked(i < fast ? 9_999 : 10_000, i)))
    expect(figuresOf(findings('click_to_signup', view(5)))).toEqual([
      ['A', '10 / 10 signups', '50 / 50 percent', '9.999 / 10 seconds'],
    ])
    expect(partsOf(findings('click_to_signup', view(5)))[1]).toEqual([
      'signups_soon_after_the_click',
      'signups_that_count 5 signups',
    ])
    expect(findings('click_to_signup', view(5))[0]!.sentence).toBe(
      '5 of 10 signups came less than 10 seconds after the click.',
    )
    expect(findings('click_to_signup', view(4))).toEqual([])
    expect(findings('click_to_signup', viewOf(view(5).customers.slice(1)))).toEqual([])
  })
})

describe('signup_burst', () => {
  const usual = times(3, (i) => times(4, (n) => customer(`U${i}-${n}`, DAY - 10 * (i + 1)))).flat()
  const burst = (count: number, time?: number) =>
    viewOf([
      ...usual,
      ...times(count, (i) => customer(`B${i}`, DAY, time === undefined ? {} : { time })),
    ])

  test('names an affiliate with more than five times the usual signups', () => {
    expect(figuresOf(findings('signup_burst', burst(21)))).toEqual([
      ['A', '21 / 20 signups', '21 / 20 signups'],
    ])
    expect(partsOf(findings('signup_burst', burst(21)))[0]).toEqual([
      'signups_of_a_day',
      'usual_signups_of_a_day 4 signups, days -30 to -10',
    ])
    expect(findings('signup_burst', burst(20))).toEqual([])
    expect(findings('signup_burst', burst(21))[0]!.sentence).toBe(
      '21 signups came within a day; 4 are usual.',
    )
  })
})

describe('country_mix', () => {
  const from = (id: string, day: number, country_code: string) =>
    customer(id, day, { fields: { country_code } })
  const before = times(10, (i) => from(`P${i}`, DAY - 20, i < 2 ? 'VN' : 'DE'))

  test('names a country whose share grew by more than 40 points', () => {
    const now = (vietnamese: number) =>
      viewOf([...before, ...times(20, (i) => from(`N${i}`, DAY - 1, i < vietnamese ? 'VN' : 'DE'))])
    expect(figuresOf(findings('country_mix', now(13)))).toEqual([
      ['A', '20 / 20 signups', '65 / 60 percent', '45 / 40 points'],
    ])
    expect(partsOf(findings('country_mix', now(13)))[1]).toEqual([
      'share_of_a_country',
      'signups_of_the_country 13 signups',
      'usual_share_of_the_country 20 percent, days -96 to -7',
      'earlier_signups_of_the_country 2 signups, days -96 to -7',
      'earlier_signups_with_a_country 10 signups, days -96 to -7',
    ])
    expect(findings('country_mix', now(12))).toEqual([])
    expect(findings('country_mix', now(13))[0]!.evidence).toHaveLength(13)
  })
})

describe('minimum_deposit', () => {
  const qualified = (i: number, deposited: string, later: number | null) =>
    customer(`C${i}`, DAY - 40, {
      facts: [
        paid(`T${i}`, DAY - 14, 'deposit', Number(deposited)),
        ...(later === null ? [] : [traded(DAY - 14 + later, { lots_traded: 1 })]),
      ],
      qualified: known({
        plan: 'p',
        rule: 'cpa',
        day: DAY - 14,
        minimums: [
          {
            kinds: ['deposit'],
            least: decimal('100'),
            reached: decimal(deposited),
            currency: 'EUR',
          },
        ],
        facts: [paid(`T${i}`, DAY - 14, 'deposit', Number(deposited))],
      }),
    })
  const view = (idle: number) =>
    viewOf(times(10, (i) => qualified(i, i < idle ? '101' : '101.01', null)))

  test('names an affiliate most of whose customers deposit the least and stop', () => {
    expect(figuresOf(findings('minimum_deposit', view(6)))).toEqual([
      ['A', '10 / 10 customers', '60 / 60 percent', '1 / 1 percent', '0 / 1 records'],
    ])
    expect(partsOf(findings('minimum_deposit', view(6)))).toEqual([
      ['customers_who_qualified'],
      ['share_at_the_minimum', 'customers_at_the_minimum 6 customers'],
      ['largest_deposit_above_the_minimum', 'deposited 101 EUR', 'minimum_of_the_plan 100 EUR'],
      ['records_in_the_days_after'],
    ])
    expect(findings('minimum_deposit', view(5))).toEqual([])
  })
})

describe('short_life', () => {
  const life = (i: number, active: number) =>
    customer(`C${i}`, DAY - 60, {
      facts: times(active, (n) => traded(DAY - 29 + n, { lots_traded: 1 })),
      qualified: known({ plan: 'p', rule: 'cpa', day: DAY - 30, minimums: [], facts: [] }),
    })

  test('names an affiliate whose customers are active on fewer than three days', () => {
    const view = (short: number) => viewOf(times(10, (i) => life(i, i < short ? 2 : 3)))
    expect(figuresOf(findings('short_life', view(8)))).toEqual([
      ['A', '10 / 10 customers', '80 / 80 percent', '2 / 3 days'],
    ])
    expect(partsOf(findings('short_life', view(8)))[1]).toEqual([
      'share_who_stopped',
      'customers_who_stopped 8 customers',
    ])
    expect(findings('short_life', view(7))).toEqual([])
  })
})

describe('deposit_withdrawal', () => {
  const back = (id: string, withdrawn: number, lots: number) =>
    customer(id, DAY - 5, {
      facts: [
        paid(`${id}-1`, DAY - 4, 'deposit', 100),
        traded(DAY - 3, { lots_traded: lots }),
        paid(`${id}-2`, DAY, 'withdrawal', withdrawn),
      ],
    })

  test('names a customer who withdraws nearly all and hardly trades', () => {
    expect(figuresOf(findings('deposit_withdrawal', viewOf([back('C', 90, 0.09)])))).toEqual([
      ['C', '90 / 90 percent', '0.09 / 0.1 lots'],
    ])
    expect(partsOf(findings('deposit_withdrawal', viewOf([back('C', 90, 0.09)])))[0]).toEqual([
      'withdrawn_of_deposits',
      'withdrawn 90 EUR',
      'deposited 100 EUR',
    ])
    // The lots are among the records.
    expect(
      findings('deposit_withdrawal', viewOf([back('C', 90, 0.09)]))[0]!.evidence.map(
        ({ resource }) => resource,
      ),
    ).toEqual(['transactions', 'trading-activity', 'transactions'])
    expect(findings('deposit_withdrawal', viewOf([back('C', 89, 0.09)]))).toEqual([])
    expect(findings('deposit_withdrawal', viewOf([back('C', 90, 0.1)]))).toEqual([])
  })
})

describe('reversals', () => {
  const view = (approved: number, broken: number) =>
    viewOf([
      customer('C', DAY - 40, {
        facts: [
          paid('ok', DAY, 'deposit', approved),
          ...times(broken, (i) => paid(`T${i}`, DAY - i, 'deposit', 10, 'reversed')),
        ],
      }),
    ])

  test('names an affiliate a fifth of whose amount is reversed, in at least five records', () => {
    expect(figuresOf(findings('reversals', view(250, 5)))).toEqual([
      ['A', '5 / 5 transactions', '20 / 20 percent', '50 / 50 EUR'],
    ])
    expect(partsOf(findings('reversals', view(250, 5)))).toEqual([
      ['reversed_declined_or_refunded'],
      [
        'share_of_the_approved_amount',
        'taken_back 50 EUR',
        'approved_amount 250 EUR, days -29 to 0',
      ],
      ['amount_that_was_taken_back', 'approved_amount 250 EUR, days -29 to 0'],
    ])
    // Without an approved amount there is no share.
    const all = findings('reversals', view(0, 5))
    expect(figuresOf(all)).toEqual([['A', '5 / 5 transactions', '50 / 0 EUR']])
    expect(comparisonsOf(all)).toEqual(['at_least', 'more_than'])
    expect(findings('reversals', view(251, 5))).toEqual([])
    expect(findings('reversals', view(1, 4))).toEqual([])
  })
})

describe('resets', () => {
  const fees = (count: number, first = DAY) =>
    viewOf([
      customer('C', DAY - 40, {
        facts: times(count, (i) =>
          paid(`T${i}`, first - i, i === 0 ? 'challenge_fee' : 'reset_fee', 99),
        ),
      }),
    ])

  test('names a customer with five fees in fourteen days', () => {
    expect(figuresOf(findings('resets', fees(5)))).toEqual([['C', '5 / 5 fees']])
    expect(findings('resets', fees(4))).toEqual([])
    expect(findings('resets', fees(5, DAY - 10))).toEqual([])
  })
})

describe('hedge_pair', () => {
  const sides = (days: number, lots: number, pnl: number) =>
    viewOf([
      customer('D', DAY - 40, {
        facts: times(days, (i) => traded(DAY - i, { lots_traded: 10, pnl: 500 })),
      }),
      customer('C', DAY - 40, {
        facts: times(days, (i) => traded(DAY - i, { lots_traded: lots, pnl })),
      }),
    ])

  test('names two customers with opposite sides on three days', () => {
    expect(figuresOf(findings('hedge_pair', sides(3, 9.9, -450)))).toEqual([
      ['C,D', '3 / 3 days', '1 / 1 percent', '10 / 10 percent'],
    ])
    expect(comparisonsOf(findings('hedge_pair', sides(3, 9.9, -450)))).toEqual([
      ...['at_least', 'at_most', 'at_most'],
    ])
    expect(findings('hedge_pair', sides(2, 9.9, -450))).toEqual([])
    expect(findings('hedge_pair', sides(3, 9.89, -450))).toEqual([])
    expect(findings('hedge_pair', sides(3, 9.9, -449))).toEqual([])
    expect(findings('hedge_pair', sides(3, 9.9, 450))).toEqual([])
  })

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

  test('takes other names for other instruments', () => {
    for (const names of [
      ['EUR_USD', 'EUR_GBP'],
      ['USOil', 'USO'],
      ['GBPUSD', 'EURUSD'],
    ]) {
      const view = viewOf(
        names.map((name, i) =>
          customer(name, DAY - 40, {
            facts: times(3, (day) => traded(DAY - day, { lots_traded: 2, pnl: i ? -1 : 1 }, name)),
          }),
        ),
      )
      expect(findings('hedge_pair', view)).toEqual([])
    }
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

  test('what is too large to compare is a case of the affiliate', () => {
    const found = findings('hedge_pair', crowd(1500))
    expect(figuresOf(found)).toEqual([['A', '30 / 3 days']])
    expect(new Set(found[0]!.evidence.map(({ customer_id }) => customer_id)).size).toBe(1500)
  })
})

describe('drawdown_breach', () => {
  const breach = (amounts: Record<string, number>, phases: [number | null, string][]) =>
    viewOf([
      {
        ...customer('C', DAY - 40, { facts: [traded(DAY - 2, amounts)] }),
        fields: phases.map(([from, phase]) => ({
          from,
          value: { ...customer('C', 0).fields[0]!.value, phase, challenge_type: 'two-step' },
        })),
      },
    ])

  test('names a customer above a limit whose phase does not fail within two days', () => {
    const funded: [number | null, string][] = [[null, 'funded']]
    expect(figuresOf(findings('drawdown_breach', breach({ drawdown: 5.01 }, funded)))).toEqual([
      ['C', '5.01 / 5 percent'],
    ])
    expect(findings('drawdown_breach', breach({ drawdown: 5 }, funded))).toEqual([])
    expect(findings('drawdown_breach', breach({ max_drawdown: 11 }, funded))).toHaveLength(1)
    const failed: [number | null, string][] = [...funded, [DAY, 'failed']]
    expect(findings('drawdown_breach', breach({ drawdown: 9 }, failed))).toEqual([])
    const late: [number | null, string][] = [...funded, [DAY + 1, 'failed']]
    expect(findings('drawdown_breach', breach({ drawdown: 9 }, late))).toHaveLength(1)
    const byType = { by_challenge_type: { 'two-step': { daily: '10' } } }
    expect(findings('drawdown_breach', breach({ drawdown: 9 }, funded), byType)).toEqual([])
  })
})

describe('payout_without_trading', () => {
  const payout = (amount: number, tradedAt: number, pnl: number) =>
    viewOf([
      customer('C', DAY - 90, {
        facts: [traded(DAY - tradedAt, { lots_traded: 1, pnl }), paid('T', DAY, 'payout', amount)],
      }),
    ])

  test('names a payout without trading in thirty days', () => {
    expect(findings('payout_without_trading', payout(10, 30, 500))[0]!.sentence).toBe(
      'The customer was paid out without trading in the 30 days before.',
    )
    expect(partsOf(findings('payout_without_trading', payout(10, 30, 500)))).toEqual([
      ['days_with_trading', 'days_before_the_payout 30 days, days -29 to 0'],
    ])
    expect(findings('payout_without_trading', payout(10, 29, 500))).toEqual([])
  })
})

describe('activity_outlier', () => {
  const outlier = (days: number, lots: number) =>
    viewOf([
      customer('C', DAY - 90, {
        facts: [
          ...times(days, (i) => traded(DAY - 1 - i, { lots_traded: 1 + (i % 3) })),
          traded(DAY, { lots_traded: lots }),
        ],
      }),
    ])

  test('names a day of more than twenty times the usual lots', () => {
    expect(figuresOf(findings('activity_outlier', outlier(12, 40.1)))).toEqual([
      ['C', '40.1 / 40 lots', '12 / 10 days'],
    ])
    expect(partsOf(findings('activity_outlier', outlier(12, 40.1)))[0]).toEqual([
      'lots_of_a_day',
      'usual_lots_of_a_day 2 lots, days -12 to -1',
    ])
    expect(findings('activity_outlier', outlier(12, 40))).toEqual([])
    expect(findings('activity_outlier', outlier(9, 400))).toEqual([])
  })
})

describe('lot_churn', () => {
  const churn = (earned: string, deposit: number) =>
    viewOf([
      customer('C', DAY - 60, {
        facts: [
          paid('T', DAY - 3, 'deposit', deposit),
          traded(DAY, { lots_traded: 9, spread_cost: 60, commission: 40 }),
        ],
        unitEarnings: [{ day: DAY, amount: decimal(earned), leftOut: [] }],
      }),
    ])

  test('names a customer and the affiliate if volume earns more than charges or deposits', () => {
    expect(figuresOf(findings('lot_churn', churn('80.01', 1000)))).toEqual([
      ['A', '80.01 / 80 EUR'],
      ['C', '80.01 / 80 EUR'],
    ])
    expect(partsOf(findings('lot_churn', churn('80.01', 1000)))).toEqual([
      ['earned_by_volume_of_charges', 'spread_cost 60 EUR', 'commission_charged 40 EUR'],
    ])
    expect(partsOf(findings('lot_churn', churn('80', 79)))).toEqual([
      ['earned_by_volume_of_net_deposits', 'deposited 79 EUR', 'withdrawn 0 EUR'],
    ])
    // The deposits are among the records.
    expect(findings('lot_churn', churn('80', 79))[0]!.evidence.map(({ id }) => id)).toContain('T')
    expect(findings('lot_churn', churn('80', 1000))).toEqual([])
    expect(figuresOf(findings('lot_churn', churn('80', 79)))).toEqual([
      ['A', '80 / 79 EUR'],
      ['C', '80 / 79 EUR'],
    ])
  })
})

describe('commission_over_revenue', () => {
  const earned = (amount: string, revenue: number) =>
    viewOf(
      [
        customer('C', DAY - 400, {
          facts: times(3, (i) =>
            revenue < 0
              ? paid(`T${i}`, DAY - 30 * i, 'payout', -revenue)
              : paid(`T${i}`, DAY - 30 * i, 'challenge_fee', revenue),
          ),
        }),
      ],
      {
        periods: times(3, (i) => ({
          first: DAY - 29 - 30 * (2 - i),
          last: DAY - 30 * (2 - i),
          statements: [`stm_${i}`],
          earned: decimal(amount),
          leftOut: [],
        })),
      },
    )

  test('names an affiliate who earned more than its customers brought, once for each period', () => {
    expect(figuresOf(findings('commission_over_revenue', earned('500', 499), {}, DAY - 5))).toEqual(
      [['A', '1500 / 1497 EUR', '1500 / 1000 EUR', '1497 / 1500 EUR']],
    )
    expect(partsOf(findings('commission_over_revenue', earned('500', 499), {}, DAY - 5))).toEqual([
      [
        'earned',
        'earned 500 EUR, days -89 to -60',
        'earned 500 EUR, days -59 to -30',
        'earned 500 EUR, days -29 to 0',
      ],
      ['earned'],
      ['net_revenue', 'fees 1497 EUR, days -89 to 0'],
    ])
    expect(findings('commission_over_revenue', earned('500', 500))).toEqual([])
    expect(findings('commission_over_revenue', earned('333', 1))).toEqual([])
    expect(findings('commission_over_revenue', earned('500', -1))).toHaveLength(1)
  })
})

test('figures say how many amounts of which currency have no rate', () => {
  const foreign = (fact: Fact): Fact => ({ ...fact, currency: 'XOF' })
  const unknown = (fact: Fact): Fact => ({ ...fact, currency: null })
  const leftOutOf = (found: readonly DayFinding[]) =>
    partsOf(found).map((parts) => parts.filter((one) => one.startsWith('without')).join(', '))
  const of = (...facts: Fact[]) => [customer('C', DAY - 9, { facts })]
  const some = [
    foreign(paid('X', DAY - 1, 'deposit', 7)),
    foreign(paid('Y', DAY - 1, 'deposit', 8)),
    // An amount of 0 changes nothing.
    foreign(paid('Z', DAY - 1, 'deposit', 0)),
    unknown(paid('N', DAY - 1, 'deposit', 9)),
  ]
  const back = of(paid('D', DAY - 4, 'deposit', 100), ...some, paid('W', DAY, 'withdrawal', 95))
  expect(leftOutOf(findings('deposit_withdrawal', viewOf(back)))).toEqual([
    'without 1 null, without 2 XOF',
    '',
  ])
  const reversed = times(5, (i) => paid(`R${i}`, DAY, 'deposit', 10, 'reversed'))
  expect(leftOutOf(findings('reversals', viewOf(of(...reversed, ...some))))).toEqual([
    '',
    'without 1 null, without 2 XOF',
  ])
  const won = foreign(traded(DAY - 2, { pnl: 900 }))
  const payout = [won, traded(DAY - 5, { pnl: 1 }), paid('P', DAY, 'payout', 50)]
  expect(leftOutOf(findings('payout_without_trading', viewOf(of(...payout))))).toEqual([
    'without 1 XOF',
  ])
  const charged = foreign(traded(DAY, { spread_cost: 900, commission: 100 }))
  const churn = customer('C', DAY - 9, {
    facts: [charged],
    unitEarnings: [{ day: DAY, amount: decimal('5'), leftOut: ['CHF'] }],
  })
  expect(leftOutOf(findings('lot_churn', viewOf([churn])))).toEqual([
    'without 1 CHF, without 2 XOF',
  ])
  const periods = times(3, (i) => ({
    ...{ first: DAY - 29 - 30 * (2 - i), last: DAY - 30 * (2 - i), statements: [`stm_${i}`] },
    ...{ earned: decimal('500'), leftOut: i === 0 ? ['CHF'] : [] },
  }))
  const fees = of(foreign(paid('F', DAY, 'challenge_fee', 9)))
  expect(leftOutOf(findings('commission_over_revenue', viewOf(fees, { periods })))).toEqual([
    ...['without 1 CHF, without 1 XOF', 'without 1 CHF', 'without 1 CHF, without 1 XOF'],
  ])
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
