import { type Decimal, decimal, powerOfTen } from '../../commission/engine/decimal.ts'
import { amountOf, compareText } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { TooManyFacts } from '../../commission/statements/compute.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { atLeast } from '../figures.ts'
import { aboutAffiliate, defineKind, factsOf, type OwnFact, type View } from '../kind.ts'
import { count, days, share } from '../parameters.ts'

/** Customers of an affiliate who hold opposite sides of the same trades on several days. */
export const hedgePair = defineKind({
  kind: 'hedge_pair',
  name: 'Two customers on opposite sides',
  severity: 'high',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    days: count(3, 'Fewest days with opposite trades', '', 'days'),
    window_days: days(30, 'Days in which they are counted'),
    lots_percent: share('1', 'Lots differ by at most', 'In percent of the greater ones.'),
    pnl_percent: share('10', 'Profit and loss differ by at most', 'In percent of the greater one.'),
  }),
  words: ({ days: least, window_days, lots_percent, pnl_percent }) => ({
    when: `two customers of the affiliate traded opposite sides of the same instrument on at least ${counted(least, 'day')} of ${window_days}, with lots that differ by at most ${figure(lots_percent)} % and profit and loss that differ by at most ${figure(pnl_percent)} %`,
  }),
  reach: ({ window_days }) => ({ 'trading-activity': window_days }),
  candidates: () => ({ sql: customersWith('activity') }),
  glance: (parameters) => ({ parameters: { ...parameters, days: 1, window_days: 1 } }),
  find(view, day, { days: least, window_days, lots_percent, pnl_percent }) {
    const pairs = new Map<string, Hedge[]>()
    for (let one = day - window_days + 1; one <= day; one++) {
      for (const hedge of hedgesOn(view, one, [lots_percent, pnl_percent])) {
        const own = pairs.get(hedge.pair)
        if (own) own.push(hedge)
        else pairs.set(hedge.pair, [hedge])
      }
    }
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
  sees: 'The lots and the profit or loss of each customer by day and instrument.',
  cannotSee:
    'Trades within a day are summed, so two sides that were held at different hours look the same as one hedge, and a hedge within other trades is not seen. Customers of different affiliates are not compared, nor instruments whose names differ by more than letter case and a suffix.',
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

/** The most hedges of a day and instrument, and the rows that are compared for them: an affiliate with more is too large. */
const MOST = { hedges: 10_000, compared: 2_000_000 }

// The next day shares all but one day of a window.
const hedges = new WeakMap<View, Map<string, readonly Hedge[]>>()

/** Returns the hedges of a day. */
function hedgesOn(view: View, day: number, percents: readonly [string, string]) {
  const known = hedges.get(view) ?? new Map<string, readonly Hedge[]>()
  hedges.set(view, known)
  const key = JSON.stringify([day, percents])
  const stored = known.get(key)
  if (stored) return stored
  const within = percents.map((text) => withinOf(decimal(text))) as [Within, Within]
  const trades = Map.groupBy(factsOf(view, 'trading-activity', day, day), tradeOf)
  const found = [...trades.values()].flatMap((rows) => hedgesAmong(rows.map(sideOf), within))
  known.set(key, found)
  return found
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

/** Returns the hedges among the trades of a day in an instrument. Throws `TooManyFacts`. */
function hedgesAmong(sides: readonly Side[], [lots, pnl]: readonly [Within, Within]): Hedge[] {
  const gains = sides.filter((one) => one.pnl > 0n).sort((a, b) => Number(a.pnl - b.pnl))
  const losses = sides.filter((one) => one.pnl < 0n).sort((a, b) => Number(b.pnl - a.pnl))
  const found: Hedge[] = []
  let compared = 0
  let start = 0
  for (const gain of gains) {
    const isTooSmall = (loss: Side) => -loss.pnl < gain.pnl && !pnl(-loss.pnl, gain.pnl)
    // Losses that are too small for this gain are too small for all that follow.
    for (let loss = losses[start]; loss && isTooSmall(loss); loss = losses[++start]);
    for (let i = start; i < losses.length; i++) {
      const loss = losses[i]
      if (!loss || !pnl(-loss.pnl, gain.pnl)) break
      if (++compared > MOST.compared || found.length > MOST.hedges) throw new TooManyFacts()
      const order = compareText(idOf(gain.row), idOf(loss.row))
      if (order === 0 || !lots(gain.lots, loss.lots)) continue
      const rows = order < 0 ? ([gain.row, loss.row] as const) : ([loss.row, gain.row] as const)
      found.push({ pair: JSON.stringify(rows.map(idOf)), rows })
    }
  }
  return found
}

/** Returns whether two amounts of 0 or more differ by at most some percent of the greater one. */
type Within = (a: bigint, b: bigint) => boolean

const withinOf = ({ units, scale }: Decimal): Within => {
  const hundred = 100n * powerOfTen(scale)
  return (a, b) => (a < b ? (b - a) * hundred <= b * units : (a - b) * hundred <= a * units)
}
