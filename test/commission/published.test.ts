import { describe, expect, test } from 'vitest'
import type { Rule } from '../../src/commission/plans/types.ts'
import { at, customer, deposit, plan, terms, world, worldOf } from './build.ts'
import { evaluate as evaluateByEngine } from './engine.ts'
import { evaluate as evaluateByOracle } from './oracle/evaluate.ts'
import type { OutcomeLine, World } from './world.ts'

// Rules and figures that affiliate programs publish. The engine must pay the published amount, and the
// oracle the same. Each test names its source, or the chapter of the contract that gives the example.

/** Returns the lines of a period by affiliate. The oracle must give the same. */
function linesOf(of: World, period: string, affiliate = 'A'): OutcomeLine[] {
  const found = evaluateByEngine(of, [period])
  expect(evaluateByOracle(structuredClone(of), [period])).toEqual(found)
  return found[0]!.statements
    .filter(({ affiliate_id }) => affiliate_id === affiliate)
    .flatMap(({ lines }) => lines)
}

const amountsOf = (of: World, period: string, affiliate = 'A') =>
  linesOf(of, period, affiliate).map(({ rule, amount }) => `${rule} ${amount}`)

const share = (more: object = {}): Rule => ({
  id: 'share',
  kind: 'share',
  percent: '30',
  base: [{ transactions: ['deposit'] }],
  ...more,
})

// §12 "Advance" of the contract.
describe('a CPA as an advance on the revenue share', () => {
  const cpa: Rule = {
    id: 'cpa',
    kind: 'once',
    trigger: { transactions: ['deposit'] },
    amount: '20',
  }
  const advance = (revenue: number, next = 0) =>
    worldOf([cpa, share({ percent: '10', recoups: 'cpa' })], {
      transactions: [
        deposit('c1', '2026-01-02', revenue),
        ...(next > 0 ? [deposit('c1', '2026-02-02', next)] : []),
      ],
    })

  test('20 in advance against a share of 21 pays 1', () => {
    expect(amountsOf(advance(210), '2026-01')).toEqual(['cpa 20.00', 'share 1.00'])
  })

  test('what the share of one month does not cover, the next must', () => {
    expect(amountsOf(advance(50, 160), '2026-01')).toEqual(['cpa 20.00', 'share 0.00'])
    expect(amountsOf(advance(50, 160), '2026-02')).toEqual(['share 1.00'])
  })
})

