import { table } from './figures.ts'

/** Rows of cells; the first row and the first column say what the others are. */
export type Table = readonly (readonly string[])[]

/** What a section of the bench found out. */
export interface Chapter {
  title: string
  /** How it was measured, and what of it has to be known to read the figures. */
  says: string
  tables: Table[]
}

/** For people at a terminal. */
export const asText = ({ title, says, tables }: Chapter) =>
  [`## ${title}\n${says}`, ...tables.map(table)].join('\n\n')

/** For people who read the repository. */
export const asMarkdown = ({ title, says, tables }: Chapter) =>
  [`## ${title}`, says, ...tables.map(markdown)].join('\n\n')

function markdown([head, ...rows]: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head!.map((_, i) => (i ? '---:' : '---'))
  return [head!, rule, ...rows].map(line).join('\n')
}

/** 12,345. */
export const whole = (n: number) => WHOLE.format(n)
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** 12.34. */
export const fine = (n: number) => n.toFixed(2)

/** 12.3, or a word where nobody tells. */
export const rough = (n: number) => (Number.isNaN(n) ? 'n/a' : n.toFixed(1))
