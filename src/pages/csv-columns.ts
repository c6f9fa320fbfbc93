import { ApiError } from '../platform/errors.ts'
import { readCsv } from '../platform/money/csv.ts'
import type { FieldError, Values } from './base/page.ts'

// Files that members upload: which of their columns has which values.

/** The columns that a kind of file can have. */
export interface FileColumns<Name extends string> {
  /** What members call them. */
  readonly titles: Readonly<Record<Name, string>>
  /** Other headings that files have for them. */
  readonly synonyms: Readonly<Partial<Record<NoInfer<Name>, readonly string[]>>>
  readonly required: readonly NoInfer<Name>[]
}

/** A file: its rows without the header, and which of its columns has which values. */
export interface ColumnFile<Name extends string> {
  readonly rows: readonly (readonly string[])[]
  readonly positions: ReadonlyMap<Name, number>
  /** The headings that are not known: their columns are left out. */
  readonly others: readonly string[]
  /** Why it cannot be read; null if it can. */
  readonly fault: string | null
}

/** The most rows of a file: those of one request. */
const MAX_ROWS = 1000

/** Returns the letters of a heading, by which it is known. Post Affiliate Pro begins some headings with `!`. */
const keyOf = (heading: string): string => heading.toLowerCase().replaceAll(/[\s_!-]+/g, '')

/** Reads the file of a form. */
export function readColumnFile<Name extends string>(
  values: Values,
  { titles, synonyms, required }: FileColumns<Name>,
): ColumnFile<Name> {
  const { rows: all, fault } = readCsv(values('file'))
  const [header = [], ...rows] = all ?? []
  const names = Object.keys(titles) as Name[]
  const namedBy = (name: Name) => {
    const keys = [name, titles[name], ...(synonyms[name] ?? [])].map(keyOf)
    return header.flatMap((heading, i) => (keys.includes(keyOf(heading)) ? [i] : []))
  }
  // Of two columns that one name could mean, neither is known.
  const known = names.flatMap((name) => {
    const [at, second] = namedBy(name)
    return at === undefined || second !== undefined ? [] : [[name, at] as const]
  })
  const positions = new Map(known)
  const places = new Set(positions.values())
  const others = header.filter((heading, i) => heading.trim() !== '' && !places.has(i))
  const quoted = (list: readonly Name[]) => list.map((name) => `“${titles[name]}”`).join(' and no ')
  const missing = required.filter((name) => !positions.has(name))
  const problems = [
    fault && `The file is not valid CSV: line ${fault.line} has ${fault.reason}.`,
    header.length === 0 && 'Choose a file. If you chose one, it is empty.',
    missing.length > 0 &&
      `The file has no column ${quoted(missing)}. Write that heading above one of its columns.`,
    rows.length === 0 && 'The file has a header, but no rows.',
    rows.length > MAX_ROWS &&
      `A file has at most ${MAX_ROWS.toLocaleString('en')} rows, this one ${rows.length.toLocaleString('en')}. Divide it.`,
  ]
  return { rows, positions, others, fault: problems.find(Boolean) || null }
}

/** Returns the cell of a column in a row, without white space around it; empty if the file lacks the column. */
export const cellOf = <Name extends string>(
  { positions }: Pick<ColumnFile<Name>, 'positions'>,
  cells: readonly string[],
  name: Name,
): string => (cells[positions.get(name) ?? -1] ?? '').trim()

/** Returns the error of a file or of rows that are refused: nothing was stored. */
export const refused = (detail: string, errors: readonly FieldError[] = []) =>
  new ApiError('validation_failed', { detail, errors: errors.map((one) => ({ ...one })) })
