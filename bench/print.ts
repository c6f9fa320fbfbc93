/** Rows of cells. The first row and the first column are headings. */
export type Table = readonly (readonly string[])[]

/** A measured figure beside its aim. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly aim: string
}

/** The result of a bench. */
export interface Chapter {
  readonly title: string
  /** How it was measured, and what a reader must know about the figures. */
  readonly notes: string
  readonly tables: readonly Table[]
  readonly figures: readonly Figure[]
}

/** Returns figures from their names, values and aims. */
export const beside = (...rows: readonly (readonly [string, string, string])[]): Figure[] =>
  rows.map(([name, value, aim]) => ({ name, value, aim }))

/** Formats a chapter as Markdown, whose columns a terminal shows aligned. */
export const asMarkdown = ({ title, notes, tables }: Chapter): string =>
  [`## ${title}`, notes, ...tables.map(markdownTable)].join('\n\n')

export function markdownTable([head = [], ...rows]: Table): string {
  const widths = head.map((_, i) => Math.max(4, ...[head, ...rows].map((row) => row[i]!.length)))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, i) => (i ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!))).join(' | ')} |`
  const rule = widths.map((width, i) => (i ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

/** Formats a number with the given decimals: 12,345.6. */
export const format = (n: number, digits = 0): string =>
  n.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })

/** Returns the median; NaN for an empty list. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

/** Formats the median of ratios with their middle half: 1.04 (0.98–1.10). */
export function formatRatios(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]!
  return `${format(median(ratios), 2)} (${format(at(0.25), 2)}–${format(at(0.75), 2)})`
}
