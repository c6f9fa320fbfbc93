import { describe, expect, test } from 'vitest'
import { checkPlan, type PlanContext } from '../../src/commission/plans/check-plan.ts'
import type { Issue } from '../../src/platform/validation/issue.ts'
import { contextOf, head, planWith, rules, TEMPLATES } from './plan-values.ts'

const { once, share, unit, override } = rules

/** Returns the codes and pointers of a plan's issues, or of its warnings if it is valid. */
function check(body: unknown, vertical = 'forex', more: Partial<PlanContext> = {}) {
  const { issues, plan } = checkPlan(body, contextOf(vertical, more))
  return {
    issues: issues.map(({ pointer, code }) => ({ pointer, code })),
    warnings: plan?.warnings.map(({ code, pointer }) => [code, pointer]),
  }
}

describe('a plan passes', () => {
  test.each(TEMPLATES)('the template %s of %s', (_, vertical, template) => {
    expect(check(template, vertical)).toEqual({ issues: [], warnings: [] })
  })

  const shares = (more: object) => planWith({ ...share, ...more })
  const tiers = (more: object) => ({
    ...{ id: 'share', kind: 'share', base: share.base },
    tiers: { mode: 'whole', steps: [{ from: '0', percent: '10' }], ...more },
  })
  const list = Array.from({ length: 200 }, (_, i) => `type-${i}`)
  test.each<[string, unknown]>([
    ['a rule of each kind', planWith(once, share, unit, override)],
    [
      'decimals of 15 digits and 6 places',
      shares({ percent: '0.000001', base: [{ fixed: '999999999.999999' }] }),
    ],
    ['a percentage of 0', shares({ percent: '0' })],
    ['lists of 200', planWith({ ...once, when: { account_types: list } })],
    [
      '50 rules',
      planWith(...Array.from({ length: 50 }, (_, i) => ({ ...share, id: `s${i}`, percent: '2' }))),
    ],
    ['a glob of 64 characters', planWith({ ...unit, when: { instruments: ['x'.repeat(64)] } })],
    ['a glob of 2 stars', planWith({ ...unit, when: { instruments: ['*a(b*'] } })],
    [
      'patterns that begin with text, and 200 others',
      planWith(
        ...Array.from({ length: 10 }, (_, i) => ({
          ...{ ...unit, id: `u${i}` },
          when: { instruments: Array.from({ length: 200 }, (_, k) => `E${i}U${k}*`) },
        })),
        { ...unit, when: { not_instruments: Array.from({ length: 200 }, (_, i) => `*${i}?`) } },
      ),
    ],
    ['the months of ten years', shares({ months: 120 })],
    [
      'a fence with zero',
      shares({ negative: 'zero', fence: { customer: '-7000', affiliate: '0' } }),
    ],
    ['an advance', planWith(once, { ...share, recoups: 'cpa' })],
    ['a fixed deduction', shares({ base: [...share.base, { fixed: '-50.00' }] })],
    [
      'parts of named terms',
      shares({
        base: [
          { name: 'a', activity: 'pnl' },
          { name: 'b', of: ['a'], times: '-0.2' },
          { of: ['a', 'b'], times: '-0.1' },
        ],
      }),
    ],
    ['a cap of each customer', shares({ per: 'customer', max_per_customer: '500' })],
    ['tiers by the lines of a once rule', planWith(once, tiers({ by: { once: 'cpa' } }))],
    [
      'tiers by active customers',
      planWith(tiers({ by: { customers: 'active' }, window: 'period' })),
    ],
    [
      'tiers by another base of the network',
      planWith(tiers({ by: { base: [{ activity: 'pnl' }] }, over: 'network', window: 'lifetime' })),
    ],
    ['tiers by slices', planWith(tiers({ mode: 'slice', window: 'quarter' }))],
    [
      'a count as text',
      planWith({
        ...once,
        qualify: [{ count: { transactions: ['deposit'] }, min: '3' }],
      }),
    ],
    [
      'a sum at the end of its window',
      planWith({
        ...once,
        qualify: [{ sum: [{ transactions: ['deposit'] }], min: '-1', within_days: 1, at: 'end' }],
      }),
    ],
    [
      'a sum at any time',
      planWith({
        ...once,
        qualify: [{ sum: [{ transactions: ['deposit'] }], min: '1', at: 'first' }],
      }),
    ],
    [
      'a first day of a week',
      {
        ...planWith(share),
        ...{ period: 'week', terms: 'current', effective_from: '2026-11-30' },
      },
    ],
    [
      'any first day under the terms of the signup',
      { ...planWith(share), effective_from: '2026-12-05' },
    ],
    ['a signup that pays an amount', planWith({ ...once, trigger: { signup: true } })],
    [
      'overrides of each kind',
      planWith(
        { ...override, id: 'a', of: { base: share.base }, negative: 'offset' },
        {
          ...override,
          id: 'b',
          percent: undefined,
          of: unit.unit && { unit: unit.unit },
          amount: '1',
          each: '10',
        },
      ),
    ],
  ])('%s', (_, plan) => {
    expect(check(JSON.parse(JSON.stringify(plan)))).toEqual({ issues: [], warnings: [] })
  })
})

