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
  /** The columns that it must have and does not name. */
  readonly unnamed: readonly Name[]
  /** Those of them for which the form names no other column of the file. */
  readonly missing: readonly Name[]
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
  { titles, aliases }: FileColumns<Name>,
): Name | undefined {
  const text = title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
  const isColumn = (name: string): name is Name => Object.hasOwn(titles, name)
  return isColumn(text) ? text : Object.hasOwn(aliases, text) ? aliases[text] : undefined
}

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
  const unnamed = columns.required.filter((name) => !positions.has(name))
  for (const name of unnamed) {
    const chosen = values(mappedName(name))
    if (/^\d{1,3}$/.test(chosen) && Number(chosen) < header.length) {
      positions.set(name, Number(chosen))
    }
  }
  const missing = columns.required.filter((name) => !positions.has(name))
  const place = fault && `The file is not valid CSV: line ${fault.line} has ${fault.reason}.`
  return { header, rows, positions, unnamed, missing, fault: place }
}

/** Returns the cell of a column in a row, without white space around it; empty if the file lacks the column. */
export const cellOf = <Name extends string>(
  { positions }: Pick<ColumnFile<Name>, 'positions'>,
  cells: readonly string[],
  name: Name,
): string => (cells[positions.get(name) ?? -1] ?? '').trim()
