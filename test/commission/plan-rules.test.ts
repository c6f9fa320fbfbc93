import { describe, expect, test } from 'vitest'
import { checkPlan, type PlanContext } from '../../src/commission/plans/check-plan.ts'
import type { Issue } from '../../src/validation/issue.ts'
import { formatIssue } from '../../src/validation/messages.ts'
import { contextOf, head, planWith, rules, TEMPLATES } from './plan-values.ts'

const { once, share, unit, override } = rules

/** Returns the codes and pointers of a plan's issues, or of its warnings if it is valid. */
function check(body: unknown, vertical = 'forex', more: Partial<PlanContext> = {}) {
  const { issues, plan } = checkPlan(body, contextOf(vertical, more))
  return {
    issues: issues.map(formatIssue),
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
      shares({ percent: '0.000001', max: '999999999.999999' }),
    ],
    ['a percentage of 0', shares({ percent: '0' })],
    ['lists of 200', planWith({ ...once, when: { account_types: list } })],
    ['50 rules', planWith(...Array.from({ length: 50 }, (_, i) => ({ ...share, id: `s${i}` })))],
    ['a glob of 64 characters', planWith({ ...unit, when: { instruments: ['x'.repeat(64)] } })],
    ['a glob of 8 stars', planWith({ ...unit, when: { instruments: ['*a*b*c*d*e*f*g*'] } })],
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

/** A refused plan: what is wrong, the plan, and its issues whole. */
type Refused = [title: string, plan: unknown, ...issues: ReturnType<typeof formatIssue>[]]

const issue = (
  pointer: string,
  code: Issue['code'],
  message: string,
  hint?: string,
): ReturnType<typeof formatIssue> => ({ pointer, code, message, ...(hint && { hint }) })

const inRule = (rule: object, more: object) => planWith({ ...rule, ...more })
const needs = (pointer: string, why: string) => {
  const name = pointer.split('/').at(-1)!
  return issue(
    pointer,
    'not_applicable',
    `\`${name}\` cannot be used here: ${why}.`,
    `Leave out \`${name}\`.`,
  )
}
const without = <T extends object>(rule: T, name: keyof T) =>
  Object.fromEntries(Object.entries(rule).filter(([key]) => key !== name))
const stepsOf = (...steps: object[]) => ({
  ...without(share, 'percent'),
  tiers: { mode: 'whole', steps },
})
const RATE = '`amount`, `percent`, `tiers`'

const FEWER_RULES =
  'Combine rules that differ only in what they name: a base has several terms, `when` has lists, and `tiers` has steps.'

const MEMBERS =
  'Use one of `name`, `currency`, `period`, `effective_from`, `terms`, `negative`, `minimum_payout`, `hold_days`, `rules`.'

const OF_UNIT =
  'Use one of `id`, `when`, `months`, `tiers`, `max`, `kind`, `unit`, `each`, `amount`.'

const REFUSED: Refused[] = [
  [
    'a misspelt member',
    { ...planWith(share), minimum_payuot: '1' },
    issue(
      '/minimum_payuot',
      'unknown_field',
      '`minimum_payuot` is not a field of this object.',
      'Did you mean `minimum_payout`?',
    ),
  ],
  [
    'every unknown member of an object',
    { ...planWith(share), x: 1, y: 2 },
    issue('/x', 'unknown_field', '`x` is not a field of this object.', MEMBERS),
    issue('/y', 'unknown_field', '`y` is not a field of this object.', MEMBERS),
  ],
  [
    'a misspelt member of a rule',
    inRule(share, { recuops: 'cpa' }),
    issue(
      '/rules/0/recuops',
      'unknown_field',
      '`recuops` is not a field of this object.',
      'Did you mean `recoups`?',
    ),
  ],
  [
    'a missing member',
    without(planWith(share), 'currency'),
    issue('/currency', 'required', '`currency` is required.'),
  ],
  ...['\nA plan', 'A\u202Eplan', 'A plan\u2028'].map(
    (name): Refused => [
      `the name ${JSON.stringify(name)}, which changes how other text is shown`,
      { ...planWith(share), name },
      issue('/name', 'pattern', expect.stringMatching(/Expected printable characters\.$/)),
    ],
  ),
  ['a plan that is an array', [], issue('', 'type', 'Expected an object, not an array.')],
  ['no rules', planWith(), issue('/rules', 'length', 'There can be 1 to 50 rules, not 0.')],
  [
    'an unknown kind',
    inRule(share, { kind: 'shares' }),
    issue(
      '/rules/0/kind',
      'enum',
      '`shares` is not one of `once`, `share`, `unit`, `override`.',
      'Did you mean `share`?',
    ),
  ],
  [
    'a decimal as a number',
    inRule(share, { percent: 30 }),
    issue(
      '/rules/0/percent',
      'type',
      'Expected a string, not a number.',
      'Send it as text: `"30"`.',
    ),
  ],
  [
    'a decimal with separators',
    inRule(once, { amount: '1,000' }),
    issue(
      '/rules/0/amount',
      'number',
      '`1,000` is not a decimal: expected digits with at most one point.',
      'Send it without separators, plus sign, exponent or leading zeros, such as `"-1000.00"`.',
    ),
  ],
  [
    '7 decimal places',
    inRule(share, { percent: '0.1234567' }),
    issue(
      '/rules/0/percent',
      'decimals',
      '`0.1234567` has more than 6 decimal places.',
      'Round the number to 6 decimal places.',
    ),
  ],
  [
    '16 digits',
    inRule(once, { amount: '1234567890.123456' }),
    issue(
      '/rules/0/amount',
      'digits',
      'The number has more than 15 significant digits.',
      'Round the number.',
    ),
  ],
  [
    'a negative amount',
    inRule(once, { amount: '-5' }),
    issue('/rules/0/amount', 'minimum', '`-5` is less than the minimum, 0.'),
  ],
  [
    'a negative minimum of payouts',
    { ...planWith(share), minimum_payout: '-1' },
    issue('/minimum_payout', 'minimum', '`-1` is less than the minimum, 0.'),
  ],
  [
    'units of 0',
    inRule(unit, { each: '0.00' }),
    issue('/rules/0/each', 'pattern', '`0.00` is not valid. Expected a decimal greater than 0.'),
  ],
  [
    'months of 0',
    inRule(share, { months: 0 }),
    issue(
      '/rules/0/months',
      'minimum',
      '`0` is less than the minimum, 1.',
      'Leave out `months` if the rule has no time limit.',
    ),
  ],
  [
    'months of eleven years',
    inRule(share, { months: 132 }),
    issue(
      '/rules/0/months',
      'maximum',
      '`132` is more than the maximum, 120.',
      'Leave out `months` if the rule has no time limit.',
    ),
  ],
  [
    'half a month',
    inRule(share, { months: 0.5 }),
    issue(
      '/rules/0/months',
      'pattern',
      '`0.5` is not valid. Expected a whole number.',
      'Leave out `months` if the rule has no time limit.',
    ),
  ],
  [
    'a level of 0',
    inRule(override, { level: 0 }),
    issue('/rules/0/level', 'minimum', '`0` is less than the minimum, 1.'),
  ],
  [
    'a level of 11',
    inRule(override, { level: 11 }),
    issue('/rules/0/level', 'maximum', '`11` is more than the maximum, 10.'),
  ],
  [
    'a currency that ISO 4217 lacks',
    { ...planWith(share), currency: 'EURO' },
    issue(
      '/currency',
      'currency',
      '`EURO` is not an ISO 4217 currency code.',
      'Did you mean `EUR`?',
    ),
  ],
  [
    'a day that does not exist',
    { ...planWith(share), effective_from: '2026-02-30' },
    issue('/effective_from', 'date', '`2026-02-30` is not a valid date in the form `YYYY-MM-DD`.'),
  ],
  [
    'a day within a month under current terms',
    { ...planWith(share), terms: 'current', effective_from: '2026-12-05' },
    issue(
      '/effective_from',
      'pattern',
      '`2026-12-05` is not valid. Expected the first day of a month.',
      'Send `2026-12-01` or `2027-01-01`.',
    ),
  ],
  [
    'a Sunday under current terms',
    { ...planWith(share), period: 'week', terms: 'current', effective_from: '2026-12-06' },
    issue(
      '/effective_from',
      'pattern',
      '`2026-12-06` is not valid. Expected a Monday.',
      'Send `2026-11-30` or `2026-12-07`.',
    ),
  ],
  [
    '51 rules',
    planWith(...Array.from({ length: 51 }, (_, i) => ({ ...share, id: `s${i}` }))),
    issue('/rules', 'length', 'There can be 1 to 50 rules, not 51.', FEWER_RULES),
  ],
  [
    '200 rules',
    planWith(...Array.from({ length: 200 }, (_, i) => ({ ...share, id: `s${i}` }))),
    issue('/rules', 'length', 'There can be 1 to 50 rules, not 200.', FEWER_RULES),
  ],
  [
    '21 terms',
    inRule(share, { base: Array(21).fill({ activity: 'pnl' }) }),
    issue('/rules/0/base', 'length', 'There can be 1 to 20 items, not 21.'),
  ],
  [
    '21 steps',
    planWith(stepsOf(...Array.from({ length: 21 }, (_, i) => ({ from: `${i}`, percent: '1' })))),
    issue('/rules/0/tiers/steps', 'length', 'There can be 1 to 20 items, not 21.'),
  ],
  [
    'a list of 201',
    inRule(share, { when: { countries: Array(201).fill('DE') } }),
    issue('/rules/0/when/countries', 'length', 'There can be 1 to 200 items, not 201.'),
  ],
  [
    'an empty list',
    inRule(share, { when: { countries: [] } }),
    issue('/rules/0/when/countries', 'length', 'There can be 1 to 200 items, not 0.'),
  ],
  [
    'a glob of 500 stars',
    inRule(unit, { when: { instruments: ['*'.repeat(500)] } }),
    issue(
      '/rules/0/when/instruments/0',
      'length',
      'Text must have 1 to 64 characters, not 500.',
      'Use shorter patterns with fewer stars.',
    ),
  ],
  [
    'a glob of 9 stars',
    inRule(unit, { when: { instruments: ['*********'] } }),
    issue(
      '/rules/0/when/instruments/0',
      'pattern',
      '`*********` is not valid. Expected a pattern of at most 8 stars.',
      'Use shorter patterns with fewer stars.',
    ),
  ],
  [
    '201 patterns that are matched one by one',
    planWith(
      { ...unit, when: { instruments: Array.from({ length: 150 }, (_, i) => `*${i}`) } },
      {
        ...unit,
        id: 'other',
        when: { not_instruments: Array.from({ length: 51 }, (_, i) => `?${i}`) },
      },
    ),
    issue(
      '/rules/1/when/not_instruments',
      'length',
      'There can be at most 200 patterns in a plan with `?`, or with `*` before their end, not 201.',
      'Name the beginnings of the symbols, such as `EURUSD*`: any number of these is allowed.',
    ),
  ],
  [
    'a plan above 64 KiB',
    inRule(share, {
      base: Array.from({ length: 20 }, () => ({
        activity: 'pnl',
        when: { links: Array(200).fill('x'.repeat(20)) },
      })),
    }),
    issue('', 'length', 'There can be at most 65536 bytes of JSON in a plan, not 92979.'),
  ],
  [
    'two rules of one id',
    planWith(share, { ...unit, id: 'share' }),
    issue(
      '/rules/1/id',
      'duplicate',
      '`share` is already the id of rule 1.',
      'Give each rule another id.',
    ),
  ],
  [
    'two terms of one name',
    inRule(share, {
      base: [
        { name: 'a', activity: 'pnl' },
        { name: 'a', activity: 'commission' },
      ],
    }),
    issue(
      '/rules/0/base/1/name',
      'duplicate',
      '`a` is already the name of an earlier term of this base.',
      'Give each term another name.',
    ),
  ],
  [
    'one term twice in `of`',
    inRule(share, {
      base: [
        { name: 'a', activity: 'pnl' },
        { of: ['a', 'a'], times: '1' },
      ],
    }),
    issue(
      '/rules/0/base/1/of/1',
      'duplicate',
      '`a` is already in this list.',
      'Name each term once.',
    ),
  ],
  [
    '`of` with an unknown term',
    inRule(share, {
      base: [
        { name: 'fees', activity: 'pnl' },
        { of: ['fee'], times: '1' },
      ],
    }),
    issue(
      '/rules/0/base/1/of/0',
      'unknown_reference',
      '`fee` is not the name of an earlier term of this base.',
      'Did you mean `fees`?',
    ),
  ],
  [
    '`of` with a later term',
    inRule(share, {
      base: [
        { of: ['fees'], times: '1' },
        { name: 'fees', activity: 'pnl' },
      ],
    }),
    issue(
      '/rules/0/base/0/of/0',
      'unknown_reference',
      '`fees` is not the name of an earlier term of this base.',
      'Put the term that it names before this one.',
    ),
  ],
  [
    '`of` with its own name',
    inRule(share, { base: [{ name: 'a', of: ['a'], times: '1' }] }),
    issue(
      '/rules/0/base/0/of/0',
      'unknown_reference',
      '`a` is not the name of an earlier term of this base.',
      'Put the term that it names before this one.',
    ),
  ],
  [
    '`of` of terms without names',
    inRule(share, { base: [{ activity: 'pnl' }, { of: ['fees'], times: '1' }] }),
    issue(
      '/rules/0/base/1/of/0',
      'unknown_reference',
      '`fees` is not the name of an earlier term of this base.',
      'No term before this one has a `name`. Give one to the term that it is a part of.',
    ),
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
    issue(
      '/rules/0/base/2/of/0',
      'unknown_reference',
      '`revenue` is not the name of an earlier term of this base.',
      'Use one of `fees`, `costs`.',
    ),
  ],
  [
    'an advance of a rule that is like no other',
    planWith(once, { ...share, recoups: 'advance' }),
    issue(
      '/rules/1/recoups',
      'unknown_reference',
      '`advance` is not the id of a `once` rule of this plan.',
      'Use `cpa`.',
    ),
  ],
  ...['-0', '-0.00'].map((zero): (typeof REFUSED)[number] => [
    `${zero} as a percentage and a factor`,
    inRule(share, { percent: zero, base: [{ activity: 'pnl', times: zero }] }),
    ...['/rules/0/percent', '/rules/0/base/0/times'].map((pointer) =>
      issue(pointer, 'pattern', `\`${zero}\` is not valid. Expected \`0\` without a sign.`),
    ),
  ]),
  [
    'a glob of 600 characters',
    inRule(share, { when: { instruments: ['x'.repeat(600)] } }),
    issue(
      '/rules/0/when/instruments/0',
      'length',
      'Text must have 1 to 64 characters, not 600.',
      'Use shorter patterns with fewer stars.',
    ),
  ],
  ...['XAU', 'XXX'].map((currency): (typeof REFUSED)[number] => [
    `the currency ${currency}`,
    { ...planWith(share), currency },
    issue(
      '/currency',
      'pattern',
      `\`${currency}\` is not valid. Expected a currency with a minor unit in ISO 4217, to which amounts are rounded.`,
    ),
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
    issue('/hold_days', 'maximum', '`366` is more than the maximum, 365.'),
    issue('/rules/0/qualify/0/within_days', 'maximum', '`3651` is more than the maximum, 3650.'),
    issue('/rules/0/qualify/1/min', 'maximum', '`1000001` is more than the maximum, 1000000.'),
    issue('/rules/0/void_by/within_days', 'maximum', '`3651` is more than the maximum, 3650.'),
    issue('/rules/0/max_count', 'maximum', '`1000001` is more than the maximum, 1000000.'),
  ],
  [
    'an empty term',
    inRule(share, { base: [{}] }),
    issue(
      '/rules/0/base/0',
      'choice',
      'Expected exactly one of `transactions`, `activity`, `event`, `of`, `fixed`.',
      'Add one of them.',
    ),
  ],
  [
    'a misspelt term',
    inRule(share, { base: [{ transaction: ['deposit'] }] }),
    issue(
      '/rules/0/base/0/transaction',
      'unknown_field',
      '`transaction` is not a field of this object.',
      'Did you mean `transactions`?',
    ),
  ],
  [
    'a term of two kinds',
    inRule(share, { base: [{ transactions: ['deposit'], activity: 'pnl' }] }),
    issue(
      '/rules/0/base/0/activity',
      'unknown_field',
      '`activity` is not a field of this object.',
      'Use one of `transactions`, `subtypes`, `name`, `times`, `when`.',
    ),
  ],
  [
    'lots in a base',
    inRule(share, { base: [{ activity: 'lots_traded' }] }),
    issue(
      '/rules/0/base/0/activity',
      'enum',
      '`lots_traded` is not one of `pnl`, `volume_usd`, `spread_cost`, `commission`.',
    ),
  ],
  [
    'units of profit',
    inRule(unit, { unit: { activity: 'pnl' } }),
    issue('/rules/0/unit/activity', 'enum', '`pnl` is not one of `lots_traded`, `volume_usd`.'),
  ],
  [
    'no rate',
    planWith(without(once, 'amount')),
    issue('/rules/0', 'choice', `Expected exactly one of ${RATE}.`, 'Add one of them.'),
  ],
  [
    'two rates',
    inRule(once, { percent: '10' }),
    issue(
      '/rules/0',
      'choice',
      `Expected exactly one of ${RATE}.`,
      'Leave out all but one of them.',
    ),
  ],
  [
    'a rate and tiers',
    planWith({ ...stepsOf({ from: '0', percent: '1' }), percent: '5' }),
    issue(
      '/rules/0',
      'choice',
      'Expected exactly one of `percent`, `tiers`.',
      'Leave out all but one of them.',
    ),
  ],
  [
    'an amount of an override of lines',
    inRule(without(override, 'percent'), { amount: '5' }),
    needs('/rules/0/amount', 'this rule takes `percent`, not `amount`'),
    issue('/rules/0', 'choice', 'Expected exactly one of `percent`, `tiers`.', 'Add one of them.'),
  ],
  [
    'a percentage of an override of units',
    inRule(override, { of: { unit: unit.unit }, amount: '5' }),
    needs('/rules/0/percent', 'this rule takes `amount`, not `percent`'),
  ],
  [
    'a first step above 0',
    planWith(stepsOf({ from: '1', percent: '1' })),
    issue(
      '/rules/0/tiers/steps/0/from',
      'pattern',
      '`1` is not valid. Expected `0`, where the first step begins.',
      'The first step must begin at `0`. Its rate may be `0`.',
    ),
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
    issue(
      '/rules/0/tiers/steps/2/from',
      'order',
      '`50` is not greater than the step before it, 100.',
      'Send the steps in ascending order, each `from` once.',
    ),
  ],
  [
    'equal steps',
    planWith(stepsOf({ from: '0', percent: '1' }, { from: '0.00', percent: '2' })),
    issue(
      '/rules/0/tiers/steps/1/from',
      'order',
      '`0.00` is not greater than the step before it, 0.',
      'Send the steps in ascending order, each `from` once.',
    ),
  ],
  [
    'steps of amounts in a share',
    planWith(stepsOf({ from: '0', amount: '1' })),
    needs('/rules/0/tiers/steps/0/amount', 'the steps of this rule have `percent`'),
    issue('/rules/0/tiers/steps/0/percent', 'required', '`percent` is required.'),
  ],
  [
    'steps of percentages in units',
    planWith({
      ...without(unit, 'amount'),
      tiers: { mode: 'whole', steps: [{ from: '0', percent: '1' }] },
    }),
    needs('/rules/0/tiers/steps/0/percent', 'the steps of this rule have `amount`'),
    issue('/rules/0/tiers/steps/0/amount', 'required', '`amount` is required.'),
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
    needs('/rules/0/tiers/steps/1/percent', 'the steps of this rule have `amount`'),
    issue('/rules/0/tiers/steps/1/amount', 'required', '`amount` is required.'),
  ],
  [
    'a step without a rate',
    planWith({ ...without(once, 'amount'), tiers: { mode: 'whole', steps: [{ from: '0' }] } }),
    issue(
      '/rules/0/tiers/steps/0',
      'choice',
      'Expected exactly one of `amount`, `percent`.',
      'Add one of them.',
    ),
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
    needs(
      '/rules/0/tiers/by',
      'incremental tiers and tiers of overrides measure only what the rule pays for',
    ),
    needs(
      '/rules/0/tiers/over',
      'incremental tiers and tiers of overrides measure only what the rule pays for',
    ),
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
    needs(
      '/rules/0/tiers/by',
      'incremental tiers and tiers of overrides measure only what the rule pays for',
    ),
    needs(
      '/rules/0/tiers/over',
      'incremental tiers and tiers of overrides measure only what the rule pays for',
    ),
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
    needs('/rules/0/tiers/window', 'active customers are counted in one period'),
  ],
  [
    'tiers by a rule of another kind',
    planWith(unit, {
      ...stepsOf(),
      tiers: { mode: 'whole', by: { once: 'lots' }, steps: [{ from: '0', percent: '1' }] },
    }),
    issue(
      '/rules/1/tiers/by/once',
      'unknown_reference',
      '`lots` is not the id of a `once` rule of this plan.',
      'This plan has no `once` rule.',
    ),
  ],
  [
    'an advance of a rule that does not exist',
    planWith(once, { ...share, recoups: 'cpas' }),
    issue(
      '/rules/1/recoups',
      'unknown_reference',
      '`cpas` is not the id of a `once` rule of this plan.',
      'Did you mean `cpa`?',
    ),
  ],
  [
    'an advance of a share',
    inRule(share, { recoups: 'share' }),
    issue(
      '/rules/0/recoups',
      'unknown_reference',
      '`share` is not the id of a `once` rule of this plan.',
      'This plan has no `once` rule.',
    ),
  ],
  [
    'an advance per customer',
    planWith(once, { ...share, recoups: 'cpa', per: 'customer' }),
    needs('/rules/1/recoups', 'it needs `"per": "affiliate"`'),
  ],
  [
    'an advance in a unit rule',
    planWith(once, { ...unit, recoups: 'cpa' }),
    issue('/rules/1/recoups', 'unknown_field', '`recoups` is not a field of this object.', OF_UNIT),
  ],
  [
    'a fence that may be negative',
    inRule(share, { fence: { customer: '-1', affiliate: '-1' } }),
    needs('/rules/0/fence', 'it needs `"negative": "zero"` or `"carry"`'),
  ],
  [
    'a fence per customer',
    inRule(share, {
      per: 'customer',
      negative: 'zero',
      fence: { customer: '-1', affiliate: '-1' },
    }),
    needs('/rules/0/fence', 'it needs `"per": "affiliate"`'),
  ],
  [
    'a fence of positive thresholds',
    inRule(share, { negative: 'zero', fence: { customer: '7000', affiliate: '0.01' } }),
    issue('/rules/0/fence/customer', 'maximum', '`7000` is more than the maximum, 0.'),
    issue('/rules/0/fence/affiliate', 'maximum', '`0.01` is more than the maximum, 0.'),
  ],
  [
    'a fixed amount per product',
    inRule(share, { per: 'product', base: [{ fixed: '1' }] }),
    needs('/rules/0/base/0/fixed', 'it needs `"per": "affiliate"`'),
  ],
  [
    'a cap of customers per affiliate',
    inRule(share, { max_per_customer: '5' }),
    needs('/rules/0/max_per_customer', 'it needs `"per": "customer"`'),
  ],
  [
    'a cap of customers in a unit rule',
    inRule(unit, { max_per_customer: '5' }),
    issue(
      '/rules/0/max_per_customer',
      'unknown_field',
      '`max_per_customer` is not a field of this object.',
      OF_UNIT,
    ),
  ],
  [
    'limits of a fixed amount',
    inRule(once, { min_amount: '5', max_amount: '1' }),
    needs('/rules/0/min_amount', 'it applies only to a rule with `percent`'),
    needs('/rules/0/max_amount', 'it applies only to a rule with `percent`'),
    issue('/rules/0/min_amount', 'maximum', '`5` is more than the maximum, 1.'),
  ],
  [
    'a percentage of a signup',
    { ...planWith({ ...without(once, 'amount'), percent: '1', trigger: { signup: true } }) },
    needs('/rules/0/percent', 'a signup has no amount'),
  ],
  [
    'a signup that is taken back',
    inRule(once, {
      trigger: { signup: true },
      void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 1 },
    }),
    needs('/rules/0/void_by', 'a signup has no amount'),
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
    issue(
      '/rules/0/void_by/terms/1/name',
      'duplicate',
      '`out` is already the name of an earlier term of this base.',
      'Give each term another name.',
    ),
  ],
  [
    'an end without a window',
    inRule(once, { qualify: [{ sum: [{ transactions: ['deposit'] }], min: '1', at: 'end' }] }),
    issue(
      '/rules/0/qualify/0/within_days',
      'required',
      '`within_days` is required.',
      'Send the number of days after which the sum is checked.',
    ),
  ],
  [
    'a count of half a fact',
    inRule(once, { qualify: [{ count: { transactions: ['deposit'] }, min: '0.5' }] }),
    issue(
      '/rules/0/qualify/0/min',
      'pattern',
      '`0.5` is not valid. Expected a whole number from 0 to 1000000.',
    ),
  ],
  [
    'a condition on facts as one on the customer',
    inRule(once, { qualify: [{ customer: { instruments: ['*'], countries: ['DE'] } }] }),
    needs(
      '/rules/0/qualify/0/customer/instruments',
      'it is a condition on a record, and not on the customer',
    ),
  ],
  [
    'an empty range of sizes',
    inRule(once, { when: { account_size: { min: '2', max: '1' } } }),
    issue('/rules/0/when/account_size/min', 'maximum', '`2` is more than the maximum, 1.'),
  ],
  [
    'conditions of an override of lines',
    inRule(override, { when: { countries: ['DE'] }, months: 1, each: '2' }),
    needs('/rules/0/when', '`of` must be a `base` or a `unit`'),
    needs('/rules/0/months', '`of` must be a `base` or a `unit`'),
    needs('/rules/0/each', '`of` must be a `unit`'),
  ],
  [
    'a type of transactions that the vertical lacks',
    inRule(once, { trigger: { transactions: ['deposits'] } }),
    issue(
      '/rules/0/trigger/transactions/0',
      'enum',
      '`deposits` is not one of `deposit`, `withdrawal`, `bonus`, `adjustment`, `ib_rebate`, `other`.',
      'Did you mean `deposit`?',
    ),
  ],
  [
    'events of a partner',
    inRule(share, { base: [{ event: 'Deposit' }] }),
    needs('/rules/0/base/0/event', 'partners send `transactions` and `activity`, not events'),
  ],
]

describe('a plan is refused', () => {
  test.each(REFUSED)('%s', (_, plan, ...issues) => {
    expect(check(plan).issues).toEqual(issues)
  })

  test('facts that brands do not send', () => {
    expect(check(planWith(once, share), 'igaming').issues).toEqual([
      needs('/rules/0/trigger/transactions', 'brands send events, not transactions'),
      needs('/rules/1/base/0/activity', 'brands send events, not trading activity'),
    ])
  })

  test('facts that proprietary trading firms do not send', () => {
    const fee = { ...once, trigger: { transactions: ['challenge_fee'] } }
    expect(check(planWith(fee, share), 'prop-trading').issues).toEqual([
      needs('/rules/1/base/0/activity', 'the trading activity of this vertical has no such field'),
    ])
  })

  test('another currency, period, terms or the same first day as an earlier version', () => {
    const earlier = { version: 3, currency: 'USD', period: 'week', terms: 'current' } as const
    const versions = [{ ...earlier, effective_from: head.effective_from, rules: [] }]
    const differs = (name: string, own: string, other: string) =>
      issue(
        `/${name}`,
        'fixed_by_plan',
        `\`${own}\` differs from the other versions of this plan, which have \`${other}\`.`,
        `Send \`${other}\`, or put the version under the name of a new plan.`,
      )
    expect(check(planWith(share), 'forex', { versions }).issues).toEqual([
      differs('currency', 'EUR', 'USD'),
      differs('period', 'month', 'week'),
      differs('terms', 'signup', 'current'),
      issue(
        '/effective_from',
        'duplicate',
        '`2026-12-01` is already the `effective_from` of version 3.',
        'Send another day, or withdraw that version if it was never in force.',
      ),
    ])
  })
})

describe('a plan has a warning', () => {
  const brandShare = (base: object[]) => planWith({ ...share, base })
  test.each<[string, unknown, string, [string, string][]]>([
    [
      'a share above 100 %',
      inRule(share, { percent: '100.01' }),
      'forex',
      [['over_100', '/rules/0/percent']],
    ],
    [
      'a step above 100 %',
      planWith(stepsOf({ from: '0', percent: '200' })),
      'forex',
      [['over_100', '/rules/0/tiers/steps/0/percent']],
    ],
    [
      'no share above 100 % that is meant',
      inRule(share, { percent: '150', allow_over_100: true }),
      'forex',
      [],
    ],
    [
      'a once rule above 100 %',
      planWith({ ...without(once, 'amount'), percent: '150' }),
      'forex',
      [['over_100', '/rules/0/percent']],
    ],
    [
      'no once rule above 100 % that is meant',
      planWith({ ...without(once, 'amount'), percent: '150', allow_over_100: true }),
      'forex',
      [],
    ],
    [
      'shares that recoup the same payments',
      planWith(once, ...['a', 'b', 'c'].map((id) => ({ ...share, id, recoups: 'cpa' }))),
      'forex',
      [
        ['recouped_twice', '/rules/2/recoups'],
        ['recouped_twice', '/rules/3/recoups'],
      ],
    ],
    ['no share of 100 %', inRule(share, { percent: '100' }), 'forex', []],
    [
      'a currency without rates',
      { ...planWith(share), currency: 'ZMW' },
      'forex',
      [['no_rates', '/currency']],
    ],
    [
      'a withdrawn currency',
      { ...planWith(share), currency: 'HRK' },
      'forex',
      [
        ['withdrawn_currency', '/currency'],
        ['no_rates', '/currency'],
      ],
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
      'a condition on a field that the vertical lacks',
      inRule(share, { when: { not_phases: ['funded'], kyc: ['2'] } }),
      'forex',
      [['never_sent', '/rules/0/when/not_phases']],
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
    [
      'an override of a rule that no plan has',
      planWith({ ...without(override, 'percent'), of: { once: 'cpa' }, amount: '5' }),
      'forex',
      [['unknown_rule', '/rules/0/of/once']],
    ],
  ])('%s', (_, plan, vertical, warnings) => {
    expect(check(plan, vertical)).toEqual({ issues: [], warnings })
  })

  test('no override of a rule of another plan', () => {
    const plan = planWith({ ...without(override, 'percent'), of: { once: 'cpa' }, amount: '5' })
    expect(check(plan, 'forex', { onceIds: new Set(['cpa']) }).warnings).toEqual([])
  })

  test('no currency while it is unknown which have rates', () => {
    const plan = { ...planWith(share), currency: 'ZMW' }
    expect(check(plan, 'forex', { ratedCurrencies: null }).warnings).toEqual([])
  })
})