/** A refused plan: what is wrong, the plan, and the place and code of each issue. */
type Refused = [title: string, plan: unknown, ...issues: ReturnType<typeof issue>[]]

const issue = (pointer: string, code: Issue['code']) => ({ pointer, code })

const inRule = (rule: object, more: object) => planWith({ ...rule, ...more })
const needs = (pointer: string) => issue(pointer, 'not_applicable')
const without = <T extends object>(rule: T, name: keyof T) =>
  Object.fromEntries(Object.entries(rule).filter(([key]) => key !== name))
const stepsOf = (...steps: object[]) => ({
  ...without(share, 'percent'),
  tiers: { mode: 'whole', steps },
})

const REFUSED: Refused[] = [
  [
    'a misspelt member',
    { ...planWith(share), minimum_payuot: '1' },
    issue('/minimum_payuot', 'unknown_field'),
  ],
  [
    'every unknown member of an object',
    { ...planWith(share), x: 1, y: 2 },
    issue('/x', 'unknown_field'),
    issue('/y', 'unknown_field'),
  ],
  [
    'a misspelt member of a rule',
    inRule(share, { recuops: 'cpa' }),
    issue('/rules/0/recuops', 'unknown_field'),
  ],
  ['a missing member', without(planWith(share), 'currency'), issue('/currency', 'required')],
  ...['\nA plan', 'A\u202Eplan', 'A plan\u2028'].map(
    (name): Refused => [
      `the name ${JSON.stringify(name)}, which changes how other text is shown`,
      { ...planWith(share), name },
      issue('/name', 'pattern'),
    ],
  ),
  ['a plan that is an array', [], issue('', 'type')],
  ['no rules', planWith(), issue('/rules', 'length')],
  ['an unknown kind', inRule(share, { kind: 'shares' }), issue('/rules/0/kind', 'enum')],
  ['a decimal as a number', inRule(share, { percent: 30 }), issue('/rules/0/percent', 'type')],
  [
    'a decimal with separators',
    inRule(once, { amount: '1,000' }),
    issue('/rules/0/amount', 'number'),
  ],
  [
    '7 decimal places',
    inRule(share, { percent: '0.1234567' }),
    issue('/rules/0/percent', 'decimals'),
  ],
  ['16 digits', inRule(once, { amount: '1234567890.123456' }), issue('/rules/0/amount', 'digits')],
  ['a negative amount', inRule(once, { amount: '-5' }), issue('/rules/0/amount', 'minimum')],
  [
    'a negative minimum of payouts',
    { ...planWith(share), minimum_payout: '-1' },
    issue('/minimum_payout', 'minimum'),
  ],
  ['units of 0', inRule(unit, { each: '0.00' }), issue('/rules/0/each', 'pattern')],
  ['months of 0', inRule(share, { months: 0 }), issue('/rules/0/months', 'minimum')],
  ['months of eleven years', inRule(share, { months: 132 }), issue('/rules/0/months', 'maximum')],
  ['half a month', inRule(share, { months: 0.5 }), issue('/rules/0/months', 'pattern')],
  ['a level of 0', inRule(override, { level: 0 }), issue('/rules/0/level', 'minimum')],
  ['a level of 11', inRule(override, { level: 11 }), issue('/rules/0/level', 'maximum')],
  [
    'a currency that ISO 4217 lacks',
    { ...planWith(share), currency: 'EURO' },
    issue('/currency', 'currency'),
  ],
  [
    'a day that does not exist',
    { ...planWith(share), effective_from: '2026-02-30' },
    issue('/effective_from', 'date'),
  ],
  [
    'a day within a month under current terms',
    { ...planWith(share), terms: 'current', effective_from: '2026-12-05' },
    issue('/effective_from', 'pattern'),
  ],
  [
    'a Sunday under current terms',
    { ...planWith(share), period: 'week', terms: 'current', effective_from: '2026-12-06' },
    issue('/effective_from', 'pattern'),
  ],
  [
    '51 rules',
    planWith(...Array.from({ length: 51 }, (_, i) => ({ ...share, id: `s${i}` }))),
    issue('/rules', 'length'),
  ],
  [
    '200 rules',
    planWith(...Array.from({ length: 200 }, (_, i) => ({ ...share, id: `s${i}` }))),
    issue('/rules', 'length'),
  ],
  [
    '21 terms',
    inRule(share, { base: Array(21).fill({ activity: 'pnl' }) }),
    issue('/rules/0/base', 'length'),
  ],
  [
    '21 steps',
    planWith(stepsOf(...Array.from({ length: 21 }, (_, i) => ({ from: `${i}`, percent: '1' })))),
    issue('/rules/0/tiers/steps', 'length'),
  ],
  [
    'a list of 201',
    inRule(share, { when: { countries: Array(201).fill('DE') } }),
    issue('/rules/0/when/countries', 'length'),
  ],
  [
    'an empty list',
    inRule(share, { when: { countries: [] } }),
    issue('/rules/0/when/countries', 'length'),
  ],
  [
    'a glob of 500 stars',
    inRule(unit, { when: { instruments: ['*'.repeat(500)] } }),
    issue('/rules/0/when/instruments/0', 'length'),
  ],
  [
    'a glob of 3 stars',
    inRule(unit, { when: { instruments: ['*a*b*'] } }),
    issue('/rules/0/when/instruments/0', 'pattern'),
  ],
  [
    'a plan above 64 KiB',
    inRule(share, {
      base: Array.from({ length: 20 }, () => ({
        activity: 'pnl',
        when: { links: Array(200).fill('x'.repeat(20)) },
      })),
    }),
    issue('', 'length'),
  ],
  [
    'two rules of one id',
    planWith(share, { ...unit, id: 'share' }),
    issue('/rules/1/id', 'duplicate'),
  ],
  [
    'two terms of one name',
    inRule(share, {
      base: [
        { name: 'a', activity: 'pnl' },
        { name: 'a', activity: 'commission' },
      ],
    }),
    issue('/rules/0/base/1/name', 'duplicate'),
  ],
  [
    '`of` with an unknown term',
    inRule(share, {
      base: [
        { name: 'fees', activity: 'pnl' },
        { of: ['fee'], times: '1' },
      ],
    }),
    issue('/rules/0/base/1/of/0', 'unknown_reference'),
  ],
  [
    '`of` with a later term',
    inRule(share, {
      base: [
        { of: ['fees'], times: '1' },
        { name: 'fees', activity: 'pnl' },
      ],
    }),
    issue('/rules/0/base/0/of/0', 'unknown_reference'),
  ],
  [
    '`of` with its own name',
    inRule(share, { base: [{ name: 'a', of: ['a'], times: '1' }] }),
    issue('/rules/0/base/0/of/0', 'unknown_reference'),
  ],
  [
    '`of` of terms without names',
    inRule(share, { base: [{ activity: 'pnl' }, { of: ['fees'], times: '1' }] }),
    issue('/rules/0/base/1/of/0', 'unknown_reference'),
  ],
  [
    '`of` with a name that is like no other',
    inRule(share, {
      base: [
        { name: 'fees', activity: 'pnl' },
        { name: 'costs', of: ['fees'], times: '1' },
        { of: ['revenue'], times: '1' },
      ],
    }),
    issue('/rules/0/base/2/of/0', 'unknown_reference'),
  ],
  [
    'an advance of a rule that is like no other',
    planWith(once, { ...share, recoups: 'advance' }),
    issue('/rules/1/recoups', 'unknown_reference'),
  ],
  ...['-0', '-0.00'].map((zero): (typeof REFUSED)[number] => [
    `${zero} as a percentage and a factor`,
    inRule(share, { percent: zero, base: [{ activity: 'pnl', times: zero }] }),
    ...['/rules/0/percent', '/rules/0/base/0/times'].map((pointer) => issue(pointer, 'pattern')),
  ]),
  [
    'a glob of 600 characters',
    inRule(share, { when: { instruments: ['x'.repeat(600)] } }),
    issue('/rules/0/when/instruments/0', 'length'),
  ],
  ...['XAU', 'XXX'].map((currency): (typeof REFUSED)[number] => [
    `the currency ${currency}`,
    { ...planWith(share), currency },
    issue('/currency', 'pattern'),
  ]),
  [
    'numbers above their limits',
    {
      ...planWith({
        ...once,
        max_count: 1_000_001,
        qualify: [
          { sum: [{ transactions: ['deposit'] }], min: '1', within_days: 3651 },
          { count: { transactions: ['deposit'] }, min: 1_000_001 },
        ],
        void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 3651 },
      }),
      hold_days: 366,
    },
    issue('/hold_days', 'maximum'),
    issue('/rules/0/qualify/0/within_days', 'maximum'),
    issue('/rules/0/qualify/1/min', 'maximum'),
    issue('/rules/0/void_by/within_days', 'maximum'),
    issue('/rules/0/max_count', 'maximum'),
  ],
  ['an empty term', inRule(share, { base: [{}] }), issue('/rules/0/base/0', 'choice')],
  [
    'a misspelt term',
    inRule(share, { base: [{ transaction: ['deposit'] }] }),
    issue('/rules/0/base/0/transaction', 'unknown_field'),
  ],
  [
    'a term of two kinds',
    inRule(share, { base: [{ transactions: ['deposit'], activity: 'pnl' }] }),
    issue('/rules/0/base/0/activity', 'unknown_field'),
  ],
  [
    'lots in a base',
    inRule(share, { base: [{ activity: 'lots_traded' }] }),
    issue('/rules/0/base/0/activity', 'enum'),
  ],
  [
    'units of profit',
    inRule(unit, { unit: { activity: 'pnl' } }),
    issue('/rules/0/unit/activity', 'enum'),
  ],
  ['no rate', planWith(without(once, 'amount')), issue('/rules/0', 'choice')],
  ['two rates', inRule(once, { percent: '10' }), issue('/rules/0', 'choice')],
  [
    'a rate and tiers',
    planWith({ ...stepsOf({ from: '0', percent: '1' }), percent: '5' }),
    issue('/rules/0', 'choice'),
  ],
  [
    'an amount of an override of lines',
    inRule(without(override, 'percent'), { amount: '5' }),
    needs('/rules/0/amount'),
    issue('/rules/0', 'choice'),
  ],
  [
    'a percentage of an override of units',
    inRule(override, { of: { unit: unit.unit }, amount: '5' }),
    needs('/rules/0/percent'),
  ],
  [
    'a first step above 0',
    planWith(stepsOf({ from: '1', percent: '1' })),
    issue('/rules/0/tiers/steps/0/from', 'pattern'),
  ],
  [
    'descending steps',
    planWith(
      stepsOf(
        { from: '0', percent: '1' },
        { from: '100', percent: '2' },
        { from: '50', percent: '3' },
      ),
    ),
    issue('/rules/0/tiers/steps/2/from', 'order'),
  ],
  [
    'equal steps',
    planWith(stepsOf({ from: '0', percent: '1' }, { from: '0.00', percent: '2' })),
    issue('/rules/0/tiers/steps/1/from', 'order'),
  ],
  [
    'steps of amounts in a share',
    planWith(stepsOf({ from: '0', amount: '1' })),
    needs('/rules/0/tiers/steps/0/amount'),
    issue('/rules/0/tiers/steps/0/percent', 'required'),
  ],
  [
    'steps of percentages in units',
    planWith({
      ...without(unit, 'amount'),
      tiers: { mode: 'whole', steps: [{ from: '0', percent: '1' }] },
    }),
    needs('/rules/0/tiers/steps/0/percent'),
    issue('/rules/0/tiers/steps/0/amount', 'required'),
  ],
  [
    'steps of both in a once rule',
    planWith({
      ...without(once, 'amount'),
      tiers: {
        mode: 'whole',
        steps: [
          { from: '0', amount: '1' },
          { from: '1', percent: '1' },
        ],
      },
    }),
    needs('/rules/0/tiers/steps/1/percent'),
    issue('/rules/0/tiers/steps/1/amount', 'required'),
  ],
  [
    'a step without a rate',
    planWith({ ...without(once, 'amount'), tiers: { mode: 'whole', steps: [{ from: '0' }] } }),
    issue('/rules/0/tiers/steps/0/amount', 'required'),
  ],
  [
    'slices by another measure',
    planWith({
      ...stepsOf(),
      tiers: {
        mode: 'slice',
        by: { customers: 'active' },
        over: 'network',
        steps: [{ from: '0', percent: '1' }],
      },
    }),
    needs('/rules/0/tiers/by'),
    needs('/rules/0/tiers/over'),
  ],
  [
    'an override by another measure',
    planWith({
      id: 'up',
      kind: 'override',
      level: 1,
      of: { lines: ['share'] },
      tiers: {
        mode: 'whole',
        by: { customers: 'active' },
        over: 'network',
        steps: [{ from: '0', percent: '1' }],
      },
    }),
    needs('/rules/0/tiers/by'),
    needs('/rules/0/tiers/over'),
  ],
  [
    'active customers of a quarter',
    planWith({
      ...stepsOf(),
      tiers: {
        mode: 'whole',
        by: { customers: 'active' },
        window: 'quarter',
        steps: [{ from: '0', percent: '1' }],
      },
    }),
    needs('/rules/0/tiers/window'),
  ],
  [
    'tiers by a rule of another kind',
    planWith(unit, {
      ...stepsOf(),
      tiers: { mode: 'whole', by: { once: 'lots' }, steps: [{ from: '0', percent: '1' }] },
    }),
    issue('/rules/1/tiers/by/once', 'unknown_reference'),
  ],
  [
    'an advance of a rule that does not exist',
    planWith(once, { ...share, recoups: 'cpas' }),
    issue('/rules/1/recoups', 'unknown_reference'),
  ],
  [
    'an advance of a share',
    inRule(share, { recoups: 'share' }),
    issue('/rules/0/recoups', 'unknown_reference'),
  ],
  [
    'an advance per customer',
    planWith(once, { ...share, recoups: 'cpa', per: 'customer' }),
    needs('/rules/1/recoups'),
  ],
  [
    'an advance in a unit rule',
    planWith(once, { ...unit, recoups: 'cpa' }),
    issue('/rules/1/recoups', 'unknown_field'),
  ],
  [
    'a fence that may be negative',
    inRule(share, { fence: { customer: '-1', affiliate: '-1' } }),
    needs('/rules/0/fence'),
  ],
  [
    'a fence per customer',
    inRule(share, {
      per: 'customer',
      negative: 'zero',
      fence: { customer: '-1', affiliate: '-1' },
    }),
    needs('/rules/0/fence'),
  ],
  [
    'a fence of positive thresholds',
    inRule(share, { negative: 'zero', fence: { customer: '7000', affiliate: '0.01' } }),
    issue('/rules/0/fence/customer', 'maximum'),
    issue('/rules/0/fence/affiliate', 'maximum'),
  ],
  [
    'a fixed amount per product',
    inRule(share, { per: 'product', base: [{ fixed: '1' }] }),
    needs('/rules/0/base/0/fixed'),
  ],
  [
    'a cap of customers per affiliate',
    inRule(share, { max_per_customer: '5' }),
    needs('/rules/0/max_per_customer'),
  ],
  [
    'a cap of customers in a unit rule',
    inRule(unit, { max_per_customer: '5' }),
    issue('/rules/0/max_per_customer', 'unknown_field'),
  ],
  [
    'limits of a fixed amount',
    inRule(once, { min_amount: '5', max_amount: '1' }),
    needs('/rules/0/min_amount'),
    needs('/rules/0/max_amount'),
    issue('/rules/0/min_amount', 'maximum'),
  ],
  [
    'a percentage of a signup',
    { ...planWith({ ...without(once, 'amount'), percent: '1', trigger: { signup: true } }) },
    needs('/rules/0/percent'),
  ],
  [
    'a signup that is taken back',
    inRule(once, {
      trigger: { signup: true },
      void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 1 },
    }),
    needs('/rules/0/void_by'),
  ],
  [
    'what is taken back twice by one name',
    inRule(once, {
      void_by: {
        terms: [
          { transactions: ['withdrawal'], name: 'out' },
          { transactions: ['bonus'], name: 'out' },
        ],
        within_days: 1,
      },
    }),
    issue('/rules/0/void_by/terms/1/name', 'duplicate'),
  ],
  [
    'an end without a window',
    inRule(once, { qualify: [{ sum: [{ transactions: ['deposit'] }], min: '1', at: 'end' }] }),
    issue('/rules/0/qualify/0/within_days', 'required'),
  ],
  [
    'a count of half a fact',
    inRule(once, { qualify: [{ count: { transactions: ['deposit'] }, min: '0.5' }] }),
    issue('/rules/0/qualify/0/min', 'pattern'),
  ],
  [
    'a condition on facts as one on the customer',
    inRule(once, { qualify: [{ customer: { instruments: ['*'], countries: ['DE'] } }] }),
    needs('/rules/0/qualify/0/customer/instruments'),
  ],
  [
    'an empty range of sizes',
    inRule(once, { when: { account_size: { min: '2', max: '1' } } }),
    issue('/rules/0/when/account_size/min', 'maximum'),
  ],
  [
    'conditions of an override of lines',
    inRule(override, { when: { countries: ['DE'] }, months: 1, each: '2' }),
    needs('/rules/0/when'),
    needs('/rules/0/months'),
    needs('/rules/0/each'),
  ],
  [
    'a type of transactions that the vertical lacks',
    inRule(once, { trigger: { transactions: ['deposits'] } }),
    issue('/rules/0/trigger/transactions/0', 'enum'),
  ],
  [
    'events of a partner',
    inRule(share, { base: [{ event: 'Deposit' }] }),
    needs('/rules/0/base/0/event'),
  ],
]

