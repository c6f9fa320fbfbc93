import { openAccount } from '../../../src/commission/engine/account.ts'
import type { PlanResult } from '../../../src/commission/engine/account-input.ts'
import {
  closedStatement,
  type Difference,
  firstOpen,
  isClosed,
  keyedLines,
  manualEntriesIn,
  type PlanBooks,
} from '../../../src/commission/engine/books.ts'
import { parsePeriod } from '../../../src/commission/engine/calendar.ts'
import { type Decimal, decimal, plainText } from '../../../src/commission/engine/decimal.ts'
import type { Line } from '../../../src/commission/engine/line.ts'
import type { PlanTerms, Rule } from '../../../src/commission/engine/plan.ts'
import type { AdjustmentJson } from '../../../src/commission/engine/statement.ts'
import { differencesOf, withRestoring } from '../../../src/commission/engine/statements.ts'
import { transferringInto } from '../../../src/commission/engine/transfer.ts'
import { type Bookkeeper, openBooks } from '../../books/bookkeeper.ts'
import type { World } from '../world.ts'
import { booksThrough, customer, dayOf, deposit, input, plan, terms, world } from './build.ts'
import { type Case, example } from './case.ts'

// Examples of closed periods. Each plan pays 10 % of deposits less withdrawals.

type Share = Extract<Rule, { kind: 'share' }>

const SHARE: Share = {
  id: 's',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
}

const withdrawal = (day: string, amount: number) =>
  deposit('c1', day, amount, { transaction_type: 'withdrawal' })

const paying = (
  transactions: World['transactions'],
  more: Partial<PlanTerms> = {},
  rule: Partial<Share> = {},
): World => world({ plans: [plan('P', terms([{ ...SHARE, ...rule }], more))], transactions })

const settle = (of: World, books: Bookkeeper, periods: readonly string[]) => {
  const account = openAccount(input(of, { booksOf: books.booksOf }))
  return periods.flatMap((period) => account.settle(parsePeriod(period)!))
}

/** Computes a period and closes it for every affiliate and plan. */
function approve(of: World, books: Bookkeeper, period: string): void {
  for (const { affiliate, plan: named, statement } of settle(of, books, [period])) {
    books.close(affiliate, named.plan, period, statement)
  }
}

/** Returns a difference as `2026-01 s v1 affiliate 0: 3.00`, or `2026-01 dropped in 2026-01: -3.00`. */
const entry = (one: Omit<Difference, 'amount'>, amount: string): string => {
  const { period, line, droppedIn } = one
  const of = line && `${line.rule} v${line.version} ${line.scope} ${line.occurrence}`
  return `${period} ${of ?? 'dropped in'}${droppedIn === null ? '' : ` ${droppedIn}`}: ${amount}`
}

const entries = (all: readonly AdjustmentJson[]): string[] =>
  all.map((one) => entry(one, one.amount))

const differences = (all: readonly Difference[]): string[] =>
  all.map((one) => entry(one, plainText(one.amount)))

/** Returns what a result says of its balance; of a closed period, the adjustments still to be booked. */
function summary({ period, closed, statement, differences: unbooked }: PlanResult): unknown {
  if (closed) return [`${period.id} is closed`, statement, ...differences(unbooked)]
  if (statement === null) return `${period.id}: nothing`
  const { opening, lines_sum, adjustments, adjustments_sum, manual_sum, total } = statement
  return [
    `${period.id}: ${opening} + ${lines_sum} + ${adjustments_sum} + ${manual_sum}`,
    ...entries(adjustments),
    `total ${total}: payable ${statement.payable}, closing ${statement.closing}, dropped ${statement.dropped}`,
  ]
}

const story = (of: World, books: Bookkeeper, ...periods: string[]): unknown[] =>
  settle(of, books, periods).map(summary)

const FIRST = deposit('c1', '2026-01-05', 100)

