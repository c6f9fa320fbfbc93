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
  subtract,
} from '../../commission/engine/decimal.ts'
import { amountOf, compareText, type Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { documentation } from '../../validation/fields.ts'
import { countFigure, magnitude } from '../figures.ts'
import { defineKind, evidenceOf, factsOf, type OwnFact } from '../kind.ts'
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
    const rows = factsOf(view, 'trading-activity', day - window_days + 1, day)
    const isHedge = (a: Fact, b: Fact) =>
      isOpposite(profitOf(a), profitOf(b)) &&
      isWithin(lotsOf(a), lotsOf(b), lots_percent) &&
      isWithin(magnitude(profitOf(a)), magnitude(profitOf(b)), pnl_percent)
    const pairs = new Map<string, { a: OwnFact; b: OwnFact }[]>()
    for (const group of Map.groupBy(rows, tradeOf).values()) {
      for (const [a, b] of pairsOf(group)) {
        if (!isHedge(a.fact, b.fact)) continue
        const key = JSON.stringify([a.customer.customer_id, b.customer.customer_id])
        pairs.set(key, [...(pairs.get(key) ?? []), { a, b }])
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
          figures: [countFigure('days_with_opposite_trades', hedged, least, 'days')],
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
const isWithin = (a: Decimal, b: Decimal, percent: string): boolean => {
  const most = greatest(a, b)
  const difference = magnitude(subtract(a, b))
  return compare(multiply(difference, integer(100)), multiply(most, decimal(percent))) <= 0
}

/** Names the trades that are compared: those of a day in an instrument and currency. */
const tradeOf = ({ fact }: OwnFact): string =>
  JSON.stringify([fact.day, fact.instrument, fact.currency])

/** Returns all pairs of rows of different customers, each in order of the customers' ids. */
function pairsOf(rows: readonly OwnFact[]): [OwnFact, OwnFact][] {
  const sorted = rows.toSorted((a, b) =>
    compareText(a.customer.customer_id, b.customer.customer_id),
  )
  return sorted.flatMap((a, i) => sorted.slice(i + 1).map((b): [OwnFact, OwnFact] => [a, b]))
}