describe('a plan is refused', () => {
  test.each(REFUSED)('%s', (_, plan, ...issues) => {
    expect(check(plan).issues).toEqual(issues)
  })

  test('facts that brands do not send', () => {
    expect(check(planWith(once, share), 'igaming').issues).toEqual([
      needs('/rules/0/trigger/transactions'),
      needs('/rules/1/base/0/activity'),
    ])
  })

  test('facts that proprietary trading firms do not send', () => {
    const fee = { ...once, trigger: { transactions: ['challenge_fee'] } }
    expect(check(planWith(fee, share), 'prop-trading').issues).toEqual([
      needs('/rules/1/base/0/activity'),
    ])
  })

  test('another currency, period, terms or the same first day as an earlier version', () => {
    const earlier = { version: 3, currency: 'USD', period: 'week', terms: 'current' } as const
    const versions = [{ ...earlier, effective_from: head.effective_from, rules: [] }]
    expect(check(planWith(share), 'forex', { versions }).issues).toEqual([
      issue('/currency', 'fixed_by_plan'),
      issue('/period', 'fixed_by_plan'),
      issue('/terms', 'fixed_by_plan'),
      issue('/effective_from', 'duplicate'),
    ])
  })
})

/** A rule that pays a share of something under conditions. */
const part = (id: string, percent: string, more: object = {}) => ({
  ...share,
  id,
  percent,
  ...more,
})
const pnl = (times: string, more: object = {}) => ({ base: [{ activity: 'pnl', times, ...more }] })
const spread = { base: [{ activity: 'spread_cost' }] }
const inDE = { when: { countries: ['DE'] } }
const tiersTo = (member: string, most: string) => ({
  [member]: undefined,
  tiers: {
    mode: 'whole',
    steps: [
      { from: '0', [member]: '1' },
      { from: '9', [member]: most },
    ],
  },
})

