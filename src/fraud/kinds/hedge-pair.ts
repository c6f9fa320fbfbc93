import {
  compare,
  type Decimal,
  decimal,
  fromFact,
  greatest,
  integer,
  isNegative,
  isZero,
  multiply,
  quotient,
  subtract,
} from '../../commission/engine/decimal.ts'
import { amountOf, compareText, type Fact } from '../../commission/engine/facts.ts'
import { memoize } from '../../commission/engine/memoize.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { documentation } from '../../validation/fields.ts'
import { atMostFigure, countFigure, magnitude } from '../figures.ts'
import { TooManyFindings } from '../findings.ts'
import { defineKind, evidenceOf, type Figure, factsOf, type OwnFact, type View } from '../kind.ts'
import { count, days, share } from '../parameters.ts'

/** Two customers of an affiliate who hold opposite sides of the same trades on several days. */
export const hedgePair = defineKind({
  kind: 'hedge_pair',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    days: count(3, documentation('The fewest days with opposite trades.')),
    window_days: days(30, documentation('The days in which they are counted.')),
    lots_percent: share(
      '1',
      documentation('How far the lots may differ, in percent of the greater ones.'),
    ),
    pnl_percent: share(
      '10',
      documentation('How far profit and loss may differ, in percent of the greater one.'),
    ),
  }),
  labels: {
    days: { label: 'Fewest days with opposite trades', is: 'whole', unit: 'days' },
    window_days: { label: 'Days in which they are counted', is: 'whole', unit: 'days' },
    lots_percent: { label: 'Lots differ by at most', is: 'percent' },
    pnl_percent: { label: 'Profit and loss differ by at most', is: 'percent' },
  },
  words: ({ days: least, window_days, lots_percent, pnl_percent }) => ({
    when: `two customers of the affiliate traded opposite sides of the same instrument on at least ${counted(least, 'day')} of ${window_days}, with lots that differ by at most ${figure(lots_percent)} % and profit and loss that differ by at most ${figure(pnl_percent)} %`,
  }),
  reach: ({ window_days }) => ({ 'trading-activity': window_days }),
  doubts: ({ days: least, window_days, lots_percent, pnl_percent }) => [
    ...(least > window_days
      ? [
          {
            pointer: '/days',
            holds: 'never' as const,
            because: `There are ${counted(window_days, 'day')} in \`window_days\`.`,
          },
        ]
      : []),
    ...Object.entries({ lots_percent, pnl_percent })
      .filter(([, percent]) => compare(decimal(percent), integer(100)) >= 0)
      .map(([name]) => ({
        pointer: `/${name}`,
        holds: 'always' as const,
        because: 'Any two amounts differ by at most 100 % of the greater one.',
      })),
  ],
  find(view, day, { days: least, window_days, lots_percent, pnl_percent }) {
    const hedgesOn = hedgeFinder(view, lots_percent, pnl_percent)
    const pairs = new Map<string, Hedge[]>()
    for (let one = day - window_days + 1; one <= day; one++) {
      for (const hedge of hedgesOn(one)) {
        const key = JSON.stringify([hedge.a.customer.customer_id, hedge.b.customer.customer_id])
        const known = pairs.get(key)
        if (known) known.push(hedge)
        else pairs.set(key, [hedge])
      }
    }
    return [...pairs.values()].flatMap((hedges) => {
      const [first] = hedges
      const hedged = new Set(hedges.map(({ a }) => a.fact.day)).size
      if (!first || hedged < least) return []
      return [
        {
          subject: {
            customer_ids: [first.a.customer.customer_id, first.b.customer.customer_id] as const,
          },
          figures: [
            countFigure('days_with_opposite_trades', hedged, least, 'days'),
            differenceFigure('difference_of_lots', hedges.map(lotsOfBoth), lots_percent),
            differenceFigure(
              'difference_of_profit_and_loss',
              hedges.map(profitsOfBoth),
              pnl_percent,
            ),
          ],
          sentence: `Two customers held opposite sides of the same trades on ${counted(hedged, 'day')} of ${window_days}.`,
          evidence: evidenceOf(hedges.flatMap(({ a, b }) => [a, b])),
        },
      ]
    })
  },
  sees: 'The lots and the profit or loss of each customer by day and instrument.',
  cannotSee:
    'Trades within a day are summed, so two sides that were held at different hours look the same as one hedge, and a hedge within other trades is not seen. Customers of different affiliates are not compared.',
})

const lotsOf = (fact: Fact): Decimal => fromFact(amountOf(fact, 'lots_traded'))
const profitOf = (fact: Fact): Decimal => fromFact(amountOf(fact, 'pnl'))

