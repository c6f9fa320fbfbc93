import { openAccount } from '../../../src/commission/engine/account.ts'
import { parsePeriod } from '../../../src/commission/engine/calendar.ts'
import { decimal, plainText } from '../../../src/commission/engine/decimal.ts'
import type { PlanTerms, Rule } from '../../../src/commission/engine/plan.ts'
import { NO_STATE } from '../../../src/commission/engine/state.ts'
import { withRestoring } from '../../../src/commission/engine/statements.ts'
import { evaluate } from '../engine.ts'
import type { OutcomeStatement, World } from '../world.ts'
import { at, booksThrough, customer, deposit, input, plan, terms, world } from './build.ts'
import { type Case, example } from './case.ts'

// Examples of closings that move to another plan. Each plan pays 10 % of deposits from 50.00 on.

const SHARE: Rule = {
  id: 's',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
}

const named = (name: string, more: Partial<PlanTerms> = {}) =>
  plan(name, terms([SHARE], { minimum_payout: '50', ...more }))

const withdrawal = (day: string, amount: number) =>
  deposit('c1', day, amount, { transaction_type: 'withdrawal' })

/** An assignment of `A`: plan, day and, unless it is for all of them, customers. */
type Step = readonly [plan: string, from: string, customers?: 'new']

const assignmentsOf = (affiliate_id: string, steps: readonly Step[]): World['assignments'] =>
  steps.map(([name, from, customers]) => ({
    affiliate_id,
    plan: name,
    from,
    customers: customers ?? 'all',
  }))

/** Builds a world in which `A` changes plans. It begins with 10.00 of the plan `P` in January. */
const changing = (steps: readonly Step[], more: Partial<World> = {}): World =>
  world({
    plans: [named('P'), named('Q'), named('R')],
    transactions: [deposit('c1', '2026-01-05', 100)],
    assignments: assignmentsOf('A', steps),
    ...more,
  })

/** Returns what becomes of a balance, as `Q 2026-02: 10.00 from P 2026-01 + 5.00 = closing 15.00`. */
function summary(one: OutcomeStatement): string {
  const { plan: name, period, opening, total, transferred, received } = one
  const from = received.map((entry) => ` from ${entry.from} ${entry.period} ${entry.amount}`)
  const to = transferred
    ? `${transferred.amount} to ${transferred.to} ${transferred.period}`
    : (['payable', 'closing', 'dropped'] as const)
        .filter((figure) => Number(one[figure]) !== 0)
        .map((figure) => `${figure} ${one[figure]}`)
        .join()
  return `${name} ${period}: ${opening}${from.join()} + ${total} = ${to || 'nothing'}`
}

/** Returns the summaries of the statements of some periods. */
const story = (of: World, ...periods: string[]): string[] =>
  evaluate(of, periods).flatMap(({ statements }) => statements.map(summary))

const TO_Q: readonly Step[] = [
  ['P', '2026-01-01'],
  ['Q', '2026-02-01'],
]