describe('§16.36 what is probably a mistake', () => {
  test.each<[string, object[], ...string[]]>([
    ['a share', [part('a', '100.000001')], '/rules/0/percent'],
    ['a step', [part('a', '1', tiersTo('percent', '101'))], '/rules/0/tiers/steps/1/percent'],
    [
      'a share of the trigger',
      [{ ...once, amount: undefined, percent: '101' }],
      '/rules/0/percent',
    ],
    ['an override', [{ ...override, percent: '200' }], '/rules/0/percent'],
    ['a factor', [part('a', '60', pnl('2'))], '/rules'],
    ['rules together', [part('a', '60', pnl('1')), part('b', '40.5', pnl('1'))], '/rules'],
    [
      'the greatest steps together',
      [part('a', '60', spread), part('b', '1', { ...tiersTo('percent', '41'), ...spread })],
      '/rules',
    ],
    [
      'uplines',
      [part('a', '60', pnl('1')), { ...override, percent: '41', of: pnl('1') }],
      '/rules',
    ],
  ])('%s above 100 %% of what is counted', (_, list, ...pointers) => {
    expect(check(JSON.parse(JSON.stringify(planWith(...list)))).warnings).toEqual(
      pointers.map((pointer) => ['over_100', pointer]),
    )
  })

  test.each<[string, object[]]>([
    ['100 %', [part('a', '60', pnl('1')), part('b', '40', pnl('1'))]],
    ['different things', [part('a', '60', pnl('1')), part('b', '60', spread)]],
    [
      'what the other deducts',
      [
        part('a', '60', pnl('1')),
        part('b', '60', { base: [...spread.base, { activity: 'pnl', times: '-1' }] }),
      ],
    ],
    [
      'some customers',
      [part('a', '60', pnl('1', inDE)), part('b', '60', { ...inDE, ...pnl('1') })],
    ],
    [
      'what the downline pays',
      [
        part('a', '60', pnl('1')),
        { ...override, percent: '60', of: pnl('1'), funded_by: 'downline' },
      ],
    ],
  ])('no share of %s', (_, list) => {
    expect(check(planWith(...list)).warnings).toEqual([])
  })

  test('an amount finer than the currency that is paid as it stands; not that of a unit', () => {
    const fine = [
      { ...once, amount: '9.999' },
      {
        ...once,
        id: 'b',
        amount: undefined,
        percent: '5',
        min_amount: '0.001',
        max_amount: '9.50000',
      },
      { ...once, id: 'c', ...tiersTo('amount', '0.005') },
      { ...override, percent: undefined, of: { once: 'b' }, amount: '0.999' },
      { ...unit, amount: '0.000001' },
      part('d', '5', { per: 'customer', max_per_customer: '0.101', max: '7.001' }),
    ]
    const plan = { ...planWith(...fine), minimum_payout: '0.001' }
    const found = (currency: string) =>
      check(JSON.parse(JSON.stringify({ ...plan, currency }))).warnings?.map(([, at]) => at)
    expect(found('KWD')).toEqual([])
    expect(found('EUR')).toEqual([
      '/minimum_payout',
      '/rules/0/amount',
      '/rules/1/min_amount',
      '/rules/2/tiers/steps/1/amount',
      '/rules/3/amount',
      '/rules/5/max_per_customer',
      '/rules/5/max',
    ])
    expect(found('JPY')).toContain('/rules/1/max_amount')
  })
})

