import { table } from './figures.ts'

/** Rows of cells. The first row and the first column are headings. */
export type Table = readonly (readonly string[])[]

/** The result of a section of the bench. */
export interface Chapter {
  title: string
  /** How it was measured, and what a reader must know about the figures. */
  notes: string
  tables: Table[]
}

/** Formats a chapter for a terminal. */
export const asText = ({ title, notes, tables }: Chapter) =>
  [`## ${title}\n${notes}`, ...tables.map(table)].join('\n\n')

/** Formats a chapter as Markdown. */
export const asMarkdown = ({ title, notes, tables }: Chapter) =>
  [`## ${title}`, notes, ...tables.map(markdown)].join('\n\n')

function markdown([head, ...rows]: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head!.map((_, i) => (i ? '---:' : '---'))
  return [head!, rule, ...rows].map(line).join('\n')
}

/** Formats a number as 12,345. */
export const formatInteger = (n: number) => WHOLE.format(n)
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** Formats a number as 12.34. */
export const formatHundredths = (n: number) => n.toFixed(2)

/** Formats a number as 12.3, or `n/a` if it is not known. */
export const formatTenths = (n: number) => (Number.isNaN(n) ? 'n/a' : n.toFixed(1))