const adjustments: readonly Case[] = [
  example('a late record of a closed period is an adjustment of the first open one', () => {
    const books = openBooks()
    approve(paying([FIRST]), books, '2026-01')
    const late = paying([FIRST, deposit('c1', '2026-01-11', 30), deposit('c1', '2026-02-11', 50)])
    const before = story(late, books, '2026-01', '2026-02', '2026-03')
    approve(late, books, '2026-02')
    return [...before, ...story(late, books, '2026-01', '2026-02', '2026-03')]
  }, [
    ['2026-01 is closed', null, '2026-01 s v1 affiliate 0: 3'],
    [
      '2026-02: 0.00 + 5.00 + 3.00 + 0.00',
      '2026-01 s v1 affiliate 0: 3.00',
      'total 8.00: payable 8.00, closing 0.00, dropped 0.00',
    ],
    '2026-03: nothing',
    ['2026-01 is closed', null],
    ['2026-02 is closed', null],
    '2026-03: nothing',
  ]),
  example('what several closed periods lack waits for the first open one', () => {
    const books = openBooks()
    approve(paying([FIRST]), books, '2026-01')
    approve(paying([FIRST]), books, '2026-02')
    const late = paying([FIRST, deposit('c1', '2026-01-11', 30), deposit('c1', '2026-02-11', 50)])
    return story(late, books, '2026-01', '2026-02', '2026-03', '2026-04')
  }, [
    ['2026-01 is closed', null, '2026-01 s v1 affiliate 0: 3'],
    ['2026-02 is closed', null, '2026-01 s v1 affiliate 0: 3', '2026-02 s v1 affiliate 0: 5'],
    [
      '2026-03: 0.00 + 0.00 + 8.00 + 0.00',
      '2026-01 s v1 affiliate 0: 3.00',
      '2026-02 s v1 affiliate 0: 5.00',
      'total 8.00: payable 8.00, closing 0.00, dropped 0.00',
    ],
    '2026-04: nothing',
  ]),
  example('a closed period keeps the closing that was approved', () => {
    const books = openBooks()
    approve(paying([withdrawal('2026-01-05', 100)]), books, '2026-01')
    const late = paying([withdrawal('2026-01-05', 100), deposit('c1', '2026-01-11', 30)])
    return story(late, books, '2026-02')
  }, [
    [
      '2026-02: -10.00 + 0.00 + 3.00 + 0.00',
      '2026-01 s v1 affiliate 0: 3.00',
      'total 3.00: payable 0.00, closing -7.00, dropped 0.00',
    ],
  ]),
  example('lines that changed stand before lines that are gone', () => {
    const per = { per: 'customer' } as const
    const customers = ['c1', 'c2', 'c3', 'c4'].map((id) => customer(id))
    const of = (...transactions: World['transactions']) => ({
      ...paying(transactions, {}, per),
      customers,
    })
    const books = openBooks()
    approve(
      of(FIRST, deposit('c2', '2026-01-06', 50), deposit('c3', '2026-01-07', 20)),
      books,
      '2026-01',
    )
    return story(
      of(deposit('c2', '2026-01-06', 80), deposit('c4', '2026-01-08', 10)),
      books,
      '2026-02',
    )
  }, [
    [
      '2026-02: 0.00 + 0.00 + -8.00 + 0.00',
      '2026-01 s v1 customer:c2 0: 3.00',
      '2026-01 s v1 customer:c4 0: 1.00',
      '2026-01 s v1 customer:c1 0: -10.00',
      '2026-01 s v1 customer:c3 0: -2.00',
      'total -8.00: payable 0.00, closing -8.00, dropped 0.00',
    ],
  ]),
  example('a closed period without a statement leaves nothing, and lacks all of its lines', () => {
    const books = openBooks()
    books.close('A', 'P', '2026-01', null)
    return story(paying([FIRST]), books, '2026-01', '2026-02')
  }, [
    ['2026-01 is closed', null, '2026-01 s v1 affiliate 0: 10'],
    [
      '2026-02: 0.00 + 0.00 + 10.00 + 0.00',
      '2026-01 s v1 affiliate 0: 10.00',
      'total 10.00: payable 10.00, closing 0.00, dropped 0.00',
    ],
  ]),
  example('a plan with books has statements, even if the affiliate no longer has the plan', () => {
    const plans = ['P', 'Q'].map((name) => plan(name, terms([SHARE], { minimum_payout: '50' })))
    const assigned = (name: string): World => ({
      ...world({ plans, transactions: [FIRST] }),
      assignments: [{ affiliate_id: '*', plan: name, from: '2026-01-01', customers: 'all' }],
    })
    const books = openBooks()
    approve(assigned('Q'), books, '2026-01')
    return settle(assigned('P'), books, ['2026-02']).map(
      (one) => [one.plan.plan, summary(one)] as const,
    )
  }, [
    [
      'P',
      [
        '2026-02: 10.00 + 0.00 + 0.00 + 0.00',
        'total 0.00: payable 0.00, closing 10.00, dropped 0.00',
      ],
    ],
    [
      'Q',
      [
        '2026-02: 10.00 + 0.00 + -10.00 + 0.00',
        '2026-01 s v1 affiliate 0: -10.00',
        'total -10.00: payable 0.00, closing 0.00, dropped 0.00',
      ],
    ],
  ]),
  example('a manual entry stands in the first period that is not closed, and only there', () => {
    const books = openBooks()
    const none = paying([])
    const found = (...periods: string[]) =>
      settle(none, books, periods).map(({ period, statement }) => [
        period.id,
        statement?.manual ?? null,
        statement?.total ?? null,
      ])
    approve(none, books, '2026-01')
    books.entries.push({ id: 'm1', affiliate: 'A', plan: 'P', amount: '12.5', booked: false })
    const waiting = found('2026-02', '2026-03')
    approve(none, books, '2026-02')
    return [...waiting, ...found('2026-03')]
  }, [
    [
      '2026-02',
      [
        {
          id: 'm1',
          amount: '12.50',
          reason: 'a bonus',
          reference: 'm1',
          at: '2026-01-01T00:00:00.000Z',
        },
      ],
      '12.50',
    ],
    ['2026-03', null, null],
    ['2026-03', null, null],
  ]),
]

