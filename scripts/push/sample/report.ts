import { OUTCOME } from '../../docs/explained/outcomes.ts'
import { RULE } from '../../docs/explained/rules.ts'
import { WARNING } from '../../docs/explained/warnings.ts'
import type { Result } from './results.ts'

/** One record of a sample run, or a request as a whole (`sent` is null), with its result. */
export interface SentRecord {
  /** The expected result, such as `error pattern`; empty: the record is valid. */
  shows: string[]
  sent: string | null
  answered: Result
  as_expected: boolean
}

/** A request of a sample run. */
export interface SentStep {
  title: string
  resource: string
  request: string
  headers: Record<string, string>
  stored: boolean
  status: number
  records: SentRecord[]
}

/** A finished sample run. */
export interface Report {
  vertical: string
  account: string
  name: string
  mode: string
  base_url: string
  /** Whether some steps stored records for later steps. */
  may_store: boolean
  steps: SentStep[]
  not_shown: { shows: string; because: string }[]
  as_expected: boolean
}

/** Formats a run for people: each record, its result, the cause and the fix. */
export function reportText(report: Report): string {
  const { vertical, name, account, mode, base_url, may_store: mayStore, steps, not_shown } = report
  const stored = steps.filter((step) => step.stored).map(storedIds)
  const unexpected = steps.flatMap(({ records }) => records).filter((one) => !one.as_expected)
  const lines = [
    `Sample run for ${vertical}: account ${account} (${name}, ${mode}) at ${base_url}.`,
    mayStore ? 'Every request is a dry run except those marked "stored".' : ALL_DRY_RUNS,
    '',
    ...steps.flatMap(stepLines),
    'Not shown:',
    ...not_shown.flatMap(({ shows, because }) => wrapped(shows, `because ${because}.`, 30)),
    '',
  ]
  if (stored.length > 0) {
    lines.push(
      `Stored in ${account}: ${stored.join(', ')}. The integrations team can reset the account.`,
    )
  }
  lines.push(
    unexpected.length === 0
      ? 'Every response is the expected one.'
      : `Unexpected responses, marked with ✗: ${unexpected.length}.`,
  )
  return lines.join('\n')
}

const ALL_DRY_RUNS = 'Every request is a dry run: nothing is stored.'

function stepLines({ title, request, headers, stored, status, records }: SentStep, i: number) {
  const { Prefer, ...own } = headers
  const lines = Object.entries({ Prefer, ...own }).map(([name, value]) => `${name}: ${value}`)
  return [
    `${i + 1}. ${title}${stored ? ' (stored)' : ''}`,
    `   ${request}  ${lines.join('  ')}  → ${status}`,
    ...records.flatMap((record) => recordLines(record, records.length === 1)),
  ]
}

function recordLines({ shows, sent, answered, as_expected }: SentRecord, alone: boolean): string[] {
  const { outcome, errors, warnings } = answered
  const issues = [...errors, ...warnings]
  const isNamed = outcome === undefined || shows.includes(`outcome ${outcome}`)
  const head = `${shows.join(', ') || 'valid'}${isNamed ? '' : ` → ${outcome}`}`
  const lines = [`   ${as_expected ? '✓' : '✗'} ${head}`]
  if (sent !== null && issues.length === 0) lines.push(...wrapped('sent', shorten(sent)))
  if (sent === null && alone) lines.push(...wrapped('sent', '[]'))
  for (const { code, pointer, message, hint } of issues) {
    if (sent !== null) lines.push(...wrapped('sent', memberText(pointer, sent)))
    lines.push(...wrapped('answered', `${code} at "${pointer}": ${message}`))
    if (hint) lines.push(...wrapped('hint', hint))
    const isError = errors.some((error) => error.code === code)
    const { cause, fix } = explain(code, isError)
    lines.push(...wrapped('why', cause), ...wrapped('fix', fix))
  }
  if (isKey(OUTCOME, outcome) && shows.includes(`outcome ${outcome}`)) {
    lines.push(...wrapped('means', OUTCOME[outcome]))
  }
  return [...lines, '']
}

const UNKNOWN = { cause: 'This command does not know the code.', fix: 'See its page.' }

function explain(code: string, isError: boolean) {
  if (isError) return isKey(RULE, code) ? RULE[code] : UNKNOWN
  return isKey(WARNING, code) ? WARNING[code] : UNKNOWN
}

const isKey = <T extends object>(table: T, key: string | undefined): key is keyof T & string =>
  key !== undefined && Object.hasOwn(table, key)

/** Returns the text of the member that a pointer into a bulk names, or else the record. */
function memberText(pointer: string, sent: string): string {
  const name = pointer.split('/')[2]
  // Sample records are flat: values other than strings have no comma or brace.
  const found =
    /^\w+$/.test(name ?? '') && new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`).exec(sent)
  return found ? found[0] : shorten(sent)
}

/** The longest part of a record that is printed, in characters. */
const MAX_LENGTH = 240

function shorten(text: string): string {
  const spaced = text.replaceAll(',"', ', "')
  return spaced.length > MAX_LENGTH ? `${spaced.slice(0, MAX_LENGTH)}…` : spaced
}

/** Formats a word and a text beside it in lines of at most 100 characters. */
function wrapped(word: string, text: string, width = 10): string[] {
  const lines = ['']
  for (const part of text.split(' ')) {
    const longer = lines.at(-1) === '' ? part : `${lines.at(-1)} ${part}`
    if (longer.length > 94 - width && lines.at(-1) !== '') lines.push(part)
    else lines[lines.length - 1] = longer
  }
  return lines.map((line, i) => `     ${(i === 0 ? word : '').padEnd(width)}${line}`)
}

/** Returns the ids of the records that a step stored. */
const storedIds = ({ resource, records }: SentStep) => {
  const sent = records.flatMap((one) => (one.sent === null ? [] : [JSON.parse(one.sent)]))
  const ids = sent.map((record) => record.eventid ?? record.customer_id ?? record.customerId)
  return `${resource} ${ids.join(', ')}`
}
