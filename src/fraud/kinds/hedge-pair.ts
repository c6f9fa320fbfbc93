import { amountOf } from '../../commission/engine/facts.ts'
import { wholeNumber } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { compareText } from '../../platform/compare-text.ts'
import { type Decimal, decimal, powerOfTen } from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { atLeast, moreThan } from '../figures.ts'
import {
  aboutAffiliate,
  defineKind,
  type Finding,
  factsOf,
  type OwnFact,
  type View,
} from '../kind.ts'
import { count, parameter, share } from '../parameters.ts'

/** The longest window: the hedges of all its days are in memory at once. */
const LONGEST = 31

/** Customers of an affiliate who hold opposite sides of the same trades on several days. */
export const hedgePair = defineKind({
  kind: 'hedge_pair',
  name: 'Two customers on opposite sides',
  severity: 'high',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    days: count(3, 'Fewest days with opposite trades', '', 'days'),
    window_days: parameter(wholeNumber(1, LONGEST), 30, {
      label: 'Days in which they are counted',
      is: 'whole',
      unit: 'days',
    }),
    lots_percent: share('1', 'Lots differ by at most', 'In percent of the greater ones.'),
    pnl_percent: share('10', 'Profit and loss differ by at most', 'In percent of the greater one.'),
  }),
  words: ({ days: least, window_days, lots_percent, pnl_percent }) => ({
    when: `two customers of the affiliate traded opposite sides of the same instrument on at least ${counted(least, 'day')} of ${window_days}, with lots that differ by at most ${figure(lots_percent)} % and profit and loss that differ by at most ${figure(pnl_percent)} %`,
    more: [
      `More than ${figure(String(MOST.hedges))} pairs of opposite trades on one day are too many to be compared: they open a case of the affiliate.`,
    ],
  }),
  reach: ({ window_days }) => ({ 'trading-activity': window_days }),
  candidates: () => ({ sql: customersWith('activity') }),
  glance: (parameters) => ({ parameters: { ...parameters, days: 1, window_days: 1 } }),
  find(view, day, { days: least, window_days, lots_percent, pnl_percent }) {
    const percents = [lots_percent, pnl_percent] as const
    const today = hedgesOn(view, day, percents)
    if (today.tooMany) return [aboutTooMany(view, today.tooMany)]
    const pairs = new Map<string, Hedge[]>()
    for (let one = day - window_days + 1; one <= day; one++) {
      for (const hedge of hedgesOn(view, one, percents).found) {
        const own = pairs.get(hedge.pair)
        if (own) own.push(hedge)
        else pairs.set(hedge.pair, [hedge])
      }
    }
    hedges.get(view)?.delete(keyOf(day - window_days + 1, percents))
    const isNew = (cluster: readonly Pair[]) =>
      cluster.some((pair) => pair.some(({ rows: [{ fact }] }) => fact.day === day))
    const found = [...pairs.values()].filter(
      (pair) => daysOf(pair.map(({ rows: [row] }) => row)) >= least,
    )
    return clustersOf(found)
      .filter(isNew)
      .map((cluster) => {
        const rows = [...new Set(cluster.flat().flatMap((hedge) => hedge.rows))]
        const ids = [...new Set(rows.map(idOf))].sort(compareText)
        const hedged = daysOf(rows)
        const figures = [atLeast('days_with_opposite_trades', hedged, least, 'days')]
        const sentence = `${counted(ids.length, 'customer')} held opposite sides of the same trades on ${counted(hedged, 'day')} of ${window_days}.`
        return {
          ...aboutAffiliate(view, figures, sentence, rows),
          // All of a cluster are in the evidence: its first two name it, so that a case goes on if it grows.
          subject: { customer_ids: [ids[0] ?? '', ids[1] ?? ''] as const },
        }
      })
  },
  titles: {
    pairs_of_a_day: 'Pairs of trades to compare on a day',
  },
  sees: 'The lots and the profit or loss of each customer by day and instrument.',
  cannotSee:
    'Trades within a day are summed, so two sides that were held at different hours look the same as one hedge, and a hedge within other trades is not seen. Customers of different affiliates are not compared, nor instruments whose names differ by more than letter case and a suffix, nor trades in different currencies.',
})

/** Opposite trades of two customers, in the order of their ids. */
interface Hedge {
  /** Tells the two customers from others. */
  readonly pair: string
  readonly rows: readonly [OwnFact, OwnFact]
}

/** The hedges of two customers. */
type Pair = readonly Hedge[]

const idOf = ({ customer }: OwnFact): string => customer.customer_id

const daysOf = (rows: readonly OwnFact[]): number => new Set(rows.map(({ fact }) => fact.day)).size

/** Joins pairs that share a customer, directly or through others. */
function clustersOf(pairs: readonly Pair[]): Pair[][] {
  const parents = new Map<string, string>()
  const rootOf = (id: string): string => {
    let root = id
    for (let up = parents.get(id); up !== undefined; up = parents.get(root)) root = up
    if (root !== id) parents.set(id, root)
    return root
  }
  const rootsOf = ([hedge]: Pair) => (hedge?.rows ?? []).map((one) => rootOf(idOf(one)))
  for (const pair of pairs) {
    const [one = '', other = ''] = rootsOf(pair)
    if (one !== other) parents.set(one, other)
  }
  return [...Map.groupBy(pairs, (pair) => rootsOf(pair)[0]).values()]
}

