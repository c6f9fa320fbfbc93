/** What reading needs to know about the records of a resource. */
export interface RecordShape {
  readonly name: string
  /** The names that a record may have. */
  readonly fields: readonly string[]
  /** The fields whose CSV cells are numbers. */
  readonly numeric: ReadonlySet<string>
  /** The fields that are null if their CSV cell is empty; absent: none, an empty cell is missing. */
  readonly nullable?: ReadonlySet<string>
}

/** A record, and the JSON text that is sent, with numbers as they are written in the file. */
export interface FileRecord {
  readonly record: unknown
  readonly text: string
  /** The line of the file on which the record begins, from 1. */
  readonly line: number
}

/** The names of `--map theirs=ours`: from a column of the file to the name of a field. */
export type Renames = ReadonlyMap<string, string>

/** A record with its key. */
interface KeyedRecord extends FileRecord {
  readonly key: string | undefined
}

/** Records of one file that are sent in one request. */
export interface Bulk {
  /** The index of the first record in its file, from 0. */
  readonly first: number
  readonly records: KeyedRecord[]
  readonly keys: Set<string>
}
