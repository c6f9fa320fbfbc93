/** Writes the files of an account's export. Several messages do it. */
export interface ExportJob {
  readonly job: 'export'
  /** When it was due, in milliseconds. */
  readonly at: number
  readonly account: string
  /** Whether every month is read again, as after a loss of objects. */
  readonly isWhole?: boolean
  /** How far the run is; absent in its first message. */
  readonly place?: ExportPlace
}

/** A month of a resource, as it was when the run began. */
interface ExportedMonth {
  readonly resource: string
  readonly month: string
  readonly sign: string
}

/** How far an export is. */
export interface ExportPlace {
  readonly run: string
  /** The months that are left. */
  readonly todo: readonly ExportedMonth[]
  /** The next file of the first of them, from 1, and behind what it begins. */
  readonly part: number
  readonly after: string | null
}