const moves: readonly Case[] = [
  example(
    'the closing of a plan that was left is a part of the next opening of the new plan',
    () => story(changing(TO_Q), '2026-01', '2026-02', '2026-03'),
    [
      'P 2026-01: 0.00 + 10.00 = 10.00 to Q 2026-02',
      'Q 2026-02: 10.00 from P 2026-01 10.00 + 0.00 = closing 10.00',
      'Q 2026-03: 10.00 + 0.00 = closing 10.00',
    ],
  ),
  example(
    'a plan is left at the end of the period in which another takes over',
    () =>
      story(
        changing(
          [
            ['P', '2026-01-01'],
            ['Q', '2026-02-02'],
          ],
          {
            transactions: [
              deposit('c1', '2026-02-01', 100),
              deposit('c1', '2026-02-02', 20),
              deposit('c1', '2026-03-02', 600),
            ],
          },
        ),
        '2026-01',
        '2026-02',
        '2026-03',
      ),
    [
      'P 2026-02: 0.00 + 10.00 = 10.00 to Q 2026-03',
      'Q 2026-02: 0.00 + 2.00 = closing 2.00',
      'Q 2026-03: 12.00 from P 2026-02 10.00 + 60.00 = payable 72.00',
    ],
  ),
  example(
    'a closing stays until the period before the change ends',
    () =>
      story(
        changing([
          ['P', '2026-01-01'],
          ['Q', '2026-03-01'],
        ]),
        '2026-01',
        '2026-02',
        '2026-03',
      ),
    [
      'P 2026-01: 0.00 + 10.00 = closing 10.00',
      'P 2026-02: 10.00 + 0.00 = 10.00 to Q 2026-03',
      'Q 2026-03: 10.00 from P 2026-02 10.00 + 0.00 = closing 10.00',
    ],
  ),
  example(
    'what a plan pays itself does not move',
    () =>
      story(
        changing(TO_Q, { transactions: [deposit('c1', '2026-01-05', 500)] }),
        '2026-01',
        '2026-02',
      ),
    ['P 2026-01: 0.00 + 50.00 = payable 50.00'],
  ),
  example(
    'a debt moves, and what the plan drops does not',
    () =>
      (['carry', 'zero'] as const).flatMap((negative) =>
        story(
          changing(TO_Q, {
            plans: [named('P', { negative }), named('Q')],
            transactions: [withdrawal('2026-01-05', 100)],
          }),
          '2026-01',
          '2026-02',
        ),
      ),
    [
      'P 2026-01: 0.00 + -10.00 = -10.00 to Q 2026-02',
      'Q 2026-02: -10.00 from P 2026-01 -10.00 + 0.00 = closing -10.00',
      'P 2026-01: 0.00 + -10.00 = dropped -10.00',
    ],
  ),
  example(
    'a statement in which opposite amounts meet exists',
    () =>
      story(
        changing(
          [
            ['P', '2026-01-01'],
            ['Q', '2026-01-10'],
          ],
          { transactions: [deposit('c1', '2026-01-05', 100), withdrawal('2026-01-11', 100)] },
        ),
        '2026-02',
      ),
    ['Q 2026-02: 0.00 from P 2026-01 10.00 + 0.00 = nothing'],
  ),
  example(
    'other currencies: a positive amount is paid, a debt stays',
    () =>
      [deposit('c1', '2026-01-05', 100), withdrawal('2026-01-05', 100)].flatMap((one) =>
        story(
          changing(TO_Q, {
            plans: [named('P'), named('Q', { currency: 'USD' })],
            transactions: [one],
          }),
          '2026-01',
          '2026-02',
        ),
      ),
    [
      'P 2026-01: 0.00 + 10.00 = payable 10.00',
      'P 2026-01: 0.00 + -10.00 = closing -10.00',
      'P 2026-02: -10.00 + 0.00 = closing -10.00',
    ],
  ),
  example(
    'a plan without a version takes nothing over',
    () => story(changing(TO_Q, { plans: [named('P'), plan('Q')] }), '2026-01', '2026-02'),
    ['P 2026-01: 0.00 + 10.00 = payable 10.00'],
  ),
]

