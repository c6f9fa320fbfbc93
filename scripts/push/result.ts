import { appendFileSync, rmSync } from 'node:fs'
import { ExitError, usageError } from '../exit-error.ts'
import { type FileIds, MAX_LINES, startIds } from './ids.ts'
import type { Issue } from './problem.ts'

/** The outcomes of a record, as the API names them. */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** The outcome of a record. */
export type Outcome = (typeof OUTCOMES)[number]

/** Numbers of records by outcome; `received` is the sum of the others. */
export type Counts = Record<'received' | Outcome | 'not_sent', number>

/** The result of one file. */
export interface FileResult {
  file: string
  counts: Counts
  /** Ranges of records that may not be stored: the request was not answered. */
  unconfirmed: [first: number, last: number][]
  /** The first record that was not sent; null: the whole file was sent. */
  unsentFrom: number | null
  ids: FileIds
}

/** A line of a file. */
export interface Place {
  file: string
  line: number
}

/** How often each code was reported, with the first issue as an example, and the first places. */
export type IssueCounts = Map<string, { count: number; example: string; places: Place[] }>

/** The result of a run. */
export interface RunResult {
  dryRun: boolean
  files: FileResult[]
  warnings: IssueCounts
  errors: IssueCounts
  /** Valid records that were refused only because other records of their bulk are invalid. */
  refusedWithBulk: number
}

/** A rejected record; it has a reason if it has no errors of its own. */
export interface RejectedRecord {
  index: number
  line: number
  text: string
  errors: Issue[]
  reason?: string
}

/** Creates an empty result, and removes the `.rejected.ndjson` files of earlier runs. */
export function startResult(files: string[], dryRun: boolean): RunResult {
  const replaced = files.map(rejectedPath)
  const both = files.find((file) => replaced.includes(file))
  if (both !== undefined) {
    throw usageError(`${both} would be overwritten with the rejected records of this run.`)
  }
  for (const path of replaced) rmSync(path, { force: true })
  return {
    dryRun,
    files: files.map((file) => ({
      file,
      counts: zeroCounts(),
      unconfirmed: [],
      unsentFrom: 0,
      ids: startIds(),
    })),
    warnings: new Map(),
    errors: new Map(),
    refusedWithBulk: 0,
  }
}

/** Returns counts of zero. */
export const zeroCounts = (): Counts => ({
  received: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  stale: 0,
  held: 0,
  rejected: 0,
  not_sent: 0,
})

/** Returns the path of the file with the rejected records of a file. */
export const rejectedPath = (file: string) => `${file}.rejected.ndjson`

/** Counts an issue by its code. */
export function countIssue(
  counts: IssueCounts,
  { code, pointer, message, hint }: Issue,
  place: Place,
) {
  const known = counts.get(code)
  const example = [pointer, message, hint].filter(Boolean).join(' ')
  if (!known) {
    counts.set(code, { count: 1, example, places: [place] })
    return
  }
  known.count += 1
  if (known.places.length < MAX_LINES) known.places.push(place)
}

/** Counts rejected records and appends them, as they were sent, to the file beside their file. */
export function addRejected(
  result: RunResult,
  { file, counts }: FileResult,
  rejected: RejectedRecord[],
) {
  if (rejected.length === 0) return
  counts.rejected += rejected.length
  const lines = rejected.map(({ index, line, text, errors, reason }) => {
    for (const error of errors) countIssue(result.errors, error, { file, line })
    const why = reason === undefined ? '' : `,"reason":${JSON.stringify(reason)}`
    return `{"index":${index},"line":${line},"record":${text},"errors":${JSON.stringify(errors)}${why}}\n`
  })
  try {
    appendFileSync(rejectedPath(file), lines.join(''), { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ExitError(1, `Cannot write ${rejectedPath(file)} (${code}).`, error)
  }
}
