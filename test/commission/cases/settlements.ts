import { openAccount } from '../../../src/commission/engine/account.ts'
import { parsePeriod } from '../../../src/commission/engine/calendar.ts'
import { type Decimal, decimal, plainText } from '../../../src/commission/engine/decimal.ts'
import type { OnceState } from '../../../src/commission/engine/once.ts'
import type { PlanTerms, Rule } from '../../../src/commission/engine/plan.ts'
import { NOTHING, type Ratio, ratio } from '../../../src/commission/engine/ratio.ts'
import type { CompiledOnce } from '../../../src/commission/engine/rules.ts'
import { settleOnce } from '../../../src/commission/engine/settle.ts'
import type { PlanInput } from '../../../src/commission/engine/settle-plan.ts'
import { NO_STATE, openState } from '../../../src/commission/engine/state.ts'
import { holdFacts, type PeriodTallies } from '../../../src/commission/engine/tally.ts'
import { applyRate, type Measure } from '../../../src/commission/engine/tiers.ts'
import { evaluate } from '../engine.ts'
import type { OutcomeStatement, World } from '../world.ts'
import {
  at,
  compile,
  cpa,
  customer,
  deposit,
  fact,
  holds,
  input,
  lines,
  plan,
  statements,
  states,
  terms,
  world,
  worldOf,
} from './build.ts'
import { type Case, example } from './case.ts'

const DEPOSITS = [{ transactions: ['deposit'] }] as const
const share = (more: Partial<Extract<Rule, { kind: 'share' }>> = {}): Rule => ({
  id: 's',
  kind: 'share',
  percent: '10',
  base: DEPOSITS,
  ...more,
})
const unit = (more: Partial<Extract<Rule, { kind: 'unit' }>> = {}): Rule => ({
  id: 'u',
  kind: 'unit',
  unit: { count: { transactions: ['deposit'] } },
  amount: '2',
  ...more,
})
const override = (more: Partial<Extract<Rule, { kind: 'override' }>>): Rule => ({
  id: 'up',
  kind: 'override',
  level: 1,
  of: { base: DEPOSITS },
  percent: '10',
  ...more,
})

const TIERS = {
  steps: [
    { from: '0', amount: '1' },
    { from: '2', amount: '3' },
  ],
} as const