const returns: readonly Case[] = [
  example(
    'an assignment for new customers moves nothing',
    () =>
      story(
        changing([
          ['P', '2026-01-01'],
          ['Q', '2026-02-01', 'new'],
        ]),
        '2026-01',
      ),
    ['P 2026-01: 0.00 + 10.00 = closing 10.00'],
  ),
  example(
    'a plan to which an affiliate returns has not been left',
    () =>
      (['new', undefined] as const).flatMap((customers) =>
        story(
          changing([
            ['P', '2026-01-01'],
            ['Q', '2026-01-10'],
            ['P', '2026-02-01', customers] as Step,
          ]),
          '2026-01',
        ),
      ),
    Array.from({ length: 2 }, () => 'P 2026-01: 0.00 + 10.00 = closing 10.00'),
  ),
  example(
    'what moved comes back with the affiliate',
    () => story(changing([...TO_Q, ['P', '2026-03-01']]), '2026-02', '2026-03'),
    [
      'Q 2026-02: 10.00 from P 2026-01 10.00 + 0.00 = 10.00 to P 2026-03',
      'P 2026-03: 10.00 from Q 2026-02 10.00 + 0.00 = closing 10.00',
    ],
  ),
  example(
    'closings of several plans move on to the last one',
    () =>
      story(
        changing(
          [
            ['R', '2026-01-01'],
            ['P', '2026-01-10', 'new'],
            ['Q', '2026-02-01'],
            ['R', '2026-03-01', 'new'],
          ],
          {
            customers: [customer('c1'), customer('c2', { signup: at('2026-01-12') })],
            transactions: [deposit('c1', '2026-01-15', 10), deposit('c2', '2026-01-15', 20)],
          },
        ),
        '2026-01',
        '2026-02',
      ),
    [
      'P 2026-01: 0.00 + 2.00 = 2.00 to Q 2026-02',
      'R 2026-01: 0.00 + 1.00 = 1.00 to Q 2026-02',
      'Q 2026-02: 3.00 from P 2026-01 2.00, from R 2026-01 1.00 + 0.00 = closing 3.00',
    ],
  ),
  example('later lines of the old plan move to the plan that replaces it by then', () => {
    const once: Rule = {
      id: 'cpa',
      kind: 'once',
      trigger: { transactions: ['deposit'] },
      qualify: [{ sum: [{ transactions: ['deposit'] }], min: '200' }],
      amount: '20',
    }
    return story(
      changing([...TO_Q, ['R', '2026-03-01']], {
        plans: [plan('P', terms([once], { minimum_payout: '50' })), named('Q'), named('R')],
        transactions: [deposit('c1', '2026-01-05', 100), deposit('c1', '2026-02-05', 100)],
      }),
      '2026-01',
      '2026-02',
      '2026-03',
    )
  }, [
    'P 2026-02: 0.00 + 20.00 = 20.00 to R 2026-03',
    'Q 2026-02: 0.00 + 10.00 = 10.00 to R 2026-03',
    'R 2026-03: 30.00 from P 2026-02 20.00, from Q 2026-02 10.00 + 0.00 = closing 30.00',
  ]),
  example(
    'the assignments of everyone move closings, too',
    () =>
      story(
        changing([], {
          assignments: assignmentsOf('*', TO_Q),
        }),
        '2026-01',
      ),
    ['P 2026-01: 0.00 + 10.00 = 10.00 to Q 2026-02'],
  ),
]

const WEEKLY = { period: 'week' } as const

/** Pays 3.00 once the deposits of a customer reach 10. */
const LATE: Rule = {
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'] },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '10' }],
  amount: '3',
}

