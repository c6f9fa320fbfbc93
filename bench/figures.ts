/** The middle of some numbers; NaN where there are none. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** What one contestant needed for each request of one phase, by round, and its processor time. */
export interface Timing {
  rounds: number[][]
  cpuMs: number
  requests: number
}

/** Records a second at the median of all requests. */
export const perSecond = ({ rounds }: Timing, records: number) =>
  (records * 1000) / median(rounds.flat())

/** How far the rounds are apart: half of their range over their middle. */
export function spread({ rounds }: Timing): number {
  const medians = rounds.map(median)
  return (Math.max(...medians) - Math.min(...medians)) / 2 / median(medians)
}

/** How many times as fast one is as another: the median of the rounds, the least and the most. */
export function ratio(one: Timing, other: Timing) {
  const ratios = one.rounds.map((times, i) => median(other.rounds[i]!) / median(times))
  return { middle: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
}

/** Text in columns: the first to the left, the others to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i ? cell.padStart(widths[i]!) : cell.padEnd(widths[0]!))).join('   ')
  return rows.map(line).join('\n')
}