/** Writes the name of an instrument in upper case without a suffix: `EURUSD` for `EURUSD.m` and `EURUSDm`. */
const folded = (name: string): string =>
  name.replace(/^(.{4,}?)(?:[.\-_#].*|(?<=[A-Z\d])[a-z]+)$/s, '$1').toUpperCase()

/** Names the trades that are compared: those of a day in an instrument and currency. */
const tradeOf = ({ fact }: OwnFact): string =>
  JSON.stringify([folded(fact.instrument ?? ''), fact.currency])

/** The most hedges of an affiliate on a day, and the most rows that are compared for them. */
const MOST = { hedges: 10_000, compared: 2_000_000 }

/** The rows of an instrument with which a day has more pairs than the limit. */
interface TooMany {
  readonly most: number
  readonly rows: readonly OwnFact[]
}

/** Returns the finding that an affiliate has too many pairs on a day: size is no way around the rule. */
function aboutTooMany(view: View, { most, rows }: TooMany): Finding {
  const figures = [moreThan('pairs_of_a_day', most + 1, most, 'pairs')]
  const sentence = `So many customers traded opposite sides of the same instrument on one day that more than ${figure(String(most))} pairs of trades would have to be compared.`
  return aboutAffiliate(view, figures, sentence, rows)
}

/** The hedges of a day; none if there are too many. */
interface DayHedges {
  readonly found: readonly Hedge[]
  readonly tooMany?: TooMany
}

// The next day shares all but one day of a window.
const hedges = new WeakMap<View, Map<string, DayHedges>>()

type Percents = readonly [lots: string, pnl: string]

const keyOf = (day: number, percents: Percents): string => JSON.stringify([day, percents])

/** Returns the hedges of a day. */
function hedgesOn(view: View, day: number, percents: Percents): DayHedges {
  const known = hedges.get(view) ?? new Map<string, DayHedges>()
  hedges.set(view, known)
  const key = keyOf(day, percents)
  const stored = known.get(key)
  if (stored) return stored
  const found = findHedges(view, day, percents)
  known.set(key, found)
  return found
}

function findHedges(view: View, day: number, percents: Percents): DayHedges {
  const within = percents.map((text) => withinOf(decimal(text))) as [Within, Within]
  const trades = Map.groupBy(factsOf(view, 'trading-activity', day, day), tradeOf)
  const found: Hedge[] = []
  let compared = 0
  for (const [, rows] of [...trades].sort(([a], [b]) => compareText(a, b))) {
    for (const hedge of hedgesAmong(rows.map(sideOf), within)) {
      compared++
      if (hedge) found.push(hedge)
      const most = found.length > MOST.hedges ? MOST.hedges : MOST.compared
      if (found.length > most || compared > MOST.compared) {
        return { found: [], tooMany: { most, rows } }
      }
    }
  }
  return { found }
}

/** The trades of a customer on a day. Amounts are integers of 10^-12. */
interface Side {
  readonly row: OwnFact
  readonly lots: bigint
  readonly pnl: bigint
}

const sideOf = (row: OwnFact): Side => ({
  row,
  lots: amountOf(row.fact, 'lots_traded'),
  pnl: amountOf(row.fact, 'pnl'),
})

/** Yields the hedges among the trades of a day in an instrument, and null for each comparison that shows none. */
function* hedgesAmong(
  sides: readonly Side[],
  [lots, pnl]: readonly [Within, Within],
): Generator<Hedge | null> {
  const gains = sides.filter((one) => one.pnl > 0n).sort((a, b) => Number(a.pnl - b.pnl))
  const losses = sides.filter((one) => one.pnl < 0n).sort((a, b) => Number(b.pnl - a.pnl))
  let start = 0
  for (const gain of gains) {
    const isTooSmall = (loss: Side) => -loss.pnl < gain.pnl && !pnl(-loss.pnl, gain.pnl)
    // Losses that are too small for this gain are too small for all that follow.
    for (let loss = losses[start]; loss && isTooSmall(loss); loss = losses[++start]);
    for (let i = start; i < losses.length; i++) {
      const loss = losses[i]
      if (!loss || !pnl(-loss.pnl, gain.pnl)) break
      const order = compareText(idOf(gain.row), idOf(loss.row))
      const rows = order < 0 ? ([gain.row, loss.row] as const) : ([loss.row, gain.row] as const)
      const isHedge = order !== 0 && lots(gain.lots, loss.lots)
      yield isHedge ? { pair: JSON.stringify(rows.map(idOf)), rows } : null
    }
  }
}

/** Returns whether two amounts of 0 or more differ by at most some percent of the greater one. */
type Within = (a: bigint, b: bigint) => boolean

const withinOf = ({ units, scale }: Decimal): Within => {
  const hundred = 100n * powerOfTen(scale)
  return (a, b) => (a < b ? (b - a) * hundred <= b * units : (a - b) * hundred <= a * units)
}