const kinds: readonly Case[] = [
  example(
    'a month moves to the first week that begins after it',
    () =>
      story(
        changing(TO_Q, { plans: [named('P'), named('Q', WEEKLY)] }),
        '2026-01',
        '2026-W05',
        '2026-W06',
      ),
    [
      // 2026-02-01 is the Sunday of week 5.
      'P 2026-01: 0.00 + 10.00 = 10.00 to Q 2026-W06',
      'Q 2026-W06: 10.00 from P 2026-01 10.00 + 0.00 = closing 10.00',
    ],
  ),
  example(
    'weeks move to the first month that begins after them, in order',
    () =>
      story(
        changing(
          [
            ['P', '2026-01-01'],
            ['Q', '2026-01-05'],
          ],
          {
            plans: [
              plan('P', terms([LATE], { minimum_payout: '50', ...WEEKLY })),
              plan('Q', terms([{ ...SHARE, percent: '0' }])),
            ],
            customers: [customer('c1'), customer('c2')],
            transactions: ['c1', 'c2'].flatMap((id, index) => [
              deposit(id, '2026-01-02', 5),
              deposit(id, index === 0 ? '2026-01-20' : '2026-01-28', 5),
            ]),
          },
        ),
        '2026-W04',
        '2026-W05',
        '2026-02',
        '2026-03',
      ),
    [
      'P 2026-W04: 0.00 + 3.00 = 3.00 to Q 2026-02',
      // Week 5 ends on 2026-02-01.
      'P 2026-W05: 0.00 + 3.00 = 3.00 to Q 2026-03',
      'Q 2026-02: 3.00 from P 2026-W04 3.00 + 0.00 = payable 3.00',
      'Q 2026-03: 3.00 from P 2026-W05 3.00 + 0.00 = payable 3.00',
    ],
  ),
  example('what a month receives stands in order of plan and period', () => {
    const changes: readonly Step[] = [
      ['P', '2026-01-01'],
      ['N', '2026-01-05', 'new'],
      ['Q', '2026-01-12'],
    ]
    const late = terms([LATE], { minimum_payout: '50', ...WEEKLY })
    return story(
      changing(changes, {
        plans: [named('P'), plan('N', late), named('Q', { minimum_payout: '99' })],
        customers: ['c1', 'c2', 'c3'].map((id) =>
          customer(id, { signup: at(id === 'c1' ? '2026-01-02' : '2026-01-06') }),
        ),
        transactions: [
          deposit('c1', '2026-01-05', 100),
          deposit('c2', '2026-01-06', 5),
          deposit('c3', '2026-01-06', 5),
          deposit('c2', '2026-01-14', 5),
          deposit('c3', '2026-01-21', 5),
        ],
      }),
      '2026-01',
      '2026-02',
    )
  }, [
    'P 2026-01: 0.00 + 10.00 = 10.00 to Q 2026-02',
    'Q 2026-01: 0.00 + 1.00 = closing 1.00',
    'Q 2026-02: 17.00 from N 2026-W03 3.00, from N 2026-W04 3.00, from P 2026-01 10.00 + 0.00 = closing 17.00',
  ]),
  example('what periods before the first one transferred is a part of their state', () => {
    const of = changing(TO_Q, {
      plans: [named('P'), named('Q', WEEKLY)],
      transactions: [deposit('c1', '2026-02-05', 100)],
    })
    const found = openAccount(
      input(of, {
        firstDay: { month: parsePeriod('2026-02')!.first, week: parsePeriod('2026-W06')!.first },
        stateOf: (_, name) =>
          name === 'P' ? { ...NO_STATE, closing: '5' } : { ...NO_STATE, closing: '7' },
      }),
    )
    return ['2026-W06', '2026-02', '2026-W10'].flatMap((period) =>
      found.settle(parsePeriod(period)!).map(({ statement }) => summary(statement as never)),
    )
  }, [
    'Q 2026-W06: 7.00 + 10.00 = closing 17.00',
    'P 2026-02: 5.00 + 0.00 = 5.00 to Q 2026-W10',
    'Q 2026-W10: 22.00 from P 2026-02 5.00 + 0.00 = closing 22.00',
  ]),
]

const corrections: readonly Case[] = [
  example('corrections of several periods restore in order of period', () => {
    const dropped = { closing: decimal('0'), transfer: null, linesSum: decimal('-5') }
    const books = booksThrough('2026-02-28', {
      statements: new Map([
        ['2026-01', { ...dropped, dropped: decimal('-5') }],
        ['2026-02', { ...dropped, dropped: decimal('-3') }],
      ]),
    })
    const line = { rule: 's', version: 1, scope: 'affiliate', occurrence: 0 }
    const differences = ['2026-02', '2026-01'].map((period) => ({
      period,
      line,
      droppedIn: null,
      amount: decimal('4'),
    }))
    return withRestoring(books, differences).map(
      ({ period, droppedIn, amount }) => `${period} ${droppedIn} ${plainText(amount)}`,
    )
  }, ['2026-02 null 4', '2026-01 null 4', '2026-01 2026-01 -4', '2026-02 2026-02 -3']),
]

/** Examples of closings that move to another plan, and of what corrections restore. */
export const TRANSFERS: readonly Case[] = [...moves, ...returns, ...kinds, ...corrections]
