import {
  type Decimal,
  decimal,
  fromFact,
  greatest,
  integer,
  isZero,
  multiply,
  powerOfTen,
  quotient,
  subtract,
} from '../../commission/engine/decimal.ts'
import { amountOf, compareText } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { customersWith } from '../../db/fraud/candidates.ts'
import { said } from '../../validation/fields.ts'
import { atMostFigure, countFigure, magnitude } from '../figures.ts'
import { defineKind, evidenceOf, factsOf, type OwnFact, type View } from '../kind.ts'
import { count, days, share } from '../parameters.ts'

/** Customers of an affiliate who hold opposite sides of the same trades on several days. */
export const hedgePair = defineKind({
  kind: 'hedge_pair',
  name: 'Two customers on opposite sides',
  severity: 'high',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    days: count(3, said('The fewest days with opposite trades.')),
    window_days: days(30, said('The days in which they are counted.')),
    lots_percent: share('1', said('How far the lots may differ, in percent of the greater ones.')),
    pnl_percent: share(
      '10',
      said('How far profit and loss may differ, in percent of the greater one.'),
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
  candidates: () => ({ sql: customersWith('activity') }),
  glance: (parameters) => ({ parameters: { ...parameters, days: 1, window_days: 1 } }),
  find(view, day, { days: least, window_days, lots_percent, pnl_percent }) {
    const { pairs, crowds: crowded } = windowOf(view, day, window_days, [lots_percent, pnl_percent])
    const crowds = [...crowded.values()].filter((rows) => rows.length > 0)
    const isNew = (cluster: readonly Pair[]) =>
      cluster.some((pair) => pair.some(({ a }) => a.fact.day === day))
    const found = clustersOf(pairs.filter((pair) => daysOf(pair) >= least)).filter(isNew)
    const clusters = found.map((cluster) => {
      const { rows, lots, pnl } = totalsOf(cluster)
      const ids = [...new Set(rows.map(idOf))].sort(compareText)
      const hedged = new Set(rows.map(({ fact }) => fact.day)).size
      return {
        // All of a cluster are in the evidence: its first two name it, so that a case goes on if it grows.
        subject: { customer_ids: [ids[0] ?? '', ids[1] ?? ''] as const },
        figures: [
          countFigure('days_with_opposite_trades', hedged, least, 'days'),
          atMostFigure(
            'difference_of_lots',
            differenceOf(lots, 'lots_traded'),
            lots_percent,
            'percent',
          ),
          atMostFigure(
            'difference_of_profit_and_loss',
            differenceOf(pnl, 'pnl'),
            pnl_percent,
            'percent',
          ),
        ],
        sentence: `${counted(ids.length, 'customer')} held opposite sides of the same trades on ${counted(hedged, 'day')} of ${window_days}.`,
        evidence: evidenceOf(rows),
      }
    })
    if (crowds.length < least || !crowded.get(day)?.length) return clusters
    const crowd = {
      subject: { affiliate_id: view.affiliate_id },
      figures: [countFigure('days_with_too_many_opposite_trades', crowds.length, least, 'days')],
      sentence: `On ${counted(crowds.length, 'day')} of ${window_days} too many customers held opposite sides of the same trades to compare them one by one.`,
      evidence: evidenceOf(crowds.flat()),
    }
    return [...clusters, crowd]
  },
  titles: {
    difference_of_lots: 'Largest difference of the lots',
    difference_of_profit_and_loss: 'Largest difference of profit and loss',
  },
  sees: 'The lots and the profit or loss of each customer by day and instrument.',
  cannotSee:
    'Trades within a day are summed, so two sides that were held at different hours look the same as one hedge, and a hedge within other trades is not seen. Customers of different affiliates are not compared, nor instruments whose names differ by more than letter case and a suffix.',
})

/** Opposite trades of two customers: how far their amounts differ, as a share of the greater one. */
interface Hedge {
  readonly a: OwnFact
  readonly b: OwnFact
  readonly lots: number
  readonly pnl: number
}

/** The hedges of two customers. Those of a day stand together. */
type Pair = readonly Hedge[]

const idOf = ({ customer }: OwnFact): string => customer.customer_id

const daysOf = (pair: Pair): number =>
  pair.filter(({ a }, i) => a.fact.day !== pair[i - 1]?.a.fact.day).length

/** Joins pairs that share a customer, directly or through others. */
function clustersOf(pairs: readonly Pair[]): Pair[][] {
  const parents = new Map<string, string>()
  const rootOf = (id: string): string => {
    let root = id
    for (let up = parents.get(id); up !== undefined; up = parents.get(root)) root = up
    if (root !== id) parents.set(id, root)
    return root
  }
  const firstOf = ([hedge]: Pair): string => rootOf(hedge ? idOf(hedge.a) : '')
  for (const pair of pairs) {
    const [one, other] = [firstOf(pair), rootOf(pair[0] ? idOf(pair[0].b) : '')]
    if (one !== other) parents.set(one, other)
  }
  return [...Map.groupBy(pairs, firstOf).values()]
}

/** Returns the records of a cluster, and the hedges whose amounts differ most. */
function totalsOf(cluster: readonly Pair[]) {
  const rows = new Set<OwnFact>()
  const most: { lots?: Hedge; pnl?: Hedge } = {}
  for (const pair of cluster) {
    for (const one of pair) {
      rows.add(one.a).add(one.b)
      if (one.lots > (most.lots?.lots ?? -1)) most.lots = one
      if (one.pnl > (most.pnl?.pnl ?? -1)) most.pnl = one
    }
  }
  return { ...most, rows: [...rows] }
}

/** Returns the difference of two amounts in percent of the greater one. */
function differenceOf(hedge: Hedge | undefined, field: 'lots_traded' | 'pnl'): Decimal {
  if (!hedge) return integer(0)
  const { a, b } = hedge
  const [x, y] = [a, b].map(({ fact }) => magnitude(fromFact(amountOf(fact, field)))) as [
    Decimal,
    Decimal,
  ]
  const most = greatest(x, y)
  if (isZero(most)) return most
  return quotient(multiply(magnitude(subtract(x, y)), integer(100)), most, 2)
}

/** Writes the name of an instrument in upper case without a suffix: `EURUSD` for `EURUSD.m` and `EURUSDm`. */
const folded = (name: string): string =>
  name.replace(/^(.{4,}?)(?:[.\-_#].*|(?<=[A-Z\d])[a-z]+)$/s, '$1').toUpperCase()

/** Names the trades that are compared: those of a day in an instrument and currency. */
const tradeOf = ({ fact }: OwnFact): string =>
  JSON.stringify([folded(fact.instrument ?? ''), fact.currency])

/** The hedges of a day and instrument that are told one by one, and the rows that are compared. */
const MOST = { hedges: 10_000, compared: 2_000_000 }

/** What is found on some days. */
interface Window {
  readonly pairs: Map<number, Hedge[]>
  /** By day, the rows of instruments with too many hedges, which are not in `pairs`. */
  readonly crowds: Map<number, readonly OwnFact[]>
}

// The next day shares all but one day of a window, so each view keeps the last one.
const windows = new WeakMap<View, Map<string, Window>>()

/** Returns what is found on a day and those before it. */
function windowOf(view: View, day: number, days: number, percents: readonly [string, string]) {
  const known = windows.get(view) ?? new Map<string, Window>()
  windows.set(view, known)
  const key = JSON.stringify([days, percents])
  const { pairs, crowds }: Window = known.get(key) ?? { pairs: new Map(), crowds: new Map() }
  known.set(key, { pairs, crowds })
  const isIn = (one: number) => one > day - days && one <= day
  for (const one of crowds.keys()) if (!isIn(one)) crowds.delete(one)
  for (const [pair, hedges] of pairs) {
    const left = hedges.filter(({ a }) => isIn(a.fact.day))
    if (left.length === 0) pairs.delete(pair)
    else if (left.length < hedges.length) pairs.set(pair, left)
  }
  const missing = factsOf(view, 'trading-activity', day - days + 1, day).filter(
    ({ fact }) => !crowds.has(fact.day),
  )
  const places = new Map(view.customers.map(({ customer_id }, i) => [customer_id, i]))
  const within = percents.map((text) => withinOf(decimal(text))) as [Within, Within]
  for (const [added, ofDay] of Map.groupBy(missing, ({ fact }) => fact.day)) {
    const crowd: OwnFact[] = []
    for (const rows of Map.groupBy(ofDay, tradeOf).values()) {
      const sides = rows.map((row) => sideOf(row, places.get(idOf(row)) ?? 0))
      const hedges = hedgesAmong(sides, within)
      if (!hedges) crowd.push(...rows)
      for (const [pair, hedge] of hedges ?? []) {
        const own = pairs.get(pair)
        if (own) own.push(hedge)
        else pairs.set(pair, [hedge])
      }
    }
    crowds.set(added, crowd)
  }
  return { pairs: [...pairs.values()], crowds }
}

/** The trades of a customer on a day. Amounts are integers of 10^-12. */
interface Side {
  readonly row: OwnFact
  /** That of the customer in the view. */
  readonly place: number
  readonly lots: bigint
  readonly pnl: bigint
}

const sideOf = (row: OwnFact, place: number): Side => ({
  ...{ row, place, lots: amountOf(row.fact, 'lots_traded'), pnl: amountOf(row.fact, 'pnl') },
})

/** Returns the hedges among the trades of a day in an instrument, each with its pair; null if there are too many. */
function hedgesAmong(sides: readonly Side[], [lots, pnl]: readonly [Within, Within]) {
  const gains = sides.filter((one) => one.pnl > 0n).sort((a, b) => Number(a.pnl - b.pnl))
  const losses = sides.filter((one) => one.pnl < 0n).sort((a, b) => Number(b.pnl - a.pnl))
  const hedges: [pair: number, Hedge][] = []
  let compared = 0
  let start = 0
  for (const gain of gains) {
    const isTooSmall = (loss: Side) => -loss.pnl < gain.pnl && !pnl(-loss.pnl, gain.pnl)
    // Losses that are too small for this gain are too small for all that follow.
    for (let loss = losses[start]; loss && isTooSmall(loss); loss = losses[++start]);
    for (let i = start; i < losses.length; i++) {
      const loss = losses[i]
      if (!loss || !pnl(-loss.pnl, gain.pnl)) break
      if (++compared > MOST.compared || hedges.length > MOST.hedges) return null
      if (loss.place === gain.place || !lots(gain.lots, loss.lots)) continue
      const [a, b] = gain.place < loss.place ? [gain, loss] : [loss, gain]
      const shares = { lots: shareOf(a.lots, b.lots), pnl: shareOf(gain.pnl, -loss.pnl) }
      hedges.push([a.place * 2 ** 26 + b.place, { a: a.row, b: b.row, ...shares }])
    }
  }
  return hedges
}

/** Returns about which share of the greater of two amounts they differ by. */
const shareOf = (a: bigint, b: bigint): number => {
  const [x, y] = [Number(a), Number(b)]
  return x === y ? 0 : Math.abs(x - y) / Math.max(x, y)
}

/** Returns whether two amounts of 0 or more differ by at most some percent of the greater one. */
type Within = (a: bigint, b: bigint) => boolean

const withinOf = ({ units, scale }: Decimal): Within => {
  const hundred = 100n * powerOfTen(scale)
  return (a, b) => (a < b ? (b - a) * hundred <= b * units : (a - b) * hundred <= a * units)
}
