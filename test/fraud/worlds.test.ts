import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { KINDS, kindsOf } from '../../src/fraud/kinds.ts'
import { randomSource } from '../commission/worlds.ts'
import { before } from './oracle/account.ts'
import { expectedOf, sorted } from './oracle/findings.ts'
import { fraudWorld, randomParameters } from './random-worlds.ts'
import { findingsIn, ruleOf, viewer } from './world-findings.ts'

// Rules against their oracle, which was written from the contract: of random worlds each finding, figure and
// record must be the same. `npm run worlds -- model` tries more.

const WORLDS = env.MODEL_RUNS || 60
const FIRST_SEED = env.SEED * 3_000_000

/** The kind whose input, who shares an e-mail, is made by SQL: see stored-fraud-worlds.test.ts. */
const WITHOUT_INPUT = 'shared_identity'

/** Every number that a kind compares, and the numbers of which it is made. */
const FIGURES: Record<string, Record<string, string[]>> = {
  click_to_signup: {
    longest_time_after_the_click: [],
    shortest_time_after_the_click: [],
    signups_long_after_the_click: ['signups_that_count'],
    signups_soon_after_the_click: ['signups_that_count'],
    signups_with_a_click: [],
  },
  signup_burst: {
    signups_of_a_day: ['usual_signups_of_a_day'],
    signups_of_an_hour: ['usual_signups_of_an_hour'],
  },
  country_mix: {
    growth_of_the_share: [],
    share_of_a_country: [
      'earlier_signups_of_the_country',
      'earlier_signups_with_a_country',
      'signups_of_the_country',
      'usual_share_of_the_country',
    ],
    signups_with_a_country: [],
  },
  minimum_deposit: {
    customers_who_qualified: [],
    largest_deposit_above_the_minimum: ['deposited', 'minimum_of_the_plan'],
    records_in_the_days_after: [],
    share_at_the_minimum: ['customers_at_the_minimum'],
  },
  short_life: {
    customers_who_qualified: [],
    most_active_days: [],
    share_who_stopped: ['customers_who_stopped'],
  },
  deposit_withdrawal: {
    bets: [],
    customers_who_deposited: [],
    least_withdrawn_of_deposits: ['deposited', 'withdrawn'],
    lots_traded: [],
    share_who_withdrew: ['customers_who_withdrew'],
    withdrawn_of_deposits: ['deposited', 'withdrawn'],
  },
  reversals: {
    amount_that_was_taken_back: ['approved_amount'],
    reversed_declined_or_refunded: [],
    share_of_the_approved_amount: ['approved_amount', 'taken_back'],
  },
  resets: {
    fees: [],
  },
  hedge_pair: {
    days_with_opposite_trades: [],
    difference_of_lots: [],
    difference_of_profit_and_loss: [],
  },
  drawdown_breach: {
    drawdown: [],
    max_drawdown: [],
  },
  payout_without_trading: {
    days_with_trading: ['days_before_the_payout'],
    payout: ['profit'],
  },
  activity_outlier: {
    earlier_active_days: [],
    lots_of_a_day: ['usual_lots_of_a_day'],
    profit_or_loss_of_a_day: ['usual_profit_or_loss_of_a_day'],
  },
  lot_churn: {
    earned_by_volume_of_charges: ['commission_charged', 'spread_cost'],
    earned_by_volume_of_net_deposits: ['deposited', 'withdrawn'],
  },
  commission_over_revenue: {
    earned: ['earned'],
    net_revenue: [
      'commission_charged',
      'deposited',
      'fees',
      'payouts_and_refunds',
      'spread_cost',
      'withdrawn',
    ],
  },
}

/** The kinds that convert amounts, which say what has no rate. */
const CONVERTED = [
  ...['commission_over_revenue', 'deposit_withdrawal', 'lot_churn', 'payout_without_trading'],
  'reversals',
]

test(`${WORLDS} random worlds have the findings of the oracle, day by day as at once`, {
  timeout: 3_600_000,
}, () => {
  const found = new Map(KINDS.map(({ kind }) => [kind, 0]))
  const figures = Object.fromEntries(
    KINDS.map(({ kind }): [string, Record<string, string[]>] => [kind, {}]),
  )
  const leftOut = new Set<string>()
  for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed++) {
    const { world, days } = fraudWorld(seed)
    const from = randomSource(seed)
    const viewsOf = viewer(world)
    for (const kind of kindsOf(world.vertical)) {
      if (kind.kind === WITHOUT_INPUT) continue
      const rule = ruleOf(kind, randomParameters(from, kind.kind))
      for (const { affiliate_id } of world.affiliates) {
        const label = `seed ${seed}, ${kind.kind}, ${affiliate_id}`
        const expected = expectedOf(world, kind.kind, rule.parameters, days, affiliate_id)
        const atOnce = findingsIn(rule, viewsOf(rule, days, affiliate_id))
        expect(sorted(atOnce), label).toEqual(sorted(expected))
        const day = before(days.last, from.below(6))
        const alone = findingsIn(rule, viewsOf(rule, { first: day, last: day }, affiliate_id))
        expect(alone, `${label}, ${day} alone`).toEqual(atOnce.filter((one) => one.day === day))
        for (const { name, made_of = [], left_out } of atOnce.flatMap((one) => one.figures)) {
          const own = figures[kind.kind]!
          const parts = [...(own[name] ?? []), ...made_of.map((part) => part.name)]
          own[name] = [...new Set(parts)].sort()
          if (left_out) leftOut.add(kind.kind)
        }
        found.set(kind.kind, found.get(kind.kind)! + atOnce.length)
      }
    }
  }
  for (const [kind, own] of Object.entries(figures)) {
    for (const [name, parts] of Object.entries(own)) {
      expect(FIGURES[kind]?.[name], `${kind}, ${name}`).toEqual(expect.arrayContaining(parts))
    }
  }
  expect(CONVERTED).toEqual(expect.arrayContaining([...leftOut]))
  expect(leftOut.size).toBeGreaterThan(0)
  const empty = [...found].flatMap(([kind, count]) => (count < 2 ? [kind] : []))
  expect(empty, JSON.stringify([...found])).toEqual([WITHOUT_INPUT])
})
