import { fromFact, plainText } from '../commission/engine/decimal.ts'
import { compareText } from '../commission/engine/facts.ts'
import type { GroupSums } from './collect.ts'
import type { Metric } from './metrics.ts'
import type { Figure, Figures, GroupValue, Row, Unconverted } from './report.ts'
import type { Rest, Sums } from './sums.ts'

const textOf = (units: bigint): string => plainText(fromFact(units))

const NOTHING = { units: 0n, rest: new Map<string, Rest>() }

/**
 * Returns the figures of sums, all of which are converted; those of the metrics in `unknown` are
 * null.
 */
export function presentFigures(
  metrics: readonly Metric[],
  sums: Sums,
  unknown: ReadonlySet<string>,
): Figures {
  const unconverted: Unconverted[] = []
  const figureOf = ({ name, type, of = [[name, 1]] }: Metric): Figure => {
    if (unknown.has(name)) return null
    if (type === 'count') return sums.counts.get(name) ?? 0
    if (type === 'number') return textOf(sums.numbers.get(name) ?? 0n)
    let total = 0n
    for (const [sum, sign] of of) {
      const { units, rest } = sums.amounts.get(sum) ?? NOTHING
      total += units * BigInt(sign)
      for (const one of rest.values()) unconverted.push(presentRest(name, one, sign))
    }
    return textOf(total)
  }
  const figures = Object.fromEntries(metrics.map((metric) => [metric.name, figureOf(metric)]))
  return { metrics: figures, unconverted: unconverted.sort(compareUnconverted) }
}

const presentRest = (metric: string, { currency, reason, units }: Rest, sign: 1 | -1) => ({
  metric,
  currency,
  reason,
  amount: textOf(units * BigInt(sign)),
})

const compareUnconverted = (a: Unconverted, b: Unconverted): number =>
  compareText(a.currency ?? '', b.currency ?? '') ||
  compareText(a.metric, b.metric) ||
  compareText(a.reason, b.reason)

/**
 * Returns the rows of groups in the order of their values; `unknownOf` names the metrics that are
 * null.
 */
export const presentRows = (
  metrics: readonly Metric[],
  groups: readonly string[],
  all: Iterable<GroupSums>,
  unknownOf: (values: readonly GroupValue[]) => ReadonlySet<string>,
): Row[] =>
  [...all]
    .sort((a, b) => compareValues(a.values, b.values))
    .map(({ values, sums }) => ({
      groups: Object.fromEntries(groups.map((name, i) => [name, values[i] ?? null])),
      ...presentFigures(metrics, sums, unknownOf(values)),
    }))

/** Compares numbers by size and texts by code point; null comes last. */
function compareValues(a: readonly GroupValue[], b: readonly GroupValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareValue(value, b[i] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValue(a: GroupValue, b: GroupValue): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
}
