import { appendFileSync, rmSync } from 'node:fs'
import { Halt, misuse } from './halt.ts'

/** What may become of a record that was answered, in the contract's words. */
export const OUTCOMES = ['created', 'updated', 'unchanged', 'stale', 'held', 'rejected'] as const

/** What became of records; `received` is the sum of all others. */
export type Counts = Record<'received' | (typeof OUTCOMES)[number] | 'not_sent', number>

/** What became of one file. */
export interface Entry {
  file: string
  counts: Counts
  /** The records that are not known to be stored: the places of the first and the last. */
  unstored: [first: number, last: number][]
  /** Where sending ended before the end of the file; null: it did not. */
  unsentFrom: number | null
}

/** How often something was said of records, and once how. */
export type Said = Map<string, { count: number; example: string }>

/** What became of all files, as far as it is known. */
export interface Ledger {
  entries: Entry[]
  warnings: Said
  errors: Said
  /** Records that were refused only because others of their bulk were wrong. */
  innocent: number
}

/** An issue or a warning, as the service says it. */
export interface Remark {
  code: string
  pointer: string
  message: string
  hint?: string
}

/** A record that was refused, and why; the reason is there where it has no errors of its own. */
export interface Rejected {
  index: number
  text: string
  errors: Remark[]
  reason?: string
}

/** A new ledger; what earlier runs wrote beside the files is removed. */
export function openLedger(files: string[]): Ledger {
  const replaced = files.map(rejectedPath)
  const both = files.find((file) => replaced.includes(file))
  if (both !== undefined) throw misuse(`${both} would be replaced by what is rejected in this run.`)
  for (const path of replaced) rmSync(path, { force: true })
  const entries = files.map((file): Entry => {
    return { file, counts: noCounts(), unstored: [], unsentFrom: 0 }
  })
  return { entries, warnings: new Map(), errors: new Map(), innocent: 0 }
}

/** Nothing yet. */
export const noCounts = (): Counts => ({
  received: 0,
  created: 0,
  updated: 0,
  unchanged: 0,
  stale: 0,
  held: 0,
  rejected: 0,
  not_sent: 0,
})

/** Where the rejected records of a file are written. */
export const rejectedPath = (file: string) => `${file}.rejected.ndjson`

/** Counts what was said of a record, by its code. */
export function hear(said: Said, { code, pointer, message, hint }: Remark) {
  const known = said.get(code)
  const example = [pointer, message, hint].filter(Boolean).join(' ')
  if (known) known.count += 1
  else said.set(code, { count: 1, example })
}

/** Writes down rejected records beside their file, each as it was sent. */
export function reject(ledger: Ledger, { file, counts }: Entry, rejected: Rejected[]) {
  if (rejected.length === 0) return
  counts.rejected += rejected.length
  const lines = rejected.map(({ index, text, errors, reason }) => {
    for (const error of errors) hear(ledger.errors, error)
    const why = reason === undefined ? '' : `,"reason":${JSON.stringify(reason)}`
    return `{"index":${index},"record":${text},"errors":${JSON.stringify(errors)}${why}}\n`
  })
  try {
    appendFileSync(rejectedPath(file), lines.join(''), { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Halt(1, `${rejectedPath(file)} cannot be written (${code}).`, error)
  }
}
