import { openAccount } from '../../../src/commission/engine/account.ts'
import { plainText } from '../../../src/commission/engine/decimal.ts'
import { asOf, evaluateCustomer, factEvaluator } from '../../../src/commission/engine/evaluate.ts'
import {
  compareQualified,
  type OnceState,
  triggerAmount,
} from '../../../src/commission/engine/once.ts'
import { onceThrough } from '../../../src/commission/engine/once-through.ts'
import type { OnceRule, Rule } from '../../../src/commission/engine/plan.ts'
import type { CompiledOnce } from '../../../src/commission/engine/rules.ts'
import type { World } from '../world.ts'
import {
  at,
  compile,
  cpa,
  customer,
  dayOf,
  deposit,
  fact,
  holds,
  input,
  plan,
  terms,
  world,
  worldOf,
} from './build.ts'
import { type Case, example } from './case.ts'

const share = (id: string, more: Partial<Extract<Rule, { kind: 'share' }>> = {}): Rule => ({
  id,
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
  ...more,
})

/** Returns the `once` states of the first customer. */
const statesOf = (of: World): readonly OnceState[] => {
  const found = input(of)
  return evaluateCustomer(found, found.customers[0]!).once
}

const shown = ({
  status,
  trigger,
  affiliate,
  amount,
  blockers,
  progress,
  at: on,
  day,
  used,
}: OnceState) => ({
  status,
  trigger: trigger?.id ?? null,
  affiliate,
  amount: amount && plainText(amount),
  blockers: blockers.map(({ fact: one, field, currency, reason }) => [
    one.id,
    field,
    currency,
    reason,
  ]),
  progress: progress.map((one) =>
    one.status === 'open'
      ? {
          ...one,
          reached: one.reached && plainText(one.reached),
          min: one.min && plainText(one.min),
        }
      : one.status === 'met'
        ? { ...one, used: one.used.map(({ id }) => id) }
        : { ...one, blockers: one.blockers.length },
  ),
  at: on,
  day,
  used: [...used].map(({ id }) => id),
})

const NO_STATE = {
  status: 'no_trigger',
  trigger: null,
  affiliate: null,
  amount: null,
  blockers: [],
  progress: [],
  at: 0,
  day: 0,
  used: [],
}

/** Returns the states of one rule for one customer with these deposits. */
const evaluated = (rule: OnceRule, more: Partial<World>) =>
  statesOf(worldOf([rule], more)).map(shown)

/** Evaluates all facts, signups left out: the verdict and what each rule makes of it. */
const verdicts = (of: World) => {
  const found = input(of)
  const evaluator = factEvaluator(found)
  return openAccount(found)
    .evaluated(Infinity)
    .flatMap((one) =>
      one.customer.facts.flatMap((each) => {
        if (each.resource === 'customers') return []
        const { verdict, by, rules } = evaluator(one, each)
        const text = ({ version, rule, verdict: of_, condition }: (typeof rules)[number]) =>
          `${version.plan} v${version.version} ${rule.id} ${of_} ${condition}`
        return [[each.id, verdict, by && text(by), ...rules.map(text)]]
      }),
    )
}

const shared: readonly Case[] = [
  example(
    'a fact that several rules pay for is counted by each',
    () =>
      verdicts(
        worldOf(
          [
            cpa({ id: 'first' }),
            cpa({ id: 'second' }),
            cpa({
              id: 'third',
              trigger: { signup: true },
              qualify: [{ sum: [{ transactions: ['deposit'] }], min: '5' }],
            }),
          ],
          { transactions: [deposit('c1', '2026-01-02', 5)] },
        ),
      ).map(([, , , ...rules]) => rules),
    [['P v1 first counted null', 'P v1 second counted null', 'P v1 third counted null']],
  ),
]

const usd = (customer_id: string, day: string, amount: number) =>
  deposit(customer_id, day, amount, { currency: 'USD' })
const RATE = [{ day: '2026-12-31', currency: 'JPY', rate: '160' }]

