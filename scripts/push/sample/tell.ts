import { OUTCOME } from '../../docs/explained/outcomes.ts'
import { RULE } from '../../docs/explained/rules.ts'
import { WARNING } from '../../docs/explained/warnings.ts'
import type { Answered } from './answered.ts'

/** One record of a lesson, or a request as a whole (`sent` is null), and what was answered. */
export interface Shown {
  /** What it is to show, such as `error pattern`; nothing: it is right. */
  shows: string[]
  sent: string | null
  answered: Answered
  as_expected: boolean
}

/** A request of a lesson. */
export interface ShownStep {
  title: string
  resource: string
  request: string
  headers: Record<string, string>
  stored: boolean
  status: number
  records: Shown[]
}

/** A lesson as it went. */
export interface Report {
  vertical: string
  account: string
  name: string
  mode: string
  base_url: string
  /** Whether some of it was stored, for what followed to be shown. */
  may_store: boolean
  steps: ShownStep[]
  not_shown: { shows: string; because: string }[]
  as_expected: boolean
}

/** The lesson for a reader: what was sent and answered, why, and how to mend it. */
export function lessonText(report: Report): string {
  const { vertical, name, account, mode, base_url, may_store: mayStore, steps, not_shown } = report
  const stored = steps.filter((step) => step.stored).map(storedIn)
  const odd = steps.flatMap(({ records }) => records).filter((one) => !one.as_expected)
  const lines = [
    `The first lesson of ${vertical}, in the account ${account} (${name}, ${mode}) at ${base_url}.`,
    mayStore ? 'All is a dry run, but for the requests that say "stored".' : MAY_NOT,
    '',
    ...steps.flatMap(stepLines),
    'Not shown here:',
    ...not_shown.flatMap(({ shows, because }) => wrapped(shows, `because ${because}.`, 30)),
    '',
  ]
  if (stored.length > 0) {
    lines.push(`Stored in ${account}: ${stored.join(', ')}; the integrations team can reset it.`)
  }
  lines.push(odd.length === 0 ? ALL_WELL : `Not as the lesson expects, see ✗: ${odd.length}.`)
  return lines.join('\n')
}

const MAY_NOT = 'All is a dry run: nothing is stored.'
const ALL_WELL = 'Every answer was the one that the lesson expects.'

function stepLines({ title, request, headers, stored, status, records }: ShownStep, i: number) {
  const { Prefer, ...own } = headers
  const said = Object.entries({ Prefer, ...own }).map(([name, value]) => `${name}: ${value}`)
  return [
    `${i + 1}. ${title}${stored ? ' (stored)' : ''}`,
    `   ${request}  ${said.join('  ')}  → ${status}`,
    ...records.flatMap((shown) => recordLines(shown, records.length === 1)),
  ]
}

function recordLines({ shows, sent, answered, as_expected }: Shown, alone: boolean): string[] {
  const { outcome, errors, warnings } = answered
  const said = [...errors, ...warnings]
  const isSaid = outcome === undefined || shows.includes(`outcome ${outcome}`)
  const head = `${shows.join(', ') || 'nothing wrong'}${isSaid ? '' : ` → ${outcome}`}`
  const lines = [`   ${as_expected ? '✓' : '✗'} ${head}`]
  if (sent !== null && said.length === 0) lines.push(...wrapped('sent', cut(sent)))
  if (sent === null && alone) lines.push(...wrapped('sent', '[]'))
  for (const { code, pointer, message, hint } of said) {
    if (sent !== null) lines.push(...wrapped('sent', memberAt(pointer, sent)))
    lines.push(...wrapped('answered', `${code} at "${pointer}": ${message}`))
    if (hint) lines.push(...wrapped('hint', hint))
    const { cause, cure } = explained(
      code,
      errors.some((error) => error.code === code),
    )
    lines.push(...wrapped('why', cause), ...wrapped('mend', cure))
  }
  if (isKey(OUTCOME, outcome) && shows.includes(`outcome ${outcome}`)) {
    lines.push(...wrapped('means', OUTCOME[outcome]))
  }
  return [...lines, '']
}

const UNKNOWN = { cause: 'This code is newer than this lesson.', cure: 'See its page.' }

function explained(code: string, isError: boolean) {
  if (isError) return isKey(RULE, code) ? RULE[code] : UNKNOWN
  return isKey(WARNING, code) ? WARNING[code] : UNKNOWN
}

const isKey = <T extends object>(table: T, key: string | undefined): key is keyof T & string =>
  key !== undefined && Object.hasOwn(table, key)

/** The member that a pointer into a bulk means, as it was sent, or else the record. */
function memberAt(pointer: string, sent: string): string {
  const name = pointer.split('/')[2]
  // Records of a lesson are flat: none of their values has a comma or a brace but in a text.
  const found =
    /^\w+$/.test(name ?? '') && new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`).exec(sent)
  return found ? found[0] : cut(sent)
}

const SHOWN = 240
function cut(text: string): string {
  const spaced = text.replaceAll(',"', ', "')
  return spaced.length > SHOWN ? `${spaced.slice(0, SHOWN)}…` : spaced
}

/** A word and a text beside it, in lines of at most 100 characters. */
function wrapped(word: string, text: string, width = 10): string[] {
  const lines = ['']
  for (const part of text.split(' ')) {
    const longer = lines.at(-1) === '' ? part : `${lines.at(-1)} ${part}`
    if (longer.length > 94 - width && lines.at(-1) !== '') lines.push(part)
    else lines[lines.length - 1] = longer
  }
  return lines.map((line, i) => `     ${(i === 0 ? word : '').padEnd(width)}${line}`)
}

/** What a step has stored, by its ids. */
const storedIn = ({ resource, records }: ShownStep) => {
  const sent = records.flatMap((one) => (one.sent === null ? [] : [JSON.parse(one.sent)]))
  const ids = sent.map((record) => record.eventid ?? record.customer_id ?? record.customerId)
  return `${resource} ${ids.join(', ')}`
}
