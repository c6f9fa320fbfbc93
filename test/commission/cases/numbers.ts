import {
  closedRateFinder,
  conversionOf,
  convertFact,
  rateFinder,
  rateLookup,
} from '../../../src/commission/engine/convert.ts'
import {
  decimal,
  divideHalfEven,
  factAmount,
  fixedText,
  floorTo,
  greatest,
  isNegative,
  isPositive,
  least,
  plainText,
  powerOfTen,
  round,
  ZERO,
} from '../../../src/commission/engine/decimal.ts'
import { amountOf, compareText } from '../../../src/commission/engine/facts.ts'
import { applyMax, type Line, limitLine } from '../../../src/commission/engine/line.ts'
import {
  addRatio,
  exactText,
  parseRatio,
  ratio,
  subtractRatio,
} from '../../../src/commission/engine/ratio.ts'
import { applyFence } from '../../../src/commission/engine/settle.ts'
import { closeState, NO_STATE, openState } from '../../../src/commission/engine/state.ts'
import { addToGroup, newCustomerTally } from '../../../src/commission/engine/tally.ts'
import { compileTerm } from '../../../src/commission/engine/terms.ts'
import { fact } from './build.ts'
import { type Case, example } from './case.ts'

const third = ratio(decimal('1'), decimal('3'))

/** Builds as much of a line as caps read. */
const line = (amount: string, effectiveFrom: number, max: string | null): Line =>
  ({
    amount: decimal(amount),
    capped: ZERO,
    version: { effectiveFrom },
    rule: { max: max === null ? null : decimal(max) },
  }) as unknown as Line

const amounts = (lines: readonly Line[]) =>
  lines.map(({ amount, capped }) => `${plainText(amount)} ${plainText(capped)}`)

const fence = (
  base: string,
  customers: Record<string, string>,
  thresholds = { customer: '-1', affiliate: '-1' },
) => {
  const { fenced, toPayBack } = applyFence(
    { customer: decimal(thresholds.customer), affiliate: decimal(thresholds.affiliate) },
    decimal(base),
    new Map(Object.entries(customers).map(([id, text]) => [id, decimal(text)])),
    new Map(),
  )
  return [plainText(fenced), ...[...toPayBack].map(([id, part]) => `${id} ${plainText(part)}`)]
}

const NO_RATES = () => 'fx_missing' as const