const line = (scope: string, amount: string, version = 1): Line =>
  ({ rule: { id: 's' }, version: { version }, scope, amount: decimal(amount) }) as never

const parts: readonly Case[] = [
  example(
    'lines of one rule, version and scope are counted',
    () =>
      keyedLines([line('x', '1'), line('y', '2'), line('x', '3'), line('x', '4', 2)]).map(
        ({ rule, version, scope, occurrence, amount }) =>
          `${rule} v${version} ${scope} ${occurrence} ${plainText(amount)}`,
      ),
    ['s v1 x 0 1', 's v1 y 0 2', 's v1 x 1 3', 's v2 x 0 4'],
  ),
  example('lines that are gone stand in order of their keys, and equal amounts differ in nothing', () => {
    const booked = keyedLines([line('z', '1'), line('x', '2'), line('a', '3'), line('a', '4')])
    const books = booksThrough('2026-01-31', {
      booked: new Map([
        [
          '2026-01',
          new Map(
            booked.map((one) => [
              JSON.stringify([one.rule, one.version, one.scope, one.occurrence]),
              one,
            ]),
          ),
        ],
      ]),
    })
    const now = [line('a', '3.00'), line('b', '0'), line('c', '7')]
    return differences(differencesOf(books, parsePeriod('2026-01')!, now))
  }, [
    '2026-01 s v1 c 0: 7',
    '2026-01 s v1 a 1: -4',
    '2026-01 s v1 x 0: -2',
    '2026-01 s v1 z 0: -1',
  ]),
  example('a period is closed through its last day', () => {
    const month = parsePeriod('2026-01')!
    const days = ['2026-01-30', '2026-01-31', '2026-02-01']
    return [isClosed(null, month), ...days.map((day) => isClosed(booksThrough(day), month))]
  }, [false, false, true, true]),
  example('the first open period is that of the day after the last closed one', () => {
    const books = booksThrough('2026-01-31')
    return [
      firstOpen(null, parsePeriod('2025-12')!),
      firstOpen(books, parsePeriod('2025-12')!),
      firstOpen(books, parsePeriod('2026-01')!),
      firstOpen(books, parsePeriod('2026-03')!),
      firstOpen(books, parsePeriod('2026-W01')!),
    ].map(({ id }) => id)
  }, ['2025-12', '2026-02', '2026-02', '2026-03', '2026-W05']),
  example('manual entries wait for their first day, and for the end of what is closed', () => {
    const manual = [{ id: 'm1', amount: '1', reason: '', reference: '', at: '' }]
    const months = ['2026-01', '2026-02', '2026-03'].map((id) => parsePeriod(id)!)
    const standsIn = (through: string, from: string) =>
      months
        .filter((month) => {
          const books = booksThrough(through, { manual, manualFrom: dayOf(from) })
          return manualEntriesIn(books, month) === manual
        })
        .map(({ id }) => id)
    return [
      manualEntriesIn(null, months[0]!),
      standsIn('2025-12-31', '2026-02-10'),
      standsIn('2025-12-31', '2026-02-01'),
      standsIn('2025-12-31', '2026-02-28'),
      standsIn('2026-01-31', '2026-01-05'),
      standsIn('2026-02-28', '2026-01-05'),
    ]
  }, [[], ['2026-02'], ['2026-02'], ['2026-02'], ['2026-02'], ['2026-03']]),
  example('the statement of a closed period that has none', () => {
    const { closing, dropped, transfer, linesSum } = closedStatement(
      booksThrough('2026-01-31'),
      parsePeriod('2026-01')!,
    )
    return [closing, dropped, linesSum].map(plainText).concat(String(transfer))
  }, ['0', '0', '0', 'null']),
]

