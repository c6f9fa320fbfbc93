import { appendFileSync, rmSync } from 'node:fs'
import { escapeText } from '../../src/platform/validation/quote.ts'
import { usageError } from '../exit-error.ts'
import type { SendArguments } from './arguments.ts'
import type { ApiResponse } from './exchange.ts'
import { type Issue, type ProblemIssue, problemOf } from './problem.ts'
import type { Bulk } from './record.ts'

/** How often something was found, and the first lines of it. */
export interface Found {
  count: number
  readonly examples: string[]
}

/** The result of one file. */
export interface FileResult {
  readonly file: string
  received: number
  /** The number of records of each outcome, as the API names them. */
  readonly counts: Record<string, number>
  /** Whether each record was sent and answered. */
  isWhole: boolean
  /** Warnings and errors, by their code. */
  readonly warnings: Map<string, Found>
  readonly errors: Map<string, Found>
  /** The line on which each id occurs first, and the records with the id of an earlier one. */
  readonly ids: Map<string, number>
  readonly repeated: Found
}

/** The lines that are listed of each kind. */
const MAX_LISTED = 10

const rejectedPath = (file: string) => `${file}.rejected.ndjson`

/** Creates empty results, and removes the `.rejected.ndjson` files of earlier runs. */
export function startResults(files: readonly string[]): FileResult[] {
  const replaced = files.map(rejectedPath)
  const both = files.find((file) => replaced.includes(file))
  if (both !== undefined) {
    throw usageError(`${both} would be overwritten with the rejected records of this run.`)
  }
  for (const path of replaced) rmSync(path, { force: true })
  return files.map((file) => ({
    file,
    received: 0,
    counts: {},
    isWhole: false,
    warnings: new Map(),
    errors: new Map(),
    ids: new Map(),
    repeated: { count: 0, examples: [] },
  }))
}

/** Adds one to what was found, with an example unless it is the last one again. */
export function note(found: Found, example: string): void {
  const { examples } = found
  found.count += 1
  if (examples.length < MAX_LISTED && examples.at(-1) !== example) examples.push(example)
}

/** Counts an issue of a record by its code; the message of the first is the example. */
function noteIssue(
  issues: FileResult['errors'],
  { code, pointer, message, hint }: Issue,
  line: number,
) {
  const example = [`${code}:`, pointer, message, hint].filter(Boolean).join(' ')
  const found = issues.get(code) ?? { count: 0, examples: [escapeText(example)] }
  issues.set(code, found)
  note(found, String(line))
}

/** A response to a bulk of which at least a part is stored; it lists only notable results. */
interface AcceptedBody {
  readonly summary: Record<string, number>
  readonly results: {
    index: number
    outcome: string
    warnings?: Issue[]
    errors?: ProblemIssue[]
  }[]
}

/**
 * Adds the response to a bulk: counts, warnings and errors. Rejected records are appended, as they were sent, to the
 * file beside theirs.
 *
 * @returns whether every record was refused for a reason of its own.
 */
export function addResponse(
  bulk: Bulk,
  { status, body }: ApiResponse,
  result: FileResult,
): boolean {
  const size = bulk.records.length
  if (status < 400) {
    const { summary, results } = body as AcceptedBody
    for (const [outcome, count] of Object.entries(summary)) {
      if (!['received', 'rejected', 'warnings'].includes(outcome)) add(result, outcome, count)
    }
    for (const { index, warnings = [] } of results) {
      for (const one of warnings)
        noteIssue(result.warnings, inRecord(one), bulk.records[index]!.line)
    }
    const rejected = results.filter(({ outcome }) => outcome === 'rejected')
    for (const { index, errors = [] } of rejected) reject(bulk, index, result, errors)
    return rejected.length === size
  }
  const { title, detail, errors = [], errors_total = 0 } = problemOf(body)
  const byIndex = Map.groupBy(errors, ({ index }) => index)
  const ofBulk = byIndex.get(undefined)?.[0]?.message ?? (status === 413 ? (detail ?? title) : null)
  for (const index of bulk.records.keys()) {
    reject(bulk, index, result, byIndex.get(index) ?? [], ofBulk)
  }
  return ofBulk !== null || errors_total >= size
}

const add = ({ counts }: FileResult, outcome: string, count: number) => {
  counts[outcome] = (counts[outcome] ?? 0) + count
}

/** Counts a record that was not stored and appends it to the file. `reason` is that of the whole bulk. */
function reject(
  { records }: Bulk,
  index: number,
  result: FileResult,
  issues: readonly ProblemIssue[],
  reason: string | null = null,
): void {
  const { line, text } = records[index]!
  const errors = issues.map(inRecord)
  for (const error of errors) noteIssue(result.errors, error, line)
  const isRight = errors.length === 0 && reason === null
  add(result, isRight ? 'not_stored' : 'rejected', 1)
  const said = `not stored: ${reason ?? 'its bulk was refused'}`
  const why = errors.length === 0 ? `,"reason":${JSON.stringify(said)}` : ''
  const entry = `{"line":${line},"record":${text},"errors":${JSON.stringify(errors)}${why}}\n`
  appendFileSync(rejectedPath(result.file), entry, { mode: 0o600 })
}

/** Removes the place in the bulk, which users do not see: the pointer is into the record. */
const inRecord = ({ index: _, key: __, pointer, ...issue }: ProblemIssue): Issue => ({
  pointer: pointer.replace(/^\/\d+/, ''),
  ...issue,
})

const number = (value: number) => value.toLocaleString('en')

const times = (count: number) => (count === 1 ? 'once' : `${number(count)} times`)

/** Returns the first examples, and how many others there are. */
const listed = ({ count, examples }: Found) =>
  `${examples.join(', ')}${count > examples.length ? ` and ${number(count - examples.length)} more` : ''}`

/** Returns what became of a file, for a person. */
export function resultText(
  result: FileResult,
  run: Pick<SendArguments, 'lenient' | 'allowRepeats' | 'target'>,
): string {
  const { file, received, counts, repeated } = result
  const outcomes = Object.entries(counts).filter(([, count]) => count > 0)
  const lines = [
    [
      `${file}: ${number(received)} records`,
      ...outcomes.map(([name, n]) => `${number(n)} ${name.replace('_', ' ')}`),
    ].join(', '),
  ]
  for (const [title, issues] of [
    ['warning', result.warnings],
    ['error', result.errors],
  ] as const) {
    for (const {
      count,
      examples: [example, ...places],
    } of issues.values()) {
      const where = listed({ count, examples: places })
      lines.push(`  ${title} ${example} (${times(count)}: line ${where})`)
    }
  }
  if (repeated.count > 0) {
    const effect = run.target.merges ? 'their fields are merged' : 'the last one counts'
    const use = run.allowRepeats ? '' : ' Add --allow-repeats if this is intended.'
    lines.push(`  Ids repeat ${times(repeated.count)} (${listed(repeated)}): ${effect}.${use}`)
  }
  if (counts.held) lines.push('  Held records count when their customers are sent.')
  if (counts.not_stored && !run.lenient) {
    lines.push('  Valid records were refused with their bulks: add --lenient to store them.')
  }
  if (counts.rejected || counts.not_stored) lines.push(`  Rejected records: ${rejectedPath(file)}`)
  if (!result.isWhole) {
    lines.push(
      '  Not all records were sent or answered. Send the file again: stored ones stay "unchanged".',
    )
  }
  return lines.join('\n')
}