/** Examples of decimals, ratios, caps, the fence, conversion and stored states. */
export const NUMBERS: readonly Case[] = [
  example('decimals keep the digits of their text', () => ['-0.20', '5', '.5'].map(decimal), [
    { units: -20n, scale: 2 },
    { units: 5n, scale: 0 },
    { units: 5n, scale: 1 },
  ]),
  example(
    'powers of ten beyond the table',
    () => [0, 63, 64, 70].map((exponent) => powerOfTen(exponent)),
    [1n, 10n ** 63n, 10n ** 64n, 10n ** 70n],
  ),
  example(
    'amounts of facts from the shortest text of a double',
    () => [0, 0.1, -2.5, 1e-7, -2.5e-10, 0.125, 1e13, 1e22, 1.5e21].map(factAmount),
    [
      0n,
      100_000_000_000n,
      -2_500_000_000_000n,
      100_000n,
      -250n,
      125_000_000_000n,
      10n ** 25n,
      10n ** 34n,
      15n * 10n ** 32n,
    ],
  ),
  example('0 is neither negative nor positive', () => [isNegative(ZERO), isPositive(ZERO)], [
    false,
    false,
  ]),
  example('of equal decimals the first is the smaller and the larger', () => {
    const a = decimal('1')
    const b = decimal('1.0')
    return [least(a, b) === a, greatest(a, b) === a]
  }, [true, true]),
  example(
    'divisions round half to even on both sides of 0',
    () => [5n, 15n, 25n, -5n, -15n, -25n, -14n, -16n, 20n, -20n].map((x) => divideHalfEven(x, 10n)),
    [0n, 2n, 2n, 0n, -2n, -2n, -1n, -2n, 2n, -2n],
  ),
  example(
    'rounding down keeps what has no more digits, and goes below 0',
    () => ['1.29', '-1.21', '1.2', '5'].map((text) => floorTo(decimal(text), 1)),
    [decimal('1.2'), decimal('-1.3'), decimal('1.2'), decimal('5')],
  ),
  example(
    'texts have the minor digits, or no trailing zeros, and never -0',
    () => [
      fixedText(decimal('-0.004'), 2),
      fixedText(decimal('-1.5'), 0),
      fixedText(round(decimal('1234.5'), 3), 3),
      plainText(decimal('-0.50')),
      plainText(decimal('100')),
      plainText(decimal('-0.00')),
    ],
    ['0.00', '-2', '1234.500', '-0.5', '100', '0'],
  ),
  example(
    'ratios of one divisor keep it',
    () => [
      exactText(addRatio(third, third)),
      exactText(subtractRatio(third, third)),
      exactText(addRatio(third, ratio(decimal('1')))),
      exactText(subtractRatio(ratio(decimal('1')), third)),
      exactText(ratio(decimal('5.50'))),
    ],
    ['2/3', '0/3', '4/3', '2/3', '5.5'],
  ),
  example('ratios are read as they were written', () => [parseRatio('5.5'), parseRatio('-1/3')], [
    ratio(decimal('5.5')),
    ratio(decimal('-1'), decimal('3')),
  ]),
  example(
    'texts stand in the order of code points, surrogates last',
    () => ['\u{1f600}', '\ue000', '\uffff', 'b', 'a', 'ab', '\ud7ff'].sort(compareText),
    ['a', 'ab', 'b', '\ud7ff', '\ue000', '\uffff', '\u{1f600}'],
  ),
  example('a high surrogate alone is one, too', () => compareText('\ud800', '\uffff') > 0, true),
  example('an amount that a fact lacks is 0', () => amountOf(fact(), 'pnl'), 0n),
  example(
    'an amount in another currency needs a rate, alone and in a base',
    () => [
      convertFact(fact({ currency: 'USD' }), 'pnl', 'USD', 'EUR', NO_RATES),
      convertFact(fact(), 'pnl', 'EUR', 'EUR', NO_RATES),
      convertFact(fact(), 'pnl', null, 'EUR', NO_RATES),
    ],
    ['fx_missing', { units: 0n, scale: 12 }, 'no_currency'],
  ),
  example('facts of a day convert together, also if one comes after those of a later day', () => {
    const tally = newCustomerTally()
    const term = compileTerm({ transactions: ['deposit'] })
    for (const day of [2, 3, 2, 1, 3]) {
      const one = fact({ day, amounts: new Map([['amount_currency', 1n]]) })
      addToGroup(tally, term, one, 'EUR', NO_RATES)
    }
    return tally.groups.map(({ day, units }) => [day, units])
  }, [
    [1, 1n],
    [2, 2n],
    [3, 2n],
  ]),
  example('`amount_usd` stands for `amount_currency` alone', () => {
    const one = fact({ currency: 'JPY', amounts: new Map([['amount_usd', 7n]]) })
    return ['amount_currency', 'pnl'].map((field) =>
      conversionOf(one, field, 'JPY', 'USD', NO_RATES),
    )
  }, [
    { by: 'usd', from: 'JPY', converted: 7n },
    { by: 'none', reason: 'fx_missing' },
  ]),
  example('the rate that applies is the last one, at most 7 days old; nothing is published after the last day', () => {
    const find = rateFinder({
      rates: [
        { currency: 'USD', day: 10, rate: '1.1' },
        { currency: 'USD', day: 12, rate: '1.2' },
      ],
      lastDay: 20,
    })
    return [
      find('EUR', 99),
      find('USD', 9),
      find('USD', 11),
      find('USD', 19),
      find('USD', 20),
      find('USD', 21),
      find('JPY', 20),
      rateFinder({ rates: [], lastDay: null })('USD', 1),
    ]
  }, [
    { rate: decimal('1'), day: 99 },
    'fx_missing',
    { rate: decimal('1.1'), day: 10 },
    { rate: decimal('1.2'), day: 12 },
    'fx_missing',
    'fx_pending',
    'fx_missing',
    'fx_pending',
  ]),
  example('a closed period keeps the rate of its approval, and takes a later one where it had none', () => {
    const before = rateFinder({ rates: [{ currency: 'USD', day: 1, rate: '2' }], lastDay: 20 })
    const now = rateFinder({
      rates: [
        { currency: 'USD', day: 1, rate: '3' },
        { currency: 'USD', day: 20, rate: '4' },
      ],
      lastDay: 20,
    })
    const find = rateLookup(closedRateFinder(before, now))
    return [find('USD', 1), find('USD', 20), find('JPY', 1)]
  }, [decimal('2'), decimal('4'), 'fx_missing']),
  example(
    '`max` of the latest version cuts the last lines, which keep their order',
    () => amounts(applyMax([line('5', 2, '6'), line('3', 1, '1'), line('-1', 1, '1')])),
    ['5 0', '2 1', '-1 0'],
  ),
  example(
    '`max` of the latest version, in another order',
    () => amounts(applyMax([line('3', 1, '1'), line('5', 2, '6')])),
    ['3 0', '3 2'],
  ),
  example(
    'without `max` lines stay, and so does no line',
    () => [amounts(applyMax([line('3', 1, '1'), line('5', 2, null)])), applyMax([])],
    [['3 0', '5 0'], []],
  ),
  example('a limit cuts what exceeds it, and nothing at the limit', () => {
    const one = line('5', 1, null)
    return [limitLine(one, decimal('5')) === one, amounts([limitLine(one, decimal('4'))])]
  }, [true, ['4 1']]),
  example(
    'a fenced loss is shared in proportion; the last customer id takes the remainder',
    () => fence('-1', { c: '-1', b: '-1', a: '-1', d: '2' }),
    ['1', 'a 0.333333333333', 'b 0.333333333333', 'c 0.333333333334'],
  ),
  example(
    'a customer without a loss has no share, although the threshold is 0',
    () => fence('-1', { c: '0', b: '-2', a: '-1' }, { customer: '0', affiliate: '0' }),
    ['1', 'a 0.333333333333', 'b 0.666666666667'],
  ),
  example(
    'a base of 0 fences nothing',
    () => fence('0', { a: '-10', b: '10' }, { customer: '-5', affiliate: '0' }),
    ['0'],
  ),
  example(
    'the state before the first period is empty',
    () => closeState(openState(NO_STATE), ZERO),
    NO_STATE,
  ),
  example(
    'a state leaves out what is 0, and its keys are in order',
    () =>
      JSON.stringify(
        closeState(
          {
            carries: new Map([
              ['b', decimal('-1.50')],
              ['a', decimal('-2')],
              ['c', ZERO],
            ]),
            deficits: new Map([['z', ZERO]]),
            fences: new Map([
              [
                'f',
                new Map([
                  ['c2', decimal('1')],
                  ['c1', decimal('2')],
                ]),
              ],
              ['e', new Map([['c1', ZERO]])],
            ]),
            measures: new Map(),
          },
          decimal('1.0'),
        ),
      ),
    '{"closing":"1","carries":{"a":"-2","b":"-1.5"},"deficits":{},"fences":{"f":{"c1":"2","c2":"1"}},"measures":{}}',
  ),
]