describe('a plan has a warning', () => {
  const brandShare = (base: object[]) => planWith({ ...share, base })
  test.each<[string, unknown, string, [string, string][]]>([
    [
      'a withdrawn currency',
      { ...planWith(share), currency: 'HRK' },
      'forex',
      [['withdrawn_currency', '/currency']],
    ],
    [
      'an event without a definition',
      brandShare([{ event: 'Deposits' }]),
      'igaming',
      [['unknown_event', '/rules/0/base/0/event']],
    ],
    [
      'a KPI that the definition lacks',
      brandShare([{ event: 'DailyStats', kpi: 'NGRR' }]),
      'igaming',
      [['unknown_kpi', '/rules/0/base/0/kpi']],
    ],
    [
      'rebates that are passed on beside lots',
      planWith(unit, { ...share, base: [{ transactions: ['ib_rebate'] }] }),
      'forex',
      [['rebate_and_unit', '/rules/0/unit']],
    ],
    [
      'no rebates that are deducted',
      planWith(unit, {
        ...share,
        base: [{ activity: 'pnl' }, { transactions: ['ib_rebate'], times: '-1' }],
      }),
      'forex',
      [],
    ],
  ])('%s', (_, plan, vertical, warnings) => {
    expect(check(plan, vertical)).toEqual({ issues: [], warnings })
  })
})
