import { html } from 'hono/html'
import type { Cause } from '../statements/cause.ts'
import type { Adjustment, StatementLine } from '../statements/draft.ts'
import type { Presented } from './read.ts'

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** A table whose rows may come in several pieces. */
export interface TableOf<Row> {
  /** The name of the table, such as `Lines`. */
  readonly name: string
  /** The titles of the columns. Those of numbers begin with `#`. */
  readonly columns: readonly string[]
  readonly row: (row: Row) => Html
}

const columnTitle = (name: string): Html =>
  name.startsWith('#')
    ? html`<th scope="col" class="number">${name.slice(1)}</th>`
    : html`<th scope="col">${name}</th>`

/** Returns the beginning of a table. It takes focus, so that the keyboard can scroll it. */
export const tableStart = ({ name, columns }: TableOf<never>, statement: string): Html =>
  html`<h3>${name}</h3>
<div class="wide" role="group" aria-label="${name} of ${statement}" tabindex="0"><table>
<thead><tr>${columns.map(columnTitle)}</tr></thead>
<tbody>
`

/** The end of a table. */
export const TABLE_END = '</tbody></table></div>\n'

const number = (text: string | number | null): Html => html`<td class="number">${text}</td>`

const withId = (text: string, id: string): Html => html`<td>${text}<br><small>${id}</small></td>`

/** Returns what caps, carries and advances did to a line. */
function notesOf(line: StatementLine): string {
  const { fence } = line
  const amounts = {
    'carried in': line.carried_in,
    'carried out': line.carried_out,
    'cut by caps': line.capped,
    'recovered advance': line.recouped,
    'advance still to recover': line.deficit,
    'ring-fenced': fence?.fenced ?? '0',
    'recovered from ring-fenced customers': fence?.paid_back ?? '0',
  }
  return Object.entries(amounts)
    .filter(([, amount]) => Number(amount) !== 0)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ')
}

const stepText = (step: StatementLine['step']): string =>
  typeof step === 'string'
    ? step
    : (step?.map(({ from, part, rate }) => `from ${from}: ${part} at ${rate}`).join('; ') ?? '')

/** The lines of a statement. */
export const LINES: TableOf<StatementLine> = {
  name: 'Lines',
  columns: [
    'Rule',
    'Applies to',
    '#Base or units',
    '#Measure',
    'Tier',
    '#Rate',
    'Notes',
    '#Amount',
  ],
  row: (line) => html`<tr>${withId(`${line.rule}, version ${line.version} (${line.kind})`, line.id)}
<td>${line.scope}</td>${number(line.base ?? line.units)}${number(line.measure)}
<td>${stepText(line.step)}</td>${number(line.rate)}<td>${notesOf(line)}</td>${number(line.amount)}</tr>
`,
}

/** The causes of an adjustment that are printed. */
const MAX_CAUSES = 5

const causeCell = ({ kind, ...members }: Cause): string =>
  [
    kind,
    ...Object.entries(members).flatMap(([name, value]) =>
      value === null || typeof value === 'object' ? [] : [`${name.replaceAll('_', ' ')} ${value}`],
    ),
  ].join(' ')

function causesText({ causes, causes_total }: Adjustment): string {
  const listed = causes.slice(0, MAX_CAUSES).map(causeCell)
  const more = causes_total - listed.length
  return [...listed, ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

const correctedLine = ({ rule, version, of }: Adjustment): Html =>
  of.line === null
    ? html`<td>cover of a write-off</td>`
    : withId(rule === null ? '' : `${rule}, version ${version}`, of.line)

/** The adjustments of a statement. */
export const ADJUSTMENTS: TableOf<Adjustment> = {
  name: 'Adjustments of closed periods',
  columns: ['Adjustment', 'Period', 'Corrects', 'Applies to', 'Because of', '#Amount'],
  row: (
    one,
  ) => html`<tr><td><small>${one.id}</small></td><td>${one.of.period}</td>${correctedLine(one)}
<td>${one.scope}</td><td>${causesText(one)}</td>${number(one.amount)}</tr>
`,
}

/** The manual entries of a statement. */
export const MANUAL: TableOf<Presented['manual'][number]> = {
  name: 'Manual entries',
  columns: ['Reason', 'Reference', 'Entered', '#Amount'],
  row: ({ id, reason, reference, at, amount }) =>
    html`<tr>${withId(reason, id)}<td>${reference}</td><td>${at}</td>${number(amount)}</tr>
`,
}

const HOLD_REASONS: Readonly<Record<string, string>> = {
  no_currency: 'the record has no currency',
  fx_pending: 'the exchange rate is not published yet',
  fx_missing: 'there is no exchange rate',
}

/** The records of a statement that wait. */
export const HOLDS: TableOf<Presented['holds'][number]> = {
  name: 'Records without a rate or currency, not paid yet',
  columns: ['Rule', 'Reason', 'Currency', '#Records', '#Sum'],
  row: ({ rule, version, reason, currency, count, sum }) =>
    html`<tr><td>${rule}, version ${version}</td><td>${HOLD_REASONS[reason] ?? reason}</td>
<td>${currency}</td>${number(count)}${number(sum)}</tr>
`,
}

/** What other plans transferred to a statement. */
export const RECEIVED: TableOf<Presented['received'][number]> = {
  name: 'Received from other plans',
  columns: ['Plan', 'Period', '#Amount'],
  row: ({ from, period, amount }) =>
    html`<tr><td>${from}</td><td>${period}</td>${number(amount)}</tr>
`,
}