// §12 `override` of the contract.
describe('a master affiliate', () => {
  const masterOf = (rules: Rule[], percent: string, revenue: number): World =>
    world({
      affiliates: [
        { affiliate_id: 'M', parents: [{ from: null, parent: null }] },
        { affiliate_id: 'A', parents: [{ from: null, parent: 'M' }] },
      ],
      plans: [
        plan('P', terms(rules)),
        plan(
          'master',
          terms([{ id: 'up', kind: 'override', level: 1, of: { lines: ['share'] }, percent }]),
        ),
      ],
      assignments: [
        { affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' },
        { affiliate_id: 'M', plan: 'master', from: '2026-01-01', customers: 'all' },
      ],
      transactions: [deposit('c1', '2026-01-02', revenue)],
    })

  test('10 % of 30 % of 1000 is 30', () => {
    expect(amountsOf(masterOf([share()], '10', 1000), '2026-01', 'M')).toEqual(['up 30.00'])
    expect(amountsOf(masterOf([share()], '10', 1000), '2026-01')).toEqual(['share 300.00'])
  })

  // betlink.ai/glossary/sub-affiliate-commission, "Example": the referred affiliate earns 8,000 EUR in
  // a month, the terms pay 10 %, the referrer receives 800 EUR.
  test('10 % of the 8,000 EUR of a referred affiliate is 800 EUR', () => {
    const of = masterOf([share({ percent: '40' })], '10', 20_000)
    expect(amountsOf(of, '2026-01', 'M')).toEqual(['up 800.00'])
    expect(amountsOf(of, '2026-01')).toEqual(['share 8000.00'])
  })
})

// The high-roller policy of Carat Partners, as quoted in thepogg.com/forum/viewtopic.php?f=26&t=2126,
// clauses 6.15 to 6.15.4: customer -7,000 or worse and affiliate -2,000 or worse.
describe('the high-roller policy of Carat Partners', () => {
  const fence = { customer: '-7000', affiliate: '-2000' }
  const revenue = (months: Record<string, number>[]): World =>
    worldOf([share({ negative: 'zero', fence })], {
      customers: ['big', 'bigger', 'other'].map((id) => customer(id)),
      transactions: months.flatMap((month, index) =>
        Object.entries(month).map(([id, value]) => deposit(id, `2026-0${index + 1}-02`, value)),
      ),
    })
  const fenced = (months: Record<string, number>[], period: string) => {
    const [line] = linesOf(revenue(months), period)
    return [line!.base, line!.fence?.paid_back, line!.fence?.fenced, line!.amount]
  }

  test('6.15: from -7,000 of a customer and -2,000 of all on, the loss is the customer’s alone', () => {
    expect(fenced([{ big: -7000, other: 5000 }], '2026-01')).toEqual(['0', '0', '2000', '0.00'])
    expect(fenced([{ big: -6999.99, other: 4000 }], '2026-01')[2]).toBe('0')
    expect(fenced([{ big: -7000, other: 5000.01 }], '2026-01')[2]).toBe('0')
  })

  test('6.15.1, 6.15.4: later revenue of the customer pays it back, that of others does not', () => {
    const months = [{ big: -10_000, other: 5000 }, { big: 3000, other: 1000 }, { big: 2500 }]
    expect(fenced(months, '2026-01')).toEqual(['0', '0', '5000', '0.00'])
    expect(fenced(months, '2026-02')).toEqual(['1000', '3000', '0', '300.00'])
    expect(fenced(months, '2026-03')).toEqual(['500', '2000', '0', '150.00'])
  })

  test('6.15.2: the balance is at most what all customers lost together', () => {
    expect(fenced([{ big: -50_000, other: 47_000 }], '2026-01')[2]).toBe('3000')
  })

  test('6.15.3: several big winners share the balance in proportion', () => {
    const months = [
      { bigger: -14_000, big: -7000, other: 18_000 },
      { bigger: 2500, big: 2500 },
    ]
    expect(fenced(months, '2026-01')).toEqual(['0', '0', '3000', '0.00'])
    // 2,000 and 1,000 are fenced: 500 of one and 1,500 of the other remain.
    expect(fenced(months, '2026-02')).toEqual(['2000', '3000', '0', '600.00'])
  })

  test('6.15.4: a loss below the threshold adds nothing to the balance', () => {
    const months = [{ big: -10_000 }, { big: -3000, other: 4000 }, { big: 12_000 }]
    expect(fenced(months, '2026-02')).toEqual(['1000', '0', '0', '300.00'])
    expect(fenced(months, '2026-03')).toEqual(['2000', '10000', '0', '600.00'])
  })
})

// §12 "Tiers" of the contract.
describe('retroactive against incremental tiers', () => {
  const steps = [
    { from: '0', amount: '3' },
    { from: '50', amount: '5' },
    { from: '100', amount: '7' },
  ]
  const lots = (mode: 'whole' | 'slice', ...traded: number[]): World =>
    worldOf(
      [{ id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, tiers: { mode, steps } }],
      {
        activity: traded.map((lots_traded, index) => ({
          date: `2026-01-0${index + 2}`,
          customer_id: 'c1',
          instrument: 'EURUSD',
          currency: 'EUR',
          lots_traded,
        })),
      },
    )

  test('lots at 3, 5 and 7: the tier that is reached pays for all', () => {
    const paid = [49.99, 50, 99.99, 100, 120].map(
      (one) => amountsOf(lots('whole', one), '2026-01')[0],
    )
    expect(paid).toEqual([
      'lots 149.97',
      'lots 250.00',
      'lots 499.95',
      'lots 700.00',
      'lots 840.00',
    ])
  })

  test('lots at 3, 5 and 7: the ladder pays each part at its own rate', () => {
    const paid = [49.99, 50, 100, 120].map((one) => amountsOf(lots('slice', one), '2026-01')[0])
    expect(paid).toEqual(['lots 149.97', 'lots 150.00', 'lots 400.00', 'lots 540.00'])
    expect(linesOf(lots('slice', 70, 50), '2026-01')[0]!.step).toEqual([
      { from: '0', part: '50', rate: '3' },
      { from: '50', part: '50', rate: '5' },
      { from: '100', part: '20', rate: '7' },
    ])
  })

  // pastebin.com/F832AA6M, "Example #2": sales of a calendar month under 1,000 at 10 %, up to 2,000
  // at 12 %, up to 3,000 at 14 %. Both readings of "tier" are in use, and differ by 60 here.
  test('2,500 of sales: 350 as a tier, 290 as a ladder', () => {
    const percents = [
      { from: '0', percent: '10' },
      { from: '1000', percent: '12' },
      { from: '2000', percent: '14' },
    ]
    const paid = (['whole', 'slice'] as const).map((mode) =>
      amountsOf(
        worldOf([share({ percent: undefined as never, tiers: { mode, steps: percents } })], {
          transactions: [deposit('c1', '2026-01-02', 2500)],
        }),
        '2026-01',
      ),
    )
    expect(paid).toEqual([['share 350.00'], ['share 290.00']])
  })

  // dbinvesting.com, "How Much Can You Generate Per Lot?": 100 lots a month at 8, 33 and 38 a lot.
  test.each([
    ['8', 'lots 800.00'],
    ['33', 'lots 3300.00'],
    ['38', 'lots 3800.00'],
  ])('100 lots at %s pay %s', (amount, paid) => {
    const of = worldOf([{ id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount }], {
      activity: lots('whole', 100).activity,
    })
    expect(amountsOf(of, '2026-01')).toEqual([paid])
  })
})

// track360.io/blog/ai-companion-affiliate-commission-models-cpa-revshare-hybrid-2026: $20 a month;
// CPA $25, 30 % or $10 + 25 %, for a customer who stays 1 or 4 months.
describe('CPA, revenue share and hybrid of a subscription', () => {
  const paid = (rules: Rule[], months: number) => {
    const of = worldOf(rules, {
      transactions: Array.from({ length: months }, (_, index) =>
        deposit('c1', `2026-0${index + 1}-02`, 20, { at: at(`2026-0${index + 1}-02`) }),
      ),
    })
    return Array.from({ length: months }, (_, index) => linesOf(of, `2026-0${index + 1}`))
      .flat()
      .reduce((sum, { amount }) => sum + Number(amount), 0)
  }
  const cpa = (amount: string): Rule => ({
    id: 'cpa',
    kind: 'once',
    trigger: { transactions: ['deposit'] },
    amount,
  })

  test.each([
    [1, 25, 6, 15],
    [4, 25, 24, 30],
  ])('after %i months: CPA %i, share %i, hybrid %i', (months, flat, revenue, hybrid) => {
    expect(paid([cpa('25')], months)).toBe(flat)
    expect(paid([share()], months)).toBe(revenue)
    expect(paid([cpa('10'), share({ percent: '25' })], months)).toBe(hybrid)
  })
})