const dropping = (dropped: string) => ({
  closing: decimal('0'),
  transfer: null,
  linesSum: decimal('0'),
  dropped: decimal(dropped),
})

const decimals = (amounts: Record<string, string>): Map<string, Decimal> =>
  new Map(Object.entries(amounts).map(([key, amount]) => [key, decimal(amount)]))

const DROPPED = new Map([
  ['2026-01', dropping('-3')],
  ['2026-02', dropping('-5')],
  ['2026-03', dropping('-4')],
])

/** Returns a correction of January's line with what it restores. */
const restoring = (books: Partial<PlanBooks>, amount: string): string[] => {
  const of = { rule: 's', version: 1, scope: 'affiliate', occurrence: 0 }
  const one = { period: '2026-01', line: of, droppedIn: null, amount: decimal(amount) }
  return differences(withRestoring(booksThrough('2026-04-30', books), [one]))
}

const dropped: readonly Case[] = [
  example(
    'a correction that is taken back restores what statements dropped for it, the earliest first',
    () =>
      restoring(
        {
          statements: DROPPED,
          corrected: decimals({ '2026-01': '-12' }),
          corrections: new Map([
            ['2026-03', decimals({ '2026-01': '-7' })],
            ['2026-02', decimals({ '2026-01': '-5', '2025-12': '-9' })],
            ['2026-01', decimals({ '2026-01': '-3' })],
          ]),
        },
        '12',
      ),
    [
      '2026-01 s v1 affiliate 0: 12',
      '2026-01 dropped in 2026-02: -5',
      '2026-01 dropped in 2026-03: -4',
    ],
  ),
  example(
    'a correction that is made again gives back what was restored, the latest first',
    () =>
      restoring(
        {
          statements: DROPPED,
          corrected: decimals({ '2026-01': '0' }),
          corrections: new Map([
            ['2026-04', decimals({ '2026-01': '12' })],
            ['2026-03', decimals({ '2026-01': '-7' })],
            ['2026-02', decimals({ '2026-01': '-5' })],
          ]),
          restored: new Map([['2026-01', decimals({ '2026-02': '5', '2026-03': '4' })]]),
        },
        '-6',
      ),
    [
      '2026-01 s v1 affiliate 0: -6',
      '2026-01 dropped in 2026-03: 4',
      '2026-01 dropped in 2026-02: 2',
    ],
  ),
  example('a correction restores what its period dropped; the part below 0 gives back what others dropped', () => {
    const corrections = new Map([['2026-02', decimals({ '2026-01': '-5' })]])
    const restored = new Map([['2026-01', decimals({ '2026-01': '3', '2026-02': '5' })]])
    const corrected = decimals({ '2026-01': '3' })
    return [
      restoring({ statements: DROPPED, corrected, corrections, restored }, '-7'),
      restoring({ statements: DROPPED }, '2'),
      restoring({ statements: DROPPED }, '3'),
      restoring({ statements: DROPPED }, '8'),
      restoring({ statements: DROPPED }, '-8'),
      restoring({}, '8'),
    ]
  }, [
    [
      '2026-01 s v1 affiliate 0: -7',
      '2026-01 dropped in 2026-01: 3',
      '2026-01 dropped in 2026-02: 4',
    ],
    ['2026-01 s v1 affiliate 0: 2', '2026-01 dropped in 2026-01: -2'],
    ['2026-01 s v1 affiliate 0: 3', '2026-01 dropped in 2026-01: -3'],
    ['2026-01 s v1 affiliate 0: 8', '2026-01 dropped in 2026-01: -3'],
    ['2026-01 s v1 affiliate 0: -8'],
    ['2026-01 s v1 affiliate 0: 8'],
  ]),
  example('what several corrections restore of one statement is no more than it dropped', () => {
    const books = booksThrough('2026-04-30', {
      statements: new Map([['2026-03', dropping('-10')]]),
      corrected: decimals({ '2026-01': '-6', '2026-02': '-6' }),
      corrections: new Map([['2026-03', decimals({ '2026-01': '-6', '2026-02': '-6' })]]),
    })
    const of = { rule: 's', version: 1, scope: 'affiliate', occurrence: 0 }
    const both = ['2026-01', '2026-02'].map((period) => ({
      ...{ period, line: of, droppedIn: null, amount: decimal('6') },
    }))
    const before = new Map([['2026-01', decimals({ '2026-03': '6' })]])
    return [
      differences(withRestoring(books, both)).slice(2),
      differences(withRestoring({ ...books, restored: before }, both.slice(1))).slice(1),
    ]
  }, [
    ['2026-01 dropped in 2026-03: -6', '2026-02 dropped in 2026-03: -4'],
    ['2026-02 dropped in 2026-03: -4'],
  ]),
  example('what corrections restored before is not restored again', () => {
    const corrections = new Map([['2026-02', decimals({ '2026-01': '-9' })]])
    const restored = new Map([['2026-01', decimals({ '2026-02': '2' })]])
    return restoring(
      { statements: DROPPED, corrections, restored, corrected: decimals({ '2026-01': '-9' }) },
      '11',
    )
  }, [
    '2026-01 s v1 affiliate 0: 11',
    '2026-01 dropped in 2026-01: -2',
    // 9 are taken back, and 2 of the 5 were restored before.
    '2026-01 dropped in 2026-02: -3',
  ]),
  example('what was dropped for a correction is due again when it is taken back, and no more', () => {
    const books = openBooks()
    const of = (withdrawn: number) =>
      paying([FIRST, withdrawal('2026-01-12', withdrawn), deposit('c1', '2026-02-10', 20)], {
        negative: 'zero',
      })
    approve(of(0), books, '2026-01')
    return (
      [
        ['2026-02', 100],
        ['2026-03', 0],
        ['2026-04', 100],
        ['2026-05', 0],
      ] as const
    ).map(([period, withdrawn]) => {
      const found = story(of(withdrawn), books, period)
      approve(of(withdrawn), books, period)
      return found
    })
  }, [
    [
      [
        '2026-02: 0.00 + 2.00 + -10.00 + 0.00',
        '2026-01 s v1 affiliate 0: -10.00',
        'total -8.00: payable 0.00, closing 0.00, dropped -8.00',
      ],
    ],
    [
      [
        '2026-03: 0.00 + 0.00 + 2.00 + 0.00',
        '2026-01 s v1 affiliate 0: 10.00',
        '2026-01 dropped in 2026-02: -8.00',
        'total 2.00: payable 2.00, closing 0.00, dropped 0.00',
      ],
    ],
    [
      [
        '2026-04: 0.00 + 0.00 + -2.00 + 0.00',
        '2026-01 s v1 affiliate 0: -10.00',
        '2026-01 dropped in 2026-02: 8.00',
        'total -2.00: payable 0.00, closing 0.00, dropped -2.00',
      ],
    ],
    [
      [
        '2026-05: 0.00 + 0.00 + 0.00 + 0.00',
        '2026-01 s v1 affiliate 0: 10.00',
        '2026-01 dropped in 2026-02: -8.00',
        '2026-01 dropped in 2026-04: -2.00',
        'total 0.00: payable 0.00, closing 0.00, dropped 0.00',
      ],
    ],
  ]),
]

