import { usageError } from '../exit-error.ts'

/** The formats that a file of records may have. */
export const FORMATS = ['json', 'ndjson', 'csv'] as const

/** The format of a file. */
export type Format = (typeof FORMATS)[number]

/** What reading needs to know about the records of a resource. */
export interface RecordShape {
  readonly name: string
  /** The names that a record may have. */
  readonly fields: readonly string[]
  /** The fields whose CSV cells are numbers. */
  readonly numeric: ReadonlySet<string>
  /** The fields that are null if their CSV cell is empty; absent: none, an empty cell is missing. */
  readonly nullable?: ReadonlySet<string>
  /** Returns the identity of a record, or undefined if a part of its key is missing. */
  readonly identityOf: (record: unknown) => string | undefined
}

/** Hints for errors that concern the file, by the pointer to a member of the record. */
export type Hints = Readonly<Record<string, string>>

/** A record as the JSON text that is sent, with numbers as they are written in the file. */
export interface RecordText {
  text: string
  key: string | undefined
  /** The line of the file on which the record begins, from 1. */
  line: number
  /** The hints for values of a wrong type; absent: the reader has none. */
  hints?: Hints
}

/** How far a file has been read. */
export interface Position {
  bytes: number
  lines: number
}

/** The names of `--map theirs=ours`: from a name in the file to the name of a field. */
export type Renames = ReadonlyMap<string, string>

/** A file, how far it has been read, and which of its names are replaced. */
export interface Source {
  file: string
  position: Position
  renames: Renames
}

/** Reads records from text that arrives in pieces of any size. */
export type Reader = (
  texts: AsyncIterable<string>,
  source: Source,
  shape: RecordShape,
) => AsyncIterable<RecordText>

/**
 * Returns the record with its top-level members renamed; any other value is returned as is.
 *
 * @throws ExitError if two members would have the same name: one value would be lost.
 */
export function renameMembers(record: unknown, renames: Renames): unknown {
  if (renames.size === 0 || typeof record !== 'object' || record === null) return record
  if (Array.isArray(record)) return record
  const members = Object.entries(record).map(
    ([name, value]) => [renames.get(name) ?? name, value] as const,
  )
  const renamed = new Map(members)
  if (renamed.size === members.length) return Object.fromEntries(renamed)
  const repeated = members.find(([name], i) => members.findIndex(([one]) => one === name) < i)
  throw usageError(`--map gives two members of one record the name \`${repeated?.[0]}\`.`)
}