const isOpposite = (a: Decimal, b: Decimal): boolean =>
  !isZero(a) && !isZero(b) && isNegative(a) !== isNegative(b)

/** Returns whether two amounts of 0 or more differ by at most so many percent of the greater one. */
const isWithin = (a: Decimal, b: Decimal, percent: Decimal): boolean => {
  const most = greatest(a, b)
  const difference = magnitude(subtract(a, b))
  return compare(multiply(difference, integer(100)), multiply(most, percent)) <= 0
}

/** Two amounts of 0 or more that are compared. */
type Both = readonly [Decimal, Decimal]

const lotsOfBoth = ({ a, b }: Hedge): Both => [lotsOf(a.fact), lotsOf(b.fact)]
const profitsOfBoth = ({ a, b }: Hedge): Both => [
  magnitude(profitOf(a.fact)),
  magnitude(profitOf(b.fact)),
]

/** The places of differences in percent. */
const PLACES = 2

/** Returns a figure of the largest difference of two amounts, in percent of the greater one. */
function differenceFigure(name: string, compared: readonly Both[], percent: string): Figure {
  const [difference, most] = compared.reduce<Both>(
    (largest, [a, b]) => {
      const own = [magnitude(subtract(a, b)), greatest(a, b)] as const
      const isLarger = compare(multiply(own[0], largest[1]), multiply(largest[0], own[1])) > 0
      return isLarger ? own : largest
    },
    [integer(0), integer(1)],
  )
  const value = quotient(multiply(difference, integer(100)), most, PLACES)
  return atMostFigure(name, value, percent, 'percent')
}

/** Names the trades that are compared: those of a day in an instrument and currency. */
const tradeOf = ({ fact }: OwnFact): string => JSON.stringify([fact.instrument, fact.currency])

/** Opposite trades of two customers, in the order of their ids. */
interface Hedge {
  readonly a: OwnFact
  readonly b: OwnFact
}

/**
 * How often rows of an affiliate are compared, those of a day and all, and the hedges that are found: an
 * affiliate with more has too many records.
 */
const MOST = { comparedOfDay: 500_000, compared: 5_000_000, hedges: 100_000 }

type HedgeFinder = (day: number) => readonly Hedge[]

// The hedges of a day lie in the windows of many days: they are found once for each view.
const finders = new WeakMap<View, Map<string, HedgeFinder>>()

/**
 * Returns a function that finds the hedges of a day.
 *
 * @throws TooManyFindings by that function if too many rows have been compared, or hedges found.
 */
function hedgeFinder(view: View, lots_percent: string, pnl_percent: string): HedgeFinder {
  const known = finders.get(view) ?? new Map<string, HedgeFinder>()
  finders.set(view, known)
  const key = `${lots_percent} ${pnl_percent}`
  const found = known.get(key) ?? newHedgeFinder(view, lots_percent, pnl_percent)
  known.set(key, found)
  return found
}

function newHedgeFinder(view: View, lots_percent: string, pnl_percent: string): HedgeFinder {
  const all = factsOf(view, 'trading-activity', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  const byDay = Map.groupBy(all, ({ fact }) => fact.day)
  const [lotsPercent, profitPercent] = [decimal(lots_percent), decimal(pnl_percent)]
  let ofDay = 0
  let compared = 0
  let found = 0
  const hedgesAmong = (rows: readonly OwnFact[]): Hedge[] => {
    const sorted = rows
      .map((row) => ({ row, lots: lotsOf(row.fact), profit: profitOf(row.fact) }))
      .sort((a, b) => compare(a.lots, b.lots))
    return sorted.flatMap((one, i) => {
      const hedges: Hedge[] = []
      for (let j = i + 1; j < sorted.length; j++) {
        const other = sorted[j]
        // Those that follow have more lots, which differ even more.
        if (!other || !isWithin(one.lots, other.lots, lotsPercent)) break
        if (++ofDay > MOST.comparedOfDay || ++compared > MOST.compared) throw new TooManyFindings()
        if (!isOpposite(one.profit, other.profit)) continue
        if (!isWithin(magnitude(one.profit), magnitude(other.profit), profitPercent)) continue
        if (++found > MOST.hedges) throw new TooManyFindings()
        const isInOrder = compareText(idOf(one.row), idOf(other.row)) < 0
        hedges.push(isInOrder ? { a: one.row, b: other.row } : { a: other.row, b: one.row })
      }
      return hedges
    })
  }
  return memoize((day: number) => {
    ofDay = 0
    return [...Map.groupBy(byDay.get(day) ?? [], tradeOf).values()].flatMap(hedgesAmong)
  })
}

const idOf = ({ customer }: OwnFact): string => customer.customer_id