const candidates: readonly Case[] = [
  example(
    'a signup has the amount 0',
    () => {
      const rule = compile<CompiledOnce>(cpa({ trigger: { signup: true } }))
      return triggerAmount(input(world({})), rule, fact(), 'EUR')
    },
    { units: 0n, scale: 0 },
  ),
  example(
    'without a fact of its kind a rule has no candidate',
    () =>
      evaluated(cpa(), {
        transactions: [deposit('c1', '2026-01-02', 5, { transaction_type: 'x' })],
      }),
    [NO_STATE],
  ),
  example(
    'a candidate without a rate waits for its amount',
    () =>
      evaluated(cpa({ trigger: { transactions: ['deposit'], min: '5' } }), {
        rates: RATE,
        transactions: [usd('c1', '2026-01-02', 5)],
      }),
    [
      {
        ...NO_STATE,
        status: 'blocked',
        trigger: '2026-01-02 c1 5',
        affiliate: 'A',
        blockers: [['2026-01-02 c1 5', 'amount_currency', 'USD', 'fx_missing']],
      },
    ],
  ),
  example(
    'a reversed candidate ends the rule, with or without a rate; `requalify` passes over it',
    () =>
      [false, true].flatMap((requalify) =>
        ['EUR', 'USD'].flatMap((currency) =>
          evaluated(cpa({ requalify, percent: '10' }), {
            rates: RATE,
            transactions: [
              deposit('c1', '2026-01-02', 5, { status: 'reversed', currency }),
              deposit('c1', '2026-01-03', 6),
            ],
          }).map(({ status, trigger, amount }) => [status, trigger, amount]),
        ),
      ),
    [
      ['reversed', '2026-01-02 c1 5', '5'],
      ['reversed', '2026-01-02 c1 5', null],
      ['qualified', '2026-01-03 c1 6', '6'],
      ['qualified', '2026-01-03 c1 6', '6'],
    ],
  ),
  example(
    'a candidate of another plan is elsewhere',
    () =>
      statesOf(
        world({
          plans: [plan('P', terms([cpa()])), plan('Q', terms([cpa()]))],
          customers: [
            customer('c1', {
              affiliates: [
                { from: null, affiliate_id: 'A' },
                { from: '2026-02-01', affiliate_id: 'B' },
              ],
            }),
          ],
          affiliates: ['A', 'B'].map((affiliate_id) => ({ affiliate_id, parents: [] })),
          assignments: [
            { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
            { affiliate_id: 'B', plan: 'Q', from: '2026-01-01', customers: 'all' },
          ],
          transactions: [deposit('c1', '2026-01-02', 5), deposit('c1', '2026-02-02', 6)],
        }),
      ).map(({ version, status, trigger, affiliate, used }) => [
        version.plan,
        status,
        trigger?.id,
        affiliate,
        used.size,
      ]),
    [
      ['P', 'qualified', '2026-01-02 c1 5', 'A', 1],
      ['Q', 'elsewhere', '2026-01-02 c1 5', 'A', 0],
    ],
  ),
  example(
    'a candidate of an organic customer belongs to no version',
    () =>
      evaluated(cpa(), {
        customers: [
          customer('c1', {
            affiliates: [
              { from: null, affiliate_id: null },
              { from: '2026-02-01', affiliate_id: 'A' },
            ],
          }),
        ],
        transactions: [deposit('c1', '2026-01-02', 5), deposit('c1', '2026-02-02', 6)],
      }).map(({ status, affiliate }) => [status, affiliate]),
    [['elsewhere', null]],
  ),
  example('a whole day does not void itself; another of its day does if it meets the term', () => {
    const rule = cpa({
      trigger: { event: 'ftd' },
      void_by: {
        terms: [{ event: 'ftd', kpi: 'back', when: { products: ['poker'] } }],
        within_days: 1,
      },
    })
    const ftd = { customer_id: 'c1', eventname: 'ftd', day: '2026-01-02', Currency: 'EUR' }
    const first = { ...ftd, id: 'e1', Value: 5, product: 'poker', kpis: { back: 5 } }
    return [
      [],
      [{ ...ftd, id: 'e2', product: 'poker', kpis: { back: 5 } }],
      [{ ...ftd, id: 'e2', kpis: { back: 5 } }],
    ].map((more) => evaluated(rule, { events: [first, ...more] })[0]!.status)
  }, ['qualified', 'reversed', 'qualified']),
  example('`requalify` passes over facts that were voided or reversed, and tells only of the former', () => {
    const refund = (day: string, more: Partial<World['transactions'][number]> = {}) =>
      deposit('c1', day, 50, { transaction_type: 'refund', ...more })
    const rule = cpa({
      requalify: true,
      void_by: { terms: [{ transactions: ['refund'] }], within_days: 7 },
    })
    const of = (...more: World['transactions']) =>
      worldOf([rule], {
        rates: RATE,
        transactions: [
          deposit('c1', '2026-01-02', 50),
          refund('2026-01-03'),
          deposit('c1', '2026-01-04', 5, { status: 'reversed' }),
          deposit('c1', '2026-01-12', 50),
          ...more,
        ],
      })
    const worlds = [
      of(),
      of(refund('2026-01-13', { status: 'declined' })),
      of(refund('2026-01-13')),
      of(refund('2026-01-13', { currency: 'USD' })),
    ]
    return worlds.map((one) => [
      ...statesOf(one).map(
        ({ status, trigger, voided }) =>
          `${status} ${trigger?.id}, passed over: ${[...voided].map(({ id }) => id)}`,
      ),
      ...verdicts(one).map(([id, verdict, , text]) => text ?? `${id} ${verdict}`),
    ])
  }, [
    [
      'qualified 2026-01-12 c1 50, passed over: 2026-01-02 c1 50',
      'P v1 cpa already_counted void_by',
      '2026-01-03 c1 50 no_rule',
      '2026-01-04 c1 5 reversed',
      'P v1 cpa counted null',
    ],
    [
      'qualified 2026-01-12 c1 50, passed over: 2026-01-02 c1 50',
      'P v1 cpa already_counted void_by',
      '2026-01-03 c1 50 no_rule',
      '2026-01-04 c1 5 reversed',
      'P v1 cpa counted null',
      '2026-01-13 c1 50 declined',
    ],
    [
      'no_trigger undefined, passed over: 2026-01-02 c1 50,2026-01-12 c1 50',
      'P v1 cpa not_qualified void_by',
      '2026-01-03 c1 50 no_rule',
      '2026-01-04 c1 5 reversed',
      'P v1 cpa not_qualified void_by',
      '2026-01-13 c1 50 no_rule',
    ],
    [
      'blocked 2026-01-12 c1 50, passed over: 2026-01-02 c1 50',
      'P v1 cpa not_qualified void_by',
      '2026-01-03 c1 50 no_rule',
      '2026-01-04 c1 5 reversed',
      'P v1 cpa not_qualified null',
      'P v1 cpa fx_missing null',
    ],
  ]),
  example(
    'what voids a candidate and has no rate makes it wait',
    () =>
      evaluated(cpa({ void_by: { terms: [{ transactions: ['refund'] }], within_days: 1 } }), {
        rates: RATE,
        transactions: [
          deposit('c1', '2026-01-02', 5),
          deposit('c1', '2026-01-02', 9, { transaction_type: 'refund', currency: 'USD' }),
        ],
      }).map(({ status, blockers, amount }) => [status, blockers, amount]),
    [['blocked', [['2026-01-02 c1 9', 'amount_currency', 'USD', 'fx_missing']], '5']],
  ),
]

const qualifications: readonly Case[] = [
  example(
    'conditions on a customer without fields',
    () =>
      ([{ not_kyc: ['0'] }, { kyc: ['1'] }] as const).flatMap((conditions) =>
        evaluated(cpa({ qualify: [{ customer: conditions }] }), {
          transactions: [deposit('c1', '2026-01-02', 5)],
        }).map(({ status, progress, used }) => [status, progress, used]),
      ),
    [
      [
        'qualified',
        [{ status: 'met', at: at('2026-01-01'), day: dayOf('2026-01-01'), used: [] }],
        ['2026-01-02 c1 5'],
      ],
      ['open', [{ status: 'open', condition: 'kyc', reached: null, min: null, until: null }], []],
    ],
  ),
  example(
    'conditions on a customer hold from the day on which they first held',
    () =>
      evaluated(cpa({ qualify: [{ customer: { kyc: ['1'] } }] }), {
        customers: [
          customer('c1', {
            fields: [
              { from: null, values: {} },
              { from: '2026-01-05', values: { kyc_status_id: '1' } },
              { from: '2026-01-07', values: { kyc_status_id: '2' } },
            ],
          }),
        ],
        transactions: [deposit('c1', '2026-01-02', 5)],
      }).map(({ status, progress, at: on, day }) => [status, progress, on, day]),
    [
      [
        'qualified',
        [{ status: 'met', at: at('2026-01-05'), day: dayOf('2026-01-05'), used: [] }],
        at('2026-01-05'),
        dayOf('2026-01-05'),
      ],
    ],
  ),
  example(
    'a sum that is open tells what it has and needs, and until when',
    () =>
      ([{}, { within_days: 3 }, { within_days: 3, at: 'end' }] as const).flatMap((more) =>
        evaluated(cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '9', ...more }] }), {
          transactions: [
            deposit('c1', '2026-01-02', 5),
            deposit('c1', '2026-01-04', 50, {
              at: at('2026-01-04') + 1,
              currency: 'EUR',
              status: 'declined',
            }),
          ],
        }).map(({ status, progress }) => [status, progress]),
      ),
    [
      ['open', [{ status: 'open', condition: null, reached: '5', min: '9', until: null }]],
      [
        'open',
        [{ status: 'open', condition: null, reached: '5', min: '9', until: dayOf('2026-01-04') }],
      ],
      [
        'open',
        [{ status: 'open', condition: null, reached: '5', min: '9', until: dayOf('2026-01-04') }],
      ],
    ],
  ),
  example(
    'a sum at the end of its window is met there, and uses all of the window',
    () =>
      evaluated(
        cpa({
          qualify: [{ sum: [{ transactions: ['deposit'] }], min: '9', within_days: 3, at: 'end' }],
        }),
        {
          transactions: [
            deposit('c1', '2026-01-02', 10),
            deposit('c1', '2026-01-03', -1),
            deposit('c1', '2026-01-04', -8),
          ],
        },
      ).map(({ status, at: on, day, used }) => [status, on, day, used]),
    [
      [
        'qualified',
        at('2026-01-04'),
        dayOf('2026-01-04'),
        ['2026-01-02 c1 10', '2026-01-03 c1 -1'],
      ],
    ],
  ),
  example(
    'a sum at the end of no window stays open',
    () =>
      evaluated(cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '9', at: 'end' }] }), {
        transactions: [deposit('c1', '2026-01-02', 10)],
      }).map(({ status }) => status),
    ['open'],
  ),
  example(
    'a sum of 0 is reached at the signup, with the facts of that instant',
    () =>
      evaluated(cpa({ qualify: [{ sum: [{ transactions: ['deposit', 'x'] }], min: '0' }] }), {
        transactions: [
          deposit('c1', '2026-01-01', -5),
          deposit('c1', '2026-01-02', -6),
          deposit('c1', '2025-12-30', -7, { transaction_type: 'x' }),
        ],
      }).map(({ status, progress }) => [status, progress]),
    [
      [
        'qualified',
        [
          {
            status: 'met',
            at: at('2026-01-01'),
            day: dayOf('2026-01-01'),
            used: ['2026-01-01 c1 -5'],
          },
        ],
      ],
    ],
  ),
  example(
    'a sum waits for a fact without a rate that comes before it is reached, not after',
    () =>
      ['2026-01-02', '2026-01-04'].flatMap((day) =>
        evaluated(cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '9' }] }), {
          rates: RATE,
          transactions: [deposit('c1', '2026-01-03', 9), usd('c1', day, 1)],
        }).map(({ status, progress, blockers, used }) => [status, progress, blockers.length, used]),
      ),
    [
      ['blocked', [{ status: 'blocked', blockers: 1 }], 1, []],
      [
        'qualified',
        [
          {
            status: 'met',
            at: at('2026-01-03'),
            day: dayOf('2026-01-03'),
            used: ['2026-01-03 c1 9'],
          },
        ],
        0,
        ['2026-01-03 c1 9'],
      ],
    ],
  ),
  example(
    'facts of one instant count together',
    () =>
      evaluated(cpa({ qualify: [{ sum: [{ transactions: ['deposit'] }], min: '9' }] }), {
        transactions: [10, -5, 5].map((amount) => deposit('c1', '2026-01-03', amount)),
      }).map(({ status, used }) => [status, used.length]),
    [['qualified', 3]],
  ),
]

