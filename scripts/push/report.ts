import { escapeText } from '../../src/validation/quote.ts'
import { formatDuration } from './progress.ts'
import {
  type Counts,
  type FileResult,
  type IssueCounts,
  type Place,
  type RunResult,
  rejectedPath,
  zeroCounts,
} from './result.ts'

/** A finished run. */
export interface RunReport {
  result: RunResult
  seconds: number
  lenient: boolean
  /** Whether several records of a file may have one id. */
  allowRepeats: boolean
  /** Whether records with one id are merged; otherwise the last one counts. */
  merges: boolean
  /** Why the run ended early; null: it is complete. */
  halted: string | null
}

/** Formats the summary for people: a table, then what they should look at. */
export function summaryText(report: RunReport): string {
  const { result, seconds, lenient } = report
  const total = totalOf(result)
  const rate = `${Math.round(total.received / seconds).toLocaleString('en')} records/s`
  const lines = [
    ...table(result.files, total),
    '',
    `${result.dryRun ? 'Dry run, nothing was stored. ' : ''}${formatDuration(seconds)}, ${rate}.`,
    ...issueLines('Warnings', result.warnings, result.files.length > 1),
    ...issueLines('Errors', result.errors, result.files.length > 1),
    ...result.files.flatMap((file) => idLines(file, report)),
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
export function summaryJson({ result, seconds, lenient, halted }: RunReport): string {
  const total = totalOf(result)
  return JSON.stringify({
    dry_run: result.dryRun,
    lenient,
    halted,
    files: result.files.map(({ file, counts, unconfirmed, unsentFrom, ids }) => ({
      file,
      ...counts,
      rejected_file: counts.rejected > 0 ? rejectedPath(file) : null,
      not_known_to_be_stored: mergeRanges(unconfirmed).map(([first, last]) => ({ first, last })),
      not_sent_from: unsentFrom,
      repeated_ids: {
        count: ids.repeated.count,
        lines: ids.repeated.lines.map((line, i) => ({ line, first: ids.repeated.earlier[i] })),
      },
      shortened_ids: ids.shortened,
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

function issueLines(title: string, counts: IssueCounts, namesFiles: boolean): string[] {
  if (counts.size === 0) return []
  const width = Math.max(...[...counts.keys()].map((code) => code.length))
  const lines = [...counts].map(
    ([code, { count, example, places }]) =>
      `  ${code.padEnd(width)}  ${count === 1 ? 'once' : `${count.toLocaleString('en')} times`}, e.g. ${escapeText(example)} (${placesText(places, count, namesFiles)})`,
  )
  return [`${title}:`, ...lines]
}

/** The text lists at most this many lines of one kind. */
const MAX_LISTED = 10

/** Returns the first items of a list, and how many others there are. */
function listed(items: readonly string[], count: number): string {
  const shown = items.slice(0, MAX_LISTED)
  const more = count - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more.toLocaleString('en')} more` : ''}`
}

/** Returns the first lines of a file in words. */
const linesText = (lines: readonly number[], count: number): string =>
  `${count === 1 ? 'line' : 'lines'} ${listed(lines.map(String), count)}`

function placesText(places: readonly Place[], count: number, namesFiles: boolean): string {
  if (!namesFiles) {
    return linesText(
      places.map(({ line }) => line),
      count,
    )
  }
  return listed(
    places.map(({ file, line }) => `${file} line ${line}`),
    count,
  )
}

/** Returns what is wrong with the ids of a file. */
function idLines(
  { file, ids }: FileResult,
  { allowRepeats, merges }: Pick<RunReport, 'allowRepeats' | 'merges'>,
): string[] {
  const { repeated, shortened, hasMore } = ids
  const texts: string[] = []
  if (repeated.count > 0) {
    const have =
      repeated.count === 1 ? '1 row has' : `${repeated.count.toLocaleString('en')} rows have`
    const pairs = repeated.lines.map(
      (line, i) => `line ${line} repeats line ${repeated.earlier[i]}`,
    )
    texts.push(
      `${have} the id of an earlier row of this file (${listed(pairs, repeated.count)}); ${merges ? 'their fields are merged in this order' : 'the last one counts'}.` +
        (allowRepeats ? '' : ' Add --allow-repeats if this is intended.'),
    )
  }
  if (shortened.count > 0) {
    const have =
      shortened.count === 1
        ? '1 row has an id'
        : `${shortened.count.toLocaleString('en')} rows have ids`
    texts.push(
      `${have} of the form 1.23E+15 (${linesText(shortened.lines, shortened.count)}): a spreadsheet may have shortened long numbers. Export the column of ids as text.`,
    )
  }
  if (hasMore) {
    texts.push(
      `Repeated ids were looked for among ${ids.firstLines.size.toLocaleString('en')} ids; the file has more.`,
    )
  }
  return texts.map((text) => `${file}: ${text}`)
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
