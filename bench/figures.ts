/** Returns the median; NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** Returns the mean of the middle half, which ignores outliers. */
export function midmean(numbers: readonly number[]): number {
  const cut = numbers.length >> 2
  const middle = [...numbers].sort((a, b) => a - b).slice(cut, numbers.length - cut)
  return middle.reduce((sum, n) => sum + n, 0) / middle.length
}

/** The times of one contestant in one phase: of each request by round, and its CPU time. */
export interface Timing {
  rounds: number[][]
  cpuMs: number
  requests: number
}

/** Returns records a second at the median of all requests. */
export const perSecond = ({ rounds }: Timing, records: number) =>
  (records * 1000) / median(rounds.flat())

/** Returns a percentile by nearest rank. */
export function percentile(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)]!
}

/** Returns the spread of the rounds: half of their range over their median. */
export function spread({ rounds }: Timing): number {
  const medians = rounds.map(median)
  return (Math.max(...medians) - Math.min(...medians)) / 2 / median(medians)
}

/** How many times as fast one is as another, bulk by bulk: the median and the middle half. */
export interface Ratio {
  middle: number
  least: number
  most: number
}

/** Compares a contestant with another that took turns with it. */
export function ratio(one: Timing, other: Timing): Ratio {
  const others = other.rounds.flat()
  const ratios = one.rounds.flat().map((ms, i) => others[i]! / ms)
  const sorted = ratios.sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
  return { middle: median(ratios), least: at(0.25), most: at(0.75) }
}

/** Formats columns: the first is aligned left, the others right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (i ? cell.padStart(widths[i]!) : cell.padEnd(widths[0]!))).join('   ')
  return rows.map(line).join('\n')
}
