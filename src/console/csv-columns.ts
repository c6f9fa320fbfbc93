import { readCsv } from '../commission/csv.ts'
import type { Values } from './page.ts'

// Files that members upload: which of their columns has which values.

/** The columns that a kind of file can have. */
export interface FileColumns<Name extends string> {
  /** What members call them. */
  readonly titles: Readonly<Record<Name, string>>
  /** Other names that files have for them, in lower case with underscores. */
  readonly aliases: Readonly<Record<string, Name>>
  readonly required: readonly Name[]
}

/** A file: its header, its other rows, and which of its columns has which values. */
export interface ColumnFile<Name extends string> {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly positions: ReadonlyMap<Name, number>
  /** The columns that no title of the file names. */
  readonly unnamed: readonly Name[]
  /** The columns that it must have. */
  readonly required: readonly Name[]
  /** Those of them that it does not name, and for which the form chooses no other column of the file. */
  readonly missing: readonly Name[]
  /** The titles of the columns that nothing is read from. */
  readonly ignored: readonly string[]
  /** Why it cannot be read; null if it can. */
  readonly fault: string | null
}

/** Returns the name of the field that says which column of the file has a column's values. */
export const mappedName = (name: string): string => `column_${name}`

/** Returns the text of the file of a form: the file that was chosen, else the rows that were pasted. */
export const fileText = (values: Values): string => values('file') || values('csv')

/** Returns the column that a title of a file names; undefined if it names none. */
function columnOf<Name extends string>(
  title: string,
  columns: FileColumns<Name>,
): Name | undefined {
  const text = title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '_')
  if (isColumn(text, columns)) return text
  return Object.hasOwn(columns.aliases, text) ? columns.aliases[text] : undefined
}

const isColumn = <Name extends string>(text: string, { titles }: FileColumns<Name>): text is Name =>
  Object.hasOwn(titles, text)

/** Reads the file of a form. Columns that this kind of file does not have are left out. */
export function readColumnFile<Name extends string>(
  values: Values,
  columns: FileColumns<Name>,
): ColumnFile<Name> {
  const { rows: all, fault } = readCsv(fileText(values))
  const [header = [], ...rows] = all ?? []
  const positions = new Map<Name, number>()
  for (const [i, title] of header.entries()) {
    const name = columnOf(title, columns)
    if (name && !positions.has(name)) positions.set(name, i)
  }
  const names = Object.keys(columns.titles).filter((name) => isColumn(name, columns))
  const unnamed = names.filter((name) => !positions.has(name))
  for (const name of unnamed) {
    const chosen = values(mappedName(name))
    if (/^\d{1,3}$/.test(chosen) && Number(chosen) < header.length) {
      positions.set(name, Number(chosen))
    }
  }
  const { required } = columns
  const missing = required.filter((name) => !positions.has(name))
  const place = fault && `The file is not valid CSV: line ${fault.line} has ${fault.reason}.`
  const used = new Set(positions.values())
  const ignored = header.filter((title, i) => title.trim() !== '' && !used.has(i))
  return { header, rows, positions, unnamed, required, missing, ignored, fault: place }
}

/** Returns the cell of a column in a row, without white space around it; empty if the file lacks the column. */
export const cellOf = <Name extends string>(
  { positions }: Pick<ColumnFile<Name>, 'positions'>,
  cells: readonly string[],
  name: Name,
): string => (cells[positions.get(name) ?? -1] ?? '').trim()