const MOVING = (more: Partial<PlanTerms> = {}): World => ({
  ...world({
    plans: ['P', 'Q'].map((name) =>
      plan(name, terms([SHARE], { minimum_payout: '50', ...(name === 'Q' && more) })),
    ),
    transactions: [FIRST],
  }),
  assignments: [
    { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
    { affiliate_id: 'A', plan: 'Q', from: '2026-02-01', customers: 'all' },
  ],
})

/** Returns the balances that open statements received, and those that a result transferred. */
const moves = (of: World, books: Bookkeeper, ...periods: string[]): string[] =>
  settle(of, books, periods).flatMap(({ plan: { plan: name }, period, transfer, statement }) => [
    ...(transfer
      ? [
          `${name} ${period.id} sends ${plainText(transfer.amount)} to ${transfer.to} ${transfer.period}`,
        ]
      : []),
    ...(statement?.received ?? []).map(
      (one) => `${name} ${period.id} has ${one.amount} from ${one.from} ${one.period}`,
    ),
  ])

const transfers: readonly Case[] = [
  example('a balance moves to the first period of the new plan that is not closed', () => {
    const books = openBooks()
    books.close('A', 'Q', '2026-02', null)
    books.close('A', 'Q', '2026-03', null)
    return moves(MOVING(), books, '2026-01', '2026-02', '2026-03', '2026-04', '2026-05')
  }, ['P 2026-01 sends 10 to Q 2026-04', 'Q 2026-04 has 10.00 from P 2026-01']),
  example('a balance that was approved for a period closed since moves to the first open one', () => {
    const books = openBooks()
    approve(MOVING(), books, '2026-01')
    books.close('A', 'Q', '2026-02', null)
    return moves(MOVING(), books, '2026-01', '2026-02', '2026-03', '2026-04')
  }, ['P 2026-01 sends 10 to Q 2026-02', 'Q 2026-03 has 10.00 from P 2026-01']),
  example('a balance that an approved statement received does not come again', () => {
    const books = openBooks()
    approve(MOVING(), books, '2026-01')
    const received = moves(MOVING(), books, '2026-02')
    approve(MOVING(), books, '2026-02')
    return [...received, ...moves(MOVING(), books, '2026-02', '2026-03')]
  }, ['Q 2026-02 has 10.00 from P 2026-01']),
  example(
    'the periods whose transfers a period can start with',
    () => {
      const into = (of: World, period: string, through: string | null, name = 'Q') => {
        const found = input(of, {
          booksOf: (_, one) => (through !== null && one === name ? booksThrough(through) : null),
          firstDay: { month: dayOf('2026-01-01'), week: dayOf('2026-02-09') },
        })
        return transferringInto(found, parsePeriod(period)!).map(({ id }) => id)
      }
      const newOnly: World = {
        ...MOVING(),
        assignments: MOVING().assignments.map((one) => ({ ...one, customers: 'new' })),
      }
      return {
        withoutBooks: into(MOVING(), '2026-03', null),
        first: into(MOVING(), '2026-01', null),
        afterClosed: into(MOVING(), '2026-03', '2026-02-28'),
        // Closed by its weeks: the month is open on its last day.
        closedWithin: into(MOVING(), '2026-03', '2026-03-30'),
        closed: into(MOVING(), '2026-03', '2026-03-31'),
        later: into(MOVING(), '2026-04', '2026-02-28'),
        ofNewCustomers: into(newOnly, '2026-03', '2026-02-28'),
        ofAnotherKind: into(MOVING({ period: 'week' }), '2026-03', '2026-02-28'),
        ofNoPlan: into({ ...MOVING(), plans: [] }, '2026-03', '2026-02-28'),
        weekAfterClosed: into(MOVING({ period: 'week' }), '2026-W09', '2026-02-22'),
        weekWithoutBooks: into(MOVING({ period: 'week' }), '2026-W06', null),
        ofOneAffiliate: transferringInto(
          input(
            {
              ...MOVING(),
              affiliates: ['A', 'B'].map((affiliate_id) => ({ affiliate_id, parents: [] })),
            },
            {
              affiliates: ['A', 'B'],
              booksOf: (affiliate, one) =>
                affiliate === 'B' || one !== 'Q' ? null : booksThrough('2026-02-28'),
            },
          ),
          parsePeriod('2026-03')!,
        ).map(({ id }) => id),
        endingOnTheFirstDay: transferringInto(
          input(MOVING(), { firstDay: { month: dayOf('2026-01-31'), week: dayOf('2026-01-31') } }),
          parsePeriod('2026-02')!,
        ).map(({ id }) => id),
      }
    },
    {
      withoutBooks: ['2026-02'],
      first: [],
      afterClosed: ['2026-01', '2026-02', '2026-W07', '2026-W08'],
      closedWithin: ['2026-01', '2026-02', '2026-W07', '2026-W08'],
      closed: ['2026-02'],
      later: ['2026-03'],
      ofNewCustomers: ['2026-02'],
      // The weeks of `Q` can move to `P`.
      ofAnotherKind: ['2026-02', '2026-W07', '2026-W08'],
      ofNoPlan: ['2026-02'],
      weekAfterClosed: ['2026-01', '2026-W07', '2026-W08'],
      weekWithoutBooks: ['2026-01'],
      ofOneAffiliate: [
        ...['2026-01', '2026-02'],
        ...['1', '2', '3', '4', '5', '6', '7', '8'].map((week) => `2026-W0${week}`),
      ],
      endingOnTheFirstDay: ['2026-01'],
    },
  ),
]

/** Examples of closed periods: adjustments, manual entries, and what is restored or moves. */
export const BOOKS: readonly Case[] = [...adjustments, ...parts, ...dropped, ...transfers]