/** A world in which `A` stands below `U`, who has the plan `U`. */
const belowU = (
  own: readonly PlanTerms[],
  upline: readonly PlanTerms[],
  more: Partial<World> = {},
): World =>
  world({
    affiliates: [
      { affiliate_id: 'U', parents: [] },
      { affiliate_id: 'A', parents: [{ from: null, parent: 'U' }] },
    ],
    plans: [plan('P', ...own), plan('U', ...upline)],
    assignments: [
      { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
      { affiliate_id: 'U', plan: 'U', from: '2026-01-01', customers: 'all' },
    ],
    transactions: [deposit('c1', '2026-01-02', 100)],
    ...more,
  })

/** Returns what the first period of a world leaves to the next, by affiliate. */
const stateAfter = (of: World, period: string) =>
  openAccount(input(of))
    .settle(parsePeriod(period)!)
    .map(({ affiliate, state }) => [affiliate, state])

const USD_RATE = [{ day: '2026-12-31', currency: 'USD', rate: '2' }]

/** Makes the line of a `once` rule from a state that qualified. */
const onceLine = (rule: Rule, state: Partial<OnceState>) => {
  const compiled = compile<CompiledOnce>(rule)
  const version = { version: 1, effectiveFrom: 0, digits: 2 }
  const one = {
    state: { customerId: 'c1', version, rule: compiled, ...state },
    rule: compiled,
    before: 0,
    beyondCount: false,
    maxCount: null,
    position: 1,
  }
  const given = {
    qualified: new Map([['cpa', [one]]]),
    plan: { versions: [] },
    state: openState(NO_STATE),
    traced: null,
  }
  return settleOnce(given as unknown as PlanInput, 'cpa').map(({ base, fx, amount }) => [
    base,
    fx,
    amount,
  ])
}

const PERCENT = cpa({ amount: undefined as never, percent: '10' })

const measureOf = (own: Ratio): Measure => ({
  ...{ own, total: own, earlier: NOTHING, network: NOTHING },
})

const rates: readonly Case[] = [
  example(
    'tiers without steps, and steps without the rate of the rule, pay 0',
    () =>
      [[], [{ from: '0', percent: '5' }]].map((steps) =>
        applyRate(
          compile(unit({ tiers: { mode: 'whole', steps } })),
          ratio(decimal('3')),
          measureOf(ratio(decimal('3'))),
          ratio(decimal('0')),
          null,
        ),
      ),
    Array.from({ length: 2 }, () => ({
      measure: '3',
      step: '0',
      rate: '0',
      paid: ratio({ units: 0n, scale: 0 }),
    })),
  ),
  example(
    'a measure below 0 belongs to the first step, also where it rises above 0',
    () =>
      (
        [
          ['-5', '3'],
          ['-1', '6'],
          ['2', '1'],
          ['2', '-3'],
        ] as const
      ).map(([before, quantity]) => {
        const { step, paid } = applyRate(
          compile(unit({ tiers: { mode: 'slice', ...TIERS } })),
          ratio(decimal(quantity)),
          measureOf(ratio(decimal('9'))),
          ratio(decimal(before)),
          null,
        )
        return [step, Number(paid.num.units) / 10 ** paid.num.scale]
      }),
    [
      [[{ from: '0', part: '3', rate: '1' }], 3],
      [
        [
          { from: '0', part: '3', rate: '1' },
          { from: '2', part: '3', rate: '3' },
        ],
        12,
      ],
      [[{ from: '2', part: '1', rate: '3' }], 3],
      [[{ from: '0', part: '-3', rate: '1' }], -3],
    ],
  ),
  example(
    'a percentage of a trigger: one of a signup, one without a trigger, one in a currency',
    () => [
      onceLine(cpa({ trigger: { signup: true }, amount: undefined as never, percent: '10' }), {
        trigger: fact(),
        amount: decimal('0'),
      }),
      onceLine(PERCENT, { trigger: null, amount: null }),
      onceLine(PERCENT, { trigger: fact(), amount: null }),
      onceLine(PERCENT, { trigger: fact({ currency: null }), amount: decimal('50') }),
      onceLine(PERCENT, { trigger: fact(), amount: decimal('50') }),
      onceLine(cpa(), { trigger: fact(), amount: null }),
    ],
    [
      [[decimal('0'), [], { units: 0n, scale: 2 }]],
      [[{ units: 0n, scale: 0 }, [], { units: 0n, scale: 2 }]],
      [[{ units: 0n, scale: 0 }, [], { units: 0n, scale: 2 }]],
      [[decimal('50'), [], decimal('5.00')]],
      [
        [
          decimal('50'),
          [{ currency: 'EUR', amount: { units: 0n, scale: 12 }, converted: decimal('50') }],
          decimal('5.00'),
        ],
      ],
      [[null, [], decimal('10.00')]],
    ],
  ),
  example(
    'some steps of percents make a rule of percents',
    () =>
      lines(
        worldOf(
          [
            cpa({
              amount: undefined as never,
              tiers: {
                mode: 'slice',
                steps: [
                  { from: '0', percent: '50' },
                  { from: '1', amount: '7' },
                ],
              },
            }),
          ],
          {
            customers: ['c1', 'c2'].map((id) => customer(id)),
            transactions: [deposit('c1', '2026-01-02', 10), deposit('c2', '2026-01-03', 10)],
          },
        ),
        '2026-01',
      ),
    ['A cpa customer:c1 5.00', 'A cpa customer:c2 0.00'],
  ),
  example(
    'the latest version of a month says how many lines `max_count` allows',
    () =>
      [
        ['1', '2'],
        ['2', '1'],
      ].map((counts) =>
        lines(
          world({
            plans: [
              plan(
                'P',
                terms([cpa({ max_count: Number(counts[0]) })]),
                terms([cpa({ max_count: Number(counts[1]) })], { effective_from: '2026-01-10' }),
              ),
            ],
            customers: [
              customer('c1'),
              customer('c2', { signup: at('2026-01-11') }),
              customer('c3'),
            ],
            transactions: ['c1', 'c2', 'c3'].map((id, index) =>
              deposit(id, `2026-01-1${index + 2}`, 10),
            ),
          }),
          '2026-01',
        ),
      ),
    [
      ['A cpa customer:c1 10.00', 'A cpa customer:c3 0.00', 'A cpa customer:c2 10.00'],
      ['A cpa customer:c1 10.00', 'A cpa customer:c3 0.00', 'A cpa customer:c2 0.00'],
    ],
  ),
]

const shares: readonly Case[] = [
  example(
    'the `negative` of a share decides on its line, and that of the plan on the balance (docs/plans.md)',
    () =>
      (['offset', 'zero', 'carry'] as const).flatMap((ofShare) =>
        (['carry', 'zero'] as const).map((ofPlan) => {
          const revenue = [
            { transactions: ['deposit'] },
            { transactions: ['withdrawal'], times: '-1' },
          ] as const
          const rules = [
            cpa({ amount: '100', trigger: { transactions: ['deposit'], min: '1' } }),
            share({ percent: '50', base: revenue, negative: ofShare }),
          ]
          const of = world({
            plans: [plan('P', terms(rules, { negative: ofPlan }))],
            transactions: [
              deposit('c1', '2026-01-02', 500),
              deposit('c1', '2026-01-03', 1000, { transaction_type: 'withdrawal' }),
              deposit('c1', '2026-02-02', 700),
            ],
          })
          const months = evaluate(of, ['2026-01', '2026-02']).map(({ statements: [one] }) => {
            const { opening, lines: all, dropped, payable } = one as OutcomeStatement
            return [opening, all.at(-1)!.amount, dropped, payable].join(' ')
          })
          return [ofShare, ofPlan, ...months]
        }),
      ),
    [
      ['offset', 'carry', '0.00 -250.00 0.00 0.00', '-150.00 350.00 0.00 200.00'],
      ['offset', 'zero', '0.00 -250.00 -150.00 0.00', '0.00 350.00 0.00 350.00'],
      ['zero', 'carry', '0.00 0.00 0.00 100.00', '0.00 350.00 0.00 350.00'],
      ['zero', 'zero', '0.00 0.00 0.00 100.00', '0.00 350.00 0.00 350.00'],
      ['carry', 'carry', '0.00 0.00 0.00 100.00', '0.00 100.00 0.00 100.00'],
      ['carry', 'zero', '0.00 0.00 0.00 100.00', '0.00 100.00 0.00 100.00'],
    ],
  ),
  example('caps are rounded down to the minor unit', () => {
    const caps = { max: '10.559', max_per_customer: '1.239' }
    const text = (value: unknown) => value && plainText(value as Decimal)
    return [cpa(caps), share({ ...caps, per: 'customer' }), unit({ max: '10.559' })].map((rule) => {
      const compiled = compile<CompiledOnce>(rule)
      const limited = 'maxPerCustomer' in compiled && text(compiled.maxPerCustomer)
      return [text(compiled.max), limited]
    })
  }, [
    ['10.55', '1.23'],
    ['10.55', '1.23'],
    ['10.55', false],
  ]),
  example('what customers owe waits while a later version shares by product', () => {
    const of = world({
      vertical: 'igaming',
      plans: [
        plan(
          'P',
          terms([share({ base: [{ event: 'bet' }], per: 'customer', negative: 'carry' })], {
            terms: 'current',
          }),
          terms([share({ base: [{ event: 'bet' }], per: 'product', negative: 'carry' })], {
            terms: 'current',
            effective_from: '2026-02-01',
          }),
          terms([share({ base: [{ event: 'bet' }], per: 'customer', negative: 'carry' })], {
            terms: 'current',
            effective_from: '2026-03-01',
          }),
        ),
      ],
      events: [
        {
          id: 'e1',
          customer_id: 'c1',
          eventname: 'bet',
          day: '2026-01-02',
          Value: -100,
          Currency: 'EUR',
        },
        {
          id: 'e2',
          customer_id: 'c1',
          eventname: 'bet',
          day: '2026-02-02',
          Value: 50,
          Currency: 'EUR',
          product: 'poker',
        },
        {
          id: 'e3',
          customer_id: 'c1',
          eventname: 'bet',
          day: '2026-03-02',
          Value: 300,
          Currency: 'EUR',
        },
      ],
    })
    return ['2026-01', '2026-02', '2026-03'].map((period) => lines(of, period))
  }, [['A s customer:c1 0.00'], ['A s product:poker 5.00'], ['A s customer:c1 20.00']]),
  example('what was carried waits while a later version offsets, and while one owes nothing', () => {
    const of = world({
      plans: [
        plan(
          'P',
          terms([share({ negative: 'carry' })], { terms: 'current' }),
          terms([share({ negative: 'offset' })], {
            terms: 'current',
            effective_from: '2026-02-01',
          }),
          terms([share({ negative: 'carry' })], { terms: 'current', effective_from: '2026-03-01' }),
        ),
      ],
      transactions: [deposit('c1', '2026-01-02', -100), deposit('c1', '2026-03-02', 300)],
    })
    return ['2026-01', '2026-02', '2026-03'].map((period) => lines(of, period))
  }, [['A s affiliate 0.00'], [], ['A s affiliate 20.00']]),
  example('a deficit waits while a later version recoups nothing', () => {
    const advance = (more: object) => terms([cpa(), share({ ...more })], { terms: 'current' })
    const of = world({
      plans: [
        plan('P', advance({ recoups: 'cpa' }), {
          ...advance({}),
          effective_from: '2026-02-01',
        }),
      ],
      transactions: [deposit('c1', '2026-01-02', 40)],
    })
    return ['2026-01', '2026-02'].map((period) => lines(of, period))
  }, [['A cpa customer:c1 10.00', 'A s affiliate 0.00'], []]),
  example(
    '`max_per_customer` does not bind a share of all customers',
    () =>
      lines(
        worldOf([share({ max_per_customer: '1' })], {
          transactions: [deposit('c1', '2026-01-02', 100)],
        }),
        '2026-01',
      ),
    ['A s affiliate 10.00'],
  ),
  example(
    'customers stand in the order of code points, and `max` cuts the last',
    () =>
      lines(
        worldOf([share({ per: 'customer', max: '25' })], {
          customers: ['b', 'a', 'B'].map((id) => customer(id)),
          transactions: ['b', 'a', 'B'].map((id) => deposit(id, '2026-01-02', 100)),
        }),
        '2026-01',
      ),
    ['A s customer:B 10.00', 'A s customer:a 10.00', 'A s customer:b 5.00'],
  ),
  example(
    '`max` cuts by scope, then version',
    () =>
      lines(
        world({
          plans: [
            plan(
              'P',
              terms([share({ per: 'customer', max: '15' })]),
              terms([share({ per: 'customer', max: '15' })], { effective_from: '2026-01-10' }),
            ),
          ],
          customers: [customer('b'), customer('a', { signup: at('2026-01-11') })],
          transactions: ['b', 'a'].map((id) => deposit(id, '2026-01-12', 100)),
        }),
        '2026-01',
      ),
    ['A s customer:b 5.00', 'A s customer:a 10.00'],
  ),
  example(
    'a product without counted facts has no line',
    () =>
      lines(
        worldOf([share({ base: [{ event: 'bet' }], per: 'product' })], {
          vertical: 'igaming',
          rates: USD_RATE,
          events: [
            {
              id: 'e1',
              customer_id: 'c1',
              eventname: 'bet',
              day: '2026-01-02',
              Value: 1,
              Currency: 'EUR',
              product: 'a',
            },
            {
              id: 'e2',
              customer_id: 'c1',
              eventname: 'bet',
              day: '2026-01-02',
              Value: 1,
              Currency: 'JPY',
              product: 'b',
            },
            {
              id: 'e3',
              customer_id: 'c1',
              eventname: 'bet',
              day: '2026-01-02',
              Value: 10,
              Currency: 'EUR',
            },
          ],
        }),
        '2026-01',
      ),
    ['A s product: 1.00', 'A s product:a 0.10'],
  ),
  example('a fact under two terms is one fact of the line, and one customer', () => {
    const of = worldOf(
      [
        share({
          base: [...DEPOSITS, ...DEPOSITS],
          percent: undefined as never,
          tiers: {
            mode: 'whole',
            by: { customers: 'active' },
            steps: [
              { from: '0', percent: '1' },
              { from: '2', percent: '9' },
            ],
          },
        }),
      ],
      { transactions: [deposit('c1', '2026-01-02', 100)] },
    )
    const [line] = openAccount(input(of)).settle(parsePeriod('2026-01')!)[0]!.lines
    const tally = [
      ...openAccount(input(of)).tallies(parsePeriod('2026-01')!).get('A')!.ownRules.values(),
    ][0]!
    return [line!.amount, line!.measure, tally.tally.total.facts, [...tally.tally.customers.keys()]]
  }, [decimal('2.00'), '1', 1, ['c1']]),
]

const windows: readonly Case[] = [
  example('tiers keep a measure only if they have a window; of overrides under their own version', () => {
    const whole = { mode: 'whole', steps: [{ from: '0', percent: '1' }] } as const
    const tiers = (window: 'period' | 'quarter' | 'lifetime') => ({
      percent: undefined as never,
      tiers: { ...whole, window },
    })
    return stateAfter(
      belowU(
        [
          terms([
            share(tiers('period')),
            share({ ...tiers('lifetime'), id: 'l' }),
            share({ id: 'plain' }),
          ]),
        ],
        [
          terms([
            override({ ...tiers('period'), id: 'p' }),
            override({ ...tiers('quarter'), id: 'q' }),
            override({ id: 'none' }),
            share({ ...tiers('lifetime'), id: 'own' }),
          ]),
        ],
        {
          customers: [
            customer('c1'),
            customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
          ],
          transactions: [deposit('c1', '2026-05-02', 100), deposit('u1', '2026-05-02', 7)],
        },
      ),
      '2026-05',
    ).map(([affiliate, state]) => [affiliate, (state as { measures: object }).measures])
  }, [
    ['A', { '["l",1]': { quarter: 8105, inQuarter: '100', lifetime: '100' } }],
    [
      'U',
      {
        '["own",1]': { quarter: 8105, inQuarter: '7', lifetime: '7' },
        '["q",1]': { quarter: 8105, inQuarter: '100', lifetime: '100' },
      },
    ],
  ]),
  example('an account starts from the state of its last period', () => {
    const of = worldOf([share({ negative: 'carry' })], {
      transactions: [deposit('c1', '2026-02-02', 100)],
      assignments: [],
    })
    const found = openAccount(
      input(of, {
        firstDay: { month: parsePeriod('2026-02')!.first, week: parsePeriod('2026-W06')!.first },
        stateOf: (_, name) =>
          name === 'P'
            ? { ...NO_STATE, closing: '3', carries: { '["s",1,"affiliate"]': '-4' } }
            : NO_STATE,
      }),
    )
    return ['2026-02', '2026-03'].map((period) =>
      found
        .settle(parsePeriod(period)!)
        .map(({ statement }) => [
          statement?.opening,
          statement?.lines.map(({ carried_in, amount }) => [carried_in, amount]),
          statement?.payable,
        ]),
    )
  }, [[['3.00', [['-4.00', '0.00']], '3.00']], [['0.00', [['-4.00', '0.00']], '0.00']]]),
]

const networks: readonly Case[] = [
  example(
    'tiers by lines of a `once` rule add those of the network',
    () =>
      statements(
        belowU(
          [terms([cpa()])],
          [
            terms([
              cpa(),
              unit({
                amount: undefined as never,
                tiers: {
                  mode: 'whole',
                  over: 'network',
                  by: { once: 'cpa' },
                  steps: [{ from: '0', amount: '1' }],
                },
              }),
            ]),
          ],
          {
            customers: [
              customer('c1'),
              customer('c2'),
              customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
            ],
            transactions: ['c1', 'c2', 'u1'].map((id) => deposit(id, '2026-01-02', 1)),
          },
        ),
        '2026-01',
      ).flatMap(({ lines: all }) => all.map(({ rule, measure }) => [rule, measure])),
    [
      ['cpa', null],
      ['cpa', null],
      ['cpa', null],
      ['u', '3'],
    ],
  ),
  example('of weekly lines of the network those count whose day lies in the month', () => {
    const days = ['2026-07-31', '2026-08-01', '2026-08-31', '2026-09-01']
    return statements(
      belowU(
        [terms([cpa()], { period: 'week' })],
        [
          terms([
            unit({
              amount: undefined as never,
              tiers: {
                mode: 'whole',
                over: 'network',
                by: { once: 'cpa' },
                steps: [{ from: '0', amount: '1' }],
              },
            }),
          ]),
        ],
        {
          customers: [
            ...days.map((day) => customer(day)),
            customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
          ],
          transactions: [
            ...days.map((day) => deposit(day, day, 1)),
            deposit('u1', '2026-08-02', 1),
          ],
        },
      ),
      '2026-08',
    ).flatMap(({ lines: all }) => all.map(({ rule, measure }) => [rule, measure]))
  }, [['u', '2']]),
  example('the active customers of a `once` rule are its CPAs', () => {
    const by = (tiers: object) =>
      cpa({
        amount: undefined as never,
        tiers: {
          mode: 'whole',
          steps: [
            { from: '0', amount: '1' },
            { from: '2', amount: '9' },
          ],
          ...tiers,
        },
      })
    const rules = [by({}), by({ by: { customers: 'active' } })]
    return rules.map((rule) =>
      lines(
        worldOf([rule], {
          customers: ['c1', 'c2', 'idle'].map((id) => customer(id)),
          transactions: ['c1', 'c2'].map((id) => deposit(id, '2026-01-02', 1)),
        }),
        '2026-01',
      ),
    )
  }, [
    ['A cpa customer:c1 9.00', 'A cpa customer:c2 9.00'],
    ['A cpa customer:c1 9.00', 'A cpa customer:c2 9.00'],
  ]),
  example(
    'tiers by active customers count those of the network',
    () =>
      statements(
        belowU(
          [terms([share()])],
          [
            terms([
              share({
                percent: undefined as never,
                tiers: {
                  mode: 'whole',
                  over: 'network',
                  by: { customers: 'active' },
                  steps: [{ from: '0', percent: '1' }],
                },
              }),
            ]),
          ],
          {
            customers: [
              ...['c1', 'c2', 'idle'].map((id) => customer(id)),
              customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
            ],
            transactions: ['c1', 'c2', 'u1'].map((id) => deposit(id, '2026-01-02', 1)),
          },
        ),
        '2026-01',
      ).flatMap(({ affiliate_id, lines: all }) =>
        all.map(({ measure }) => [affiliate_id, measure]),
      ),
    [
      ['A', null],
      ['U', '3'],
    ],
  ),
  example(
    'an override of lines has no measure of facts, although its tiers ask for the network',
    () =>
      lines(
        belowU(
          [terms([share()])],
          [
            terms([
              override({
                of: { lines: ['share'] },
                percent: undefined as never,
                tiers: { mode: 'whole', over: 'network', steps: [{ from: '0', percent: '50' }] },
              }),
            ]),
          ],
        ),
        '2026-01',
      ),
    ['A s affiliate 10.00', 'U up affiliate:A 5.00'],
  ),
  example('what affiliates below bring that are not settled is nothing', () => {
    const of = belowU([terms([share()])], [terms([override({ of: { lines: ['share'] } })])])
    return openAccount(input(of, { affiliates: ['U'] }))
      .settle(parsePeriod('2026-01')!)
      .map(({ affiliate, lines: all }) => [affiliate, all.length])
  }, [['U', 0]]),
  example(
    'an upline without the plan of its assignment has no rules, and counts no network',
    () =>
      states(
        belowU([terms([share({ base: [{ transactions: ['x'] }] })])], [terms([override({})])], {
          assignments: [
            { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
            { affiliate_id: 'U', plan: 'gone', from: '2026-01-01', customers: 'all' },
          ],
        }),
        '2026-01',
      ),
    ['2026-01-02 c1 100: no_rule null'],
  ),
  example(
    'weekly uplines measure no network by the month of the affiliate below',
    () =>
      statements(
        belowU(
          [terms([share()])],
          [
            terms(
              [
                share({
                  percent: undefined as never,
                  tiers: { mode: 'whole', over: 'network', steps: [{ from: '0', percent: '1' }] },
                }),
              ],
              { period: 'week' },
            ),
          ],
          {
            customers: [
              customer('c1'),
              customer('u1', { affiliates: [{ from: null, affiliate_id: 'U' }] }),
            ],
            transactions: [deposit('c1', '2026-01-02', 100), deposit('u1', '2026-01-02', 7)],
          },
        ),
        '2026-W01',
      ).flatMap(({ lines: all }) => all.map(({ rule, measure }) => [rule, measure])),
    [['s', '107']],
  ),
  example('lines of uplines stand by scope, rule and version', () => {
    const funded = (id: string, percent: string) =>
      override({ id, percent, of: { base: DEPOSITS }, funded_by: 'downline' })
    const of = world({
      affiliates: [
        { affiliate_id: 'U', parents: [] },
        { affiliate_id: 'B', parents: [{ from: null, parent: 'U' }] },
        { affiliate_id: 'A', parents: [{ from: null, parent: 'B' }] },
      ],
      plans: [
        plan('P', terms([share()])),
        plan(
          'U',
          terms([funded('z', '1'), funded('b', '2')], {
            period: 'week',
            terms: 'current',
            effective_from: '2025-12-29',
          }),
          terms([funded('z', '3'), funded('b', '4')], {
            period: 'week',
            terms: 'current',
            effective_from: '2026-01-12',
          }),
        ),
        plan('V', terms([{ ...funded('z', '5'), level: 2 } as Rule])),
      ],
      assignments: [
        { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
        { affiliate_id: 'B', plan: 'U', from: '2025-12-01', customers: 'all' },
        { affiliate_id: 'U', plan: 'V', from: '2025-12-01', customers: 'all' },
      ],
      transactions: [deposit('c1', '2026-01-13', 100), deposit('c1', '2026-01-06', 100)],
    })
    return statements(of, '2026-01')
      .filter(({ affiliate_id }) => affiliate_id === 'A')
      .flatMap(({ lines: all }) =>
        all.map(({ rule, version, scope, amount }) => `${rule} v${version} ${scope} ${amount}`),
      )
  }, [
    's v1 affiliate 20.00',
    'b v1 affiliate:B -2.00',
    'b v2 affiliate:B -4.00',
    'z v1 affiliate:B -1.00',
    'z v2 affiliate:B -3.00',
    'z v1 affiliate:U -10.00',
  ]),
  example(
    'a fact is not counted by a line whose downline has no rate to pay it',
    () =>
      ['EUR', 'JPY'].map((currency) =>
        states(
          belowU(
            [terms([share({ base: [{ transactions: ['x'] }] })], { currency })],
            [terms([override({ funded_by: 'downline' })])],
            { rates: USD_RATE },
          ),
          '2026-01',
        ),
      ),
    [['2026-01-02 c1 100: counted null'], ['2026-01-02 c1 100: no_rule null']],
  ),
]

const waiting: readonly Case[] = [
  example('what is paid and what is measured of one fact waits once', () => {
    const rule = compile(share())
    const version = { version: 1 } as never
    const one = fact({
      amounts: new Map([
        ['pnl', 5n],
        ['commission', 7n],
      ]),
      count: 2,
    })
    const tallies: PeriodTallies = new Map()
    const hold = holdFacts(tallies)
    const add = (field: string, purpose: 'paid' | 'measure', currency: string | null = 'USD') =>
      hold({
        affiliate: 'A',
        version,
        rule,
        fact: one,
        field,
        currency,
        reason: 'fx_missing',
        purpose,
      })
    add('pnl', 'paid')
    add('pnl', 'paid')
    add('pnl', 'measure')
    add('commission', 'measure')
    add('commission', 'paid', null)
    const { holds: paid, measureHolds } = tallies.get('A')!
    return [paid, measureHolds].map((map) =>
      [...map.values()].flatMap(({ byReason }) =>
        [...byReason].map(([key, { count, sum }]) => [key, count, sum.units]),
      ),
    )
  }, [
    [
      ['fx_missing|USD', 2, 5n],
      ['fx_missing|', 2, 7n],
    ],
    [['fx_missing|USD', 0, 7n]],
  ]),
  example(
    'holds stand by rule, version, reason and currency',
    () =>
      holds(
        worldOf(
          [
            share({ id: 'z', base: [{ event: 'bet' }] }),
            share({ id: 'a', base: [{ event: 'bet' }] }),
          ],
          {
            vertical: 'igaming',
            rates: [{ day: '2026-01-10', currency: 'GBP', rate: '1' }],
            events: (
              [
                ['2026-01-11', 'USD'],
                ['2026-01-02', 'USD'],
                ['2026-01-02', 'JPY'],
                ['2026-01-02', undefined],
                ['2026-01-02', undefined],
              ] as const
            ).map(([day, currency], index) => ({
              id: `e${index}`,
              customer_id: 'c1',
              eventname: 'bet',
              day,
              Value: 1,
              ...(currency && { Currency: currency }),
            })),
          },
        ),
        '2026-01',
      ),
    ['z', 'a'].flatMap((rule) => [
      `A ${rule} v1 no_currency null 2 2`,
      `A ${rule} v1 fx_pending USD 1 1`,
      `A ${rule} v1 fx_missing JPY 1 1`,
      `A ${rule} v1 fx_missing USD 1 1`,
    ]),
  ),
  example(
    'holds of the rules of an upline stand after those of the own plan',
    () =>
      holds(
        belowU(
          [terms([share({ id: 'z' })])],
          [terms([override({ funded_by: 'downline' })], { currency: 'USD' })],
          {
            rates: [{ day: '2026-12-31', currency: 'GBP', rate: '1' }],
            transactions: [
              deposit('c1', '2026-01-02', 100, { currency: 'JPY' }),
              deposit('c1', '2026-01-03', 100, { currency: 'USD' }),
            ],
          },
        ),
        '2026-01',
      ),
    [
      'A z v1 fx_missing JPY 1 100',
      'A z v1 fx_missing USD 1 100',
      'A up v1 fx_missing USD 1 -10',
      'U up v1 fx_missing JPY 1 100',
      'U up v1 fx_missing USD 1 10',
    ],
  ),
  example(
    'what an override waits for in the lines of several affiliates is one hold',
    () =>
      holds(
        belowU(
          [terms([share()])],
          [terms([override({ of: { lines: ['share'] } })], { currency: 'USD' })],
          {
            affiliates: [
              { affiliate_id: 'U', parents: [] },
              ...['A', 'B'].map((affiliate_id) => ({
                affiliate_id,
                parents: [{ from: null, parent: 'U' }],
              })),
            ],
            assignments: ['A', 'B', 'U'].map((affiliate_id) => {
              const plan = affiliate_id === 'U' ? 'U' : 'P'
              return { affiliate_id, plan, from: '2026-01-01', customers: 'all' }
            }),
            customers: [
              customer('c1'),
              customer('c2', { affiliates: [{ from: null, affiliate_id: 'B' }] }),
            ],
            transactions: [deposit('c1', '2026-01-02', 100), deposit('c2', '2026-01-03', 50)],
            rates: [{ day: '2026-12-31', currency: 'GBP', rate: '1' }],
          },
        ),
        '2026-01',
      ),
    ['U up v1 fx_missing EUR 2 15'],
  ),
]

/** Examples of rates, shares, windows, networks and holds. */
export const SETTLEMENTS: readonly Case[] = [
  ...rates,
  ...shares,
  ...windows,
  ...networks,
  ...waiting,
]
