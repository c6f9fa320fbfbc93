import { escapeText } from '../../src/validation/quote.ts'
import { formatDuration } from './progress.ts'
import {
  type Counts,
  type FileResult,
  type IssueCounts,
  type RunResult,
  rejectedPath,
  zeroCounts,
} from './result.ts'

/** A finished run. */
export interface RunReport {
  result: RunResult
  seconds: number
  dryRun: boolean
  lenient: boolean
  /** Why the run ended early; null: it is complete. */
  halted: string | null
}

/** Formats the summary for people: a table, then what they should look at. */
export function summaryText({ result, seconds, dryRun, lenient }: RunReport): string {
  const total = totalOf(result)
  const rate = `${Math.round(total.received / seconds).toLocaleString('en')} records/s`
  const lines = [
    ...table(result.files, total),
    '',
    `${dryRun ? 'Dry run, nothing was stored. ' : ''}${formatDuration(seconds)}, ${rate}.`,
    ...issueLines('Warnings', result.warnings),
    ...issueLines('Errors', result.errors),
    ...result.files.flatMap(attention),
  ]
  if (total.not_sent > 0) lines.push(NOT_SENT)
  if (total.held > 0) {
    const held = total.held === 1 ? '1 record is' : `${total.held.toLocaleString('en')} records are`
    lines.push(`${held} held until their customers are sent.`)
  }
  if (result.refusedWithBulk > 0 && !lenient) {
    const are = result.refusedWithBulk === 1 ? 'record was' : 'records were'
    lines.push(
      `${result.refusedWithBulk} valid ${are} refused with their bulks: add --lenient to store them.`,
    )
  }
  return lines.join('\n')
}

const NOT_SENT =
  '"not sent" counts records that were read and not sent, or whose request was not answered. It does not count records that were not read.'

/** Formats the same summary as one JSON object. */
export function summaryJson({ result, seconds, dryRun, lenient, halted }: RunReport): string {
  const total = totalOf(result)
  return JSON.stringify({
    dry_run: dryRun,
    lenient,
    halted,
    files: result.files.map(({ file, counts, unconfirmed, unsentFrom }) => ({
      file,
      ...counts,
      rejected_file: counts.rejected > 0 ? rejectedPath(file) : null,
      not_known_to_be_stored: mergeRanges(unconfirmed).map(([first, last]) => ({ first, last })),
      not_sent_from: unsentFrom,
    })),
    total,
    elapsed_seconds: Number(seconds.toFixed(3)),
    records_per_second: Math.round(total.received / seconds),
    warnings: Object.fromEntries(result.warnings),
    errors: Object.fromEntries(result.errors),
  })
}

/** Adds up the counts of all files. */
export function totalOf({ files }: RunResult): Counts {
  const total = zeroCounts()
  for (const { counts } of files) {
    for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name]
  }
  return total
}

function table(files: FileResult[], total: Counts): string[] {
  const names = Object.keys(total) as (keyof Counts)[]
  const row = (title: string, counts: Counts) => [
    title,
    ...names.map((name) => counts[name].toLocaleString('en')),
  ]
  const rows = [
    ['file', ...names.map((name) => name.replace('_', ' '))],
    ...files.map(({ file, counts }) => row(file, counts)),
    ...(files.length > 1 ? [row('total', total)] : []),
  ]
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)))
  return rows.map((cells) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  '),
  )
}

function issueLines(title: string, counts: IssueCounts): string[] {
  if (counts.size === 0) return []
  const width = Math.max(...[...counts.keys()].map((code) => code.length))
  const lines = [...counts].map(
    ([code, { count, example }]) =>
      `  ${code.padEnd(width)}  ${count === 1 ? 'once' : `${count.toLocaleString('en')} times`}, e.g. ${escapeText(example)}`,
  )
  return [`${title}:`, ...lines]
}

/** Returns what the user should act on. Records are counted from 0. */
function attention({ file, counts, unconfirmed, unsentFrom }: FileResult): string[] {
  const lines = mergeRanges(unconfirmed).map(
    ([first, last]) =>
      `${file}: records ${first} to ${last} may not be stored: the request was not answered.`,
  )
  if (unsentFrom !== null) lines.push(`${file}: sending stopped before record ${unsentFrom}.`)
  if (lines.length > 0)
    lines.push('Send the file again. Records that are stored already stay "unchanged".')
  if (counts.received === 0 && unsentFrom === null) lines.push(`${file} has no records.`)
  if (counts.rejected > 0) lines.push(`Rejected records: ${rejectedPath(file)}`)
  return lines
}

type Ranges = FileResult['unconfirmed']

/** Sorts ranges and joins adjacent ones. */
function mergeRanges(ranges: Ranges): Ranges {
  const all: Ranges = []
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = all.at(-1)
    if (before && before[1] + 1 === first) before[1] = last
    else all.push([first, last])
  }
  return all
}