const untilDay: readonly Case[] = [
  example('up to a day: facts, fields and windows of that day count, later ones do not', () => {
    const rule = cpa({
      qualify: [
        { customer: { kyc: ['1'] } },
        { sum: [{ transactions: ['x'] }], min: '5' },
        { sum: [{ transactions: ['deposit'] }], min: '5', within_days: 9, at: 'end' },
      ],
    })
    const found = input(
      worldOf([rule], {
        customers: [
          customer('c1', {
            fields: [
              { from: null, values: {} },
              { from: '2026-01-05', values: { kyc_status_id: '1' } },
            ],
          }),
        ],
        transactions: [
          deposit('c1', '2026-01-03', 5),
          deposit('c1', '2026-01-07', 5, { transaction_type: 'x' }),
        ],
      }),
    )
    const one = evaluateCustomer(found, found.customers[0]!)
    return ['01', '03', '04', '05', '06', '07', '09', '10'].map((day) => {
      const [state] = onceThrough(found, one, dayOf(`2026-01-${day}`))
      return [day, state!.status, ...state!.progress.map(({ status }) => status)].join(' ')
    })
  }, [
    '01 no_trigger open open open',
    '03 open open open open',
    '04 open open open open',
    '05 open met open open',
    '06 open met open open',
    '07 open met met open',
    '09 open met met open',
    '10 qualified met met met',
  ]),
]

