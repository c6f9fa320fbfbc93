import { readCsv } from '../commission/csv.ts'
import type { Values } from './page.ts'

// Files that members upload: which of their columns has which values.

/** The columns that a kind of file can have. */
export interface FileColumns<Name extends string> {
  /** What members call them. */
  readonly titles: Readonly<Record<Name, string>>
  /** Other names that files have for them, the best first. */
  readonly aliases: Readonly<Record<Name, readonly string[]>>
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

/**
 * Returns the name of the field that says which column of the file has a column's values: its title, or
 * `NO_COLUMN`. Another file that is sent with the same choices may not have that title.
 */
export const mappedName = (name: string): string => `column_${name}`

/** The choice of no column, where the file has a title for it. */
export const NO_COLUMN = 'none'

/** Returns the text of the file of a form: the file that was chosen, else the rows that were pasted. */
export const fileText = (values: Values): string => values('file') || values('csv')

/** Returns the letters of a title, by which it is found. Post Affiliate Pro begins some titles with `!`. */
const keyOf = (title: string): string => title.toLowerCase().replaceAll(/[\s_!-]+/g, '')

/** Reads the file of a form. Columns that this kind of file does not have are left out. */
export function readColumnFile<Name extends string>(
  values: Values,
  columns: FileColumns<Name>,
): ColumnFile<Name> {
  const { rows: all, fault } = readCsv(fileText(values))
  const [header = [], ...rows] = all ?? []
  const keys = header.map(keyOf)
  const names = Object.keys(columns.titles) as Name[]
  const positions = new Map<Name, number>()
  const unnamed: Name[] = []
  const used = new Set<number>()
  for (const name of names) {
    const places = [name, ...columns.aliases[name]].map((one) => keys.indexOf(keyOf(one)))
    const byTitle = places.find((place) => place >= 0 && !used.has(place)) ?? -1
    if (byTitle < 0) unnamed.push(name)
    const chosen = values(mappedName(name))
    const isChosen = chosen === NO_COLUMN || (chosen !== '' && header.includes(chosen))
    const at = isChosen ? header.indexOf(chosen) : byTitle
    if (at < 0) continue
    positions.set(name, at)
    used.add(at)
  }
  const { required } = columns
  const missing = required.filter((name) => !positions.has(name))
  const place = fault && `The file is not valid CSV: line ${fault.line} has ${fault.reason}.`
  const ignored = header.filter((title, i) => title.trim() !== '' && !used.has(i))
  return { header, rows, positions, unnamed, required, missing, ignored, fault: place }
}

/** Returns the cell of a column in a row, without white space around it; empty if the file lacks the column. */
export const cellOf = <Name extends string>(
  { positions }: Pick<ColumnFile<Name>, 'positions'>,
  cells: readonly string[],
  name: Name,
): string => (cells[positions.get(name) ?? -1] ?? '').trim()
