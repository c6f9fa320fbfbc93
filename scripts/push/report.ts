import {
  type Counts,
  type Entry,
  type Ledger,
  noCounts,
  rejectedPath,
  type Said,
} from './ledger.ts'
import { duration } from './progress.ts'

/** What there is to say in the end. */
export interface Outcome {
  ledger: Ledger
  seconds: number
  dryRun: boolean
  lenient: boolean
  /** Why it ended early; null: it did not. */
  halted: string | null
}

/** The summary for a reader: a table, then what needs attention. */
export function summaryText({ ledger, seconds, dryRun, lenient }: Outcome): string {
  const total = totalOf(ledger)
  const rate = `${Math.round(total.received / seconds).toLocaleString('en')} records/s`
  const lines = [
    ...table(ledger.entries, total),
    '',
    `${dryRun ? 'Dry run, nothing was stored. ' : ''}${duration(seconds)}, ${rate}.`,
    ...saidLines('Warnings', ledger.warnings),
    ...saidLines('Errors', ledger.errors),
    ...ledger.entries.flatMap(attention),
  ]
  if (total.held > 0) {
    const held = total.held === 1 ? '1 record is' : `${total.held.toLocaleString('en')} records are`
    lines.push(`${held} held: to be counted once the customer is known.`)
  }
  if (ledger.innocent > 0 && !lenient) {
    const are = ledger.innocent === 1 ? 'record was' : 'records were'
    lines.push(
      `${ledger.innocent} ${are} refused only with their bulks: --lenient stores what is good.`,
    )
  }
  return lines.join('\n')
}

/** The same for a program. */
export function summaryJson({ ledger, seconds, dryRun, lenient, halted }: Outcome): string {
  const total = totalOf(ledger)
  return JSON.stringify({
    dry_run: dryRun,
    lenient,
    halted,
    files: ledger.entries.map(({ file, counts, unstored, unsentFrom }) => ({
      file,
      ...counts,
      rejected_file: counts.rejected > 0 ? rejectedPath(file) : null,
      not_known_to_be_stored: merged(unstored).map(([first, last]) => ({ first, last })),
      not_sent_from: unsentFrom,
    })),
    total,
    elapsed_seconds: Number(seconds.toFixed(3)),
    records_per_second: Math.round(total.received / seconds),
    warnings: Object.fromEntries(ledger.warnings),
    errors: Object.fromEntries(ledger.errors),
  })
}

/** What became of all files together. */
export function totalOf({ entries }: Ledger): Counts {
  const total = noCounts()
  for (const { counts } of entries) {
    for (const name of Object.keys(total) as (keyof Counts)[]) total[name] += counts[name]
  }
  return total
}

function table(entries: Entry[], total: Counts): string[] {
  const names = Object.keys(total) as (keyof Counts)[]
  const row = (title: string, counts: Counts) => [
    title,
    ...names.map((name) => counts[name].toLocaleString('en')),
  ]
  const rows = [
    ['file', ...names.map((name) => name.replace('_', ' '))],
    ...entries.map(({ file, counts }) => row(file, counts)),
    ...(entries.length > 1 ? [row('total', total)] : []),
  ]
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)))
  return rows.map((cells) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  '),
  )
}

function saidLines(title: string, said: Said): string[] {
  if (said.size === 0) return []
  const width = Math.max(...[...said.keys()].map((code) => code.length))
  const lines = [...said].map(
    ([code, { count, example }]) =>
      `  ${code.padEnd(width)}  ${count === 1 ? 'once' : `${count.toLocaleString('en')} times`}, e.g. ${example}`,
  )
  return [`${title}:`, ...lines]
}

/** What the sender should do something about; records are counted from 0. */
function attention({ file, counts, unstored, unsentFrom }: Entry): string[] {
  const lines = merged(unstored).map(
    ([first, last]) => `${file}: records ${first} to ${last} are not known to be stored.`,
  )
  if (unsentFrom !== null) lines.push(`${file}: nothing was sent from record ${unsentFrom} on.`)
  if (lines.length > 0) lines.push('Send it again to go on: what is stored is "unchanged" then.')
  if (counts.rejected > 0) lines.push(`Rejected records: ${rejectedPath(file)}`)
  return lines
}

/** Ranges in order, those that touch as one. */
function merged(ranges: Entry['unstored']): Entry['unstored'] {
  const all: Entry['unstored'] = []
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const before = all.at(-1)
    if (before && before[1] + 1 === first) before[1] = last
    else all.push([first, last])
  }
  return all
}