const verdictCases: readonly Case[] = [
  example('qualifications stand by day, then instant, then id; those without a trigger first', () => {
    const state = (day: number, trigger: { at: number; id: string } | null) =>
      ({ day, trigger }) as unknown as OnceState
    const all = [
      state(1, null),
      state(1, { at: 0, id: 'a' }),
      state(1, { at: 0, id: 'b' }),
      state(1, { at: 1, id: 'a' }),
      state(2, { at: 0, id: 'a' }),
    ]
    const order = all.flatMap((a, i) =>
      all.map((b, j) => Math.sign(compareQualified(a, b)) === Math.sign(i - j)),
    )
    return [order.every(Boolean), compareQualified(state(1, null), state(1, null))]
  }, [true, 0]),
  example(
    'of a qualification all rules of the plan say what they make of the fact',
    () =>
      verdicts(
        worldOf(
          [
            share('first', { when: { countries: ['DE'] } }),
            cpa(),
            cpa({ id: 'min', trigger: { transactions: ['deposit'], min: '7' } }),
            { id: 'up', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '1' },
            share('last', { base: [{ transactions: ['x'] }] }),
          ],
          { transactions: [deposit('c1', '2026-01-02', 5), deposit('c1', '2026-01-03', 6)] },
        ),
      ),
    [
      [
        '2026-01-02 c1 5',
        'counted',
        'P v1 cpa counted null',
        'P v1 first excluded countries',
        'P v1 min not_qualified null',
        'P v1 cpa counted null',
      ],
      [
        '2026-01-03 c1 6',
        'not_qualified',
        'P v1 min not_qualified null',
        'P v1 first excluded countries',
        'P v1 cpa already_counted null',
        'P v1 min not_qualified null',
      ],
    ],
  ),
  example(
    'before any rule: facts that are not approved, and facts without a plan',
    () =>
      verdicts(
        worldOf([share('s')], {
          assignments: [{ affiliate_id: 'A', plan: 'P', from: '2026-01-03', customers: 'all' }],
          transactions: [
            deposit('c1', '2026-01-02', 5),
            deposit('c1', '2026-01-03', 6, { status: 'odd' }),
            deposit('c1', '2026-01-04', 7),
            deposit('c1', '2026-01-05', 8, { transaction_type: 'x' }),
          ],
        }),
      ),
    [
      ['2026-01-02 c1 5', 'no_plan', null],
      ['2026-01-03 c1 6', 'unmapped', null],
      ['2026-01-04 c1 7', 'counted', 'P v1 s counted null', 'P v1 s counted null'],
      ['2026-01-05 c1 8', 'no_rule', null],
    ],
  ),
  example(
    'of two terms the one that gets further gives the reason; of equal rank the first',
    () =>
      verdicts(
        worldOf(
          [
            share('s', {
              base: [
                { transactions: ['deposit'], when: { subtypes: ['a'] } },
                { transactions: ['deposit'], when: { currencies: ['JPY'] } },
              ],
            }),
            share('months', {
              months: 1,
              base: [
                { transactions: ['deposit'], when: { subtypes: ['a'] } },
                { transactions: ['deposit'] },
              ],
            }),
          ],
          { transactions: [deposit('c1', '2026-02-02', 5)] },
        ),
      ),
    [
      [
        '2026-02-02 c1 5',
        'expired',
        'P v1 months expired null',
        'P v1 s excluded subtypes',
        'P v1 months expired null',
      ],
    ],
  ),
  example('what an upline alone counts names its rule', () => {
    const of = world({
      affiliates: [
        { affiliate_id: 'A', parents: [{ from: null, parent: 'U' }] },
        { affiliate_id: 'U', parents: [] },
      ],
      plans: [
        plan('P', terms([share('s', { base: [{ transactions: ['x'] }] })])),
        plan(
          'O',
          terms(
            [
              { id: 'l', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '1' },
              {
                id: 'up',
                kind: 'override',
                level: 1,
                of: { base: [{ transactions: ['deposit'] }] },
                percent: '1',
              },
            ],
            { period: 'week' },
          ),
        ),
      ],
      assignments: [
        { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
        { affiliate_id: 'U', plan: 'O', from: '2026-01-01', customers: 'all' },
      ],
      transactions: [
        deposit('c1', '2026-01-02', 5),
        deposit('c1', '2026-01-03', 6, { transaction_type: 'x' }),
        deposit('c1', '2026-01-04', 7, { status: 'pending' }),
      ],
    })
    return verdicts(of)
  }, [
    ['2026-01-02 c1 5', 'counted', 'O v1 up counted null', 'O v1 up counted null'],
    ['2026-01-03 c1 6', 'counted', 'P v1 s counted null', 'P v1 s counted null'],
    ['2026-01-04 c1 7', 'pending', null],
  ]),
  example('before its day a qualification does not count, and a candidate does not wait', () => {
    const found = input(
      worldOf([cpa(), cpa({ id: 'percent', amount: undefined as never, percent: '1' })], {
        rates: RATE,
        transactions: [usd('c1', '2026-01-05', 5)],
      }),
    )
    const one = evaluateCustomer(found, found.customers[0]!)
    return ['2026-01-04', '2026-01-05'].map((day) => {
      const then = asOf(one, dayOf(day))
      return [then.qualified.size, then.once.map(({ blockers }) => blockers.length)]
    })
  }, [
    [0, [0, 0]],
    [1, [0, 1]],
  ]),
  example(
    'of qualifications under several plans the earliest counts, of equal ones the first',
    () =>
      (
        [
          ['2026-01-02', '2026-01-10', 0],
          ['2026-01-12', '2026-01-02', 0],
          ['2026-01-02', '2026-01-10', 20],
        ] as const
      ).map(([first, second, days]) => {
        const qualify = days === 0 ? [] : [{ customer: { kyc: ['1'] } }]
        const found = input(
          world({
            plans: ['a', 'b'].map((name) =>
              plan(name, terms([cpa({ when: { subtypes: [name] }, qualify })])),
            ),
            affiliates: ['A', 'B'].map((affiliate_id) => ({ affiliate_id, parents: [] })),
            customers: [
              customer('c1', {
                affiliates: [
                  { from: null, affiliate_id: first < second ? 'A' : 'B' },
                  { from: '2026-01-05', affiliate_id: first < second ? 'B' : 'A' },
                ],
                fields: [{ from: '2026-01-20', values: { kyc_status_id: '1' } }],
              }),
            ],
            assignments: [
              { affiliate_id: 'A', plan: 'a', from: '2026-01-01', customers: 'all' },
              { affiliate_id: 'B', plan: 'b', from: '2026-01-01', customers: 'all' },
            ],
            transactions: [
              deposit('c1', first, 9, { transaction_subtype: 'a' }),
              deposit('c1', second, 9, { transaction_subtype: 'b' }),
            ],
          }),
        )
        const { once, qualified } = evaluateCustomer(found, found.customers[0]!)
        return [once.map(({ status }) => status), qualified.get('cpa')?.version.plan]
      }),
    [
      [['qualified', 'qualified'], 'a'],
      [['qualified', 'qualified'], 'b'],
      [['qualified', 'qualified'], 'a'],
    ],
  ),
  example(
    'a customer who qualified under another plan holds no candidate that waits',
    () =>
      [[], [deposit('c1', '2026-01-10', 5)]].map((more) =>
        holds(
          world({
            rates: RATE,
            plans: [
              plan(
                'P',
                terms([cpa({ trigger: { transactions: ['deposit'], subtypes: ['a'], min: '1' } })]),
              ),
              plan('Q', terms([cpa({ when: { not_subtypes: ['a'] } })])),
            ],
            affiliates: ['A', 'B'].map((affiliate_id) => ({ affiliate_id, parents: [] })),
            customers: [
              customer('c1', {
                affiliates: [
                  { from: null, affiliate_id: 'A' },
                  { from: '2026-01-05', affiliate_id: 'B' },
                ],
              }),
            ],
            assignments: [
              { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
              { affiliate_id: 'B', plan: 'Q', from: '2026-01-01', customers: 'all' },
            ],
            transactions: [
              ...more,
              deposit('c1', '2026-01-03', 9, { transaction_subtype: 'a', currency: 'USD' }),
            ],
          }),
          '2026-01',
        ),
      ),
    [['A cpa v1 fx_missing USD 1 9'], []],
  ),
]

/** Examples of candidates, qualifications and verdicts. */
export const EVALUATIONS: readonly Case[] = [
  ...shared,
  ...candidates,
  ...qualifications,
  ...untilDay,
  ...verdictCases,
]
