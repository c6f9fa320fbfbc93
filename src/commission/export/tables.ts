import type { Rule } from '../engine/plan.ts'
import type { Cause } from '../statements/cause.ts'
import type { Adjustment, StatementLine } from '../statements/draft.ts'
import { isPercentRate, isSome, parseScope } from '../statements/line-groups.ts'
import type { Presented } from './read.ts'
import { html } from './visible-html.ts'
import type { Writing } from './writing.ts'

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** How the rows of a statement are written. */
export interface RowFrame {
  readonly writing: Writing
  readonly currency: string
  /** Returns the rule of a line; undefined if its terms are unknown. */
  readonly ruleOf: (line: Pick<StatementLine, 'rule' | 'version'>) => Rule | undefined
}

/** A table whose rows may come in several pieces. */
export interface TableOf<Row> {
  /** The name of the table, such as `Lines`. */
  readonly name: string
  /** The titles of the columns. Those of numbers begin with `#`. */
  readonly columns: readonly string[]
  readonly row: (row: Row, frame: RowFrame) => Html
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

const idCell = (id: string): Html => html`<td><small>${id}</small></td>`

const SCOPES = { customer: 'Customer', product: 'Product', affiliate: 'Affiliate' } as const

/** Writes whom or what a line is for: `Customer C-1`, `All customers`. */
export function scopeText(scope: string | null): string {
  const { of, id } = parseScope(scope ?? '')
  return of === 'all' ? 'All customers' : `${SCOPES[of]} ${id}`
}

/** Writes what a line is paid on: an amount, or a number of units. */
export const baseText = (
  { base, units }: StatementLine,
  { writing, currency }: RowFrame,
): string =>
  base !== null ? writing.money(base, currency) : units === null ? '' : writing.figure(units)

/** Writes the rate of a line: `30 %`, `5.00 EUR from 100 on`, `50 at 5.00 EUR, 32 at 6.50 EUR`. */
export function rateText(line: StatementLine, { writing, currency, ruleOf }: RowFrame): string {
  const { kind, rate, step } = line
  const isPercent = isPercentRate(kind, ruleOf(line))
  const text = (value: string): string =>
    isPercent ? `${writing.figure(value)} %` : writing.money(value, currency)
  if (step !== null && typeof step !== 'string') {
    return step.map((one) => `${writing.figure(one.part)} at ${text(one.rate)}`).join(', ')
  }
  if (rate === null) return ''
  return step === null || step === '0'
    ? text(rate)
    : `${text(rate)} from ${writing.figure(step)} on`
}

/** Writes what caps, carries and advances did to a line, and what its tier measured. */
export function notesOf(line: StatementLine, { writing, currency }: RowFrame): string {
  const { fence, measure, units, base } = line
  const amounts = {
    'carried in': line.carried_in,
    'carried on': line.carried_out,
    'cut by a limit': line.capped,
    'advance paid back': line.recouped,
    'advance still open': line.deficit,
    'losses set apart': fence?.fenced ?? '0',
    'losses paid back': fence?.paid_back ?? '0',
  }
  const reached = measure === null || measure === (units ?? base) ? [] : [measure]
  return [
    ...reached.map((one) => `reached ${writing.figure(one)}`),
    ...Object.entries(amounts)
      .filter(([, amount]) => isSome(amount))
      .map(([name, amount]) => `${name} ${writing.money(amount, currency)}`),
  ].join(', ')
}

/** The lines of a statement with their ids. */
export const LINES: TableOf<StatementLine> = {
  name: 'Lines',
  columns: ['Line', 'Rule', 'For', '#Paid on', '#Rate', 'Notes', '#Amount'],
  row: (line, frame) => html`<tr>${idCell(line.id)}<td>${line.rule}, version ${line.version}</td>
<td>${scopeText(line.scope)}</td>${number(baseText(line, frame))}${number(rateText(line, frame))}
<td>${notesOf(line, frame)}</td>${number(frame.writing.money(line.amount, frame.currency))}</tr>
`,
}

/** The causes of an adjustment that are printed. */
const MAX_CAUSES = 5

const causeCell = ({ kind, ...members }: Cause): string =>
  [
    kind.replaceAll('_', ' '),
    ...Object.entries(members).flatMap(([name, value]) =>
      value === null || typeof value === 'object' ? [] : [`${name.replaceAll('_', ' ')} ${value}`],
    ),
  ].join(' ')

function causesText({ causes, causes_total }: Adjustment): string {
  const listed = causes.slice(0, MAX_CAUSES).map(causeCell)
  const more = causes_total - listed.length
  return [...listed, ...(more > 0 ? [`${more} more`] : [])].join('; ')
}

const correctedRule = ({ rule, version, of }: Adjustment): string =>
  of.line === null ? 'cover of a write-off' : rule === null ? '' : `${rule}, version ${version}`

/** The corrections of a statement with their ids. */
export const ADJUSTMENTS: TableOf<Adjustment> = {
  name: 'Corrections',
  columns: ['Correction', 'Period', 'Rule', 'Line', 'For', 'Because of', '#Amount'],
  row: (one, { writing, currency }) =>
    html`<tr>${idCell(one.id)}<td>${writing.period(one.of.period)}</td><td>${correctedRule(one)}</td>${idCell(one.of.line ?? '')}
<td>${one.of.line === null ? '' : scopeText(one.scope)}</td><td>${causesText(one)}</td>${number(writing.money(one.amount, currency))}</tr>
`,
}

/** The manual entries of a statement. */
export const MANUAL: TableOf<Presented['manual'][number]> = {
  name: 'Manual entries',
  columns: ['Reason', 'Reference', 'Entered', '#Amount'],
  row: ({ reason, reference, at, amount }, { writing, currency }) =>
    html`<tr><td>${reason}</td><td>${reference}</td><td>${writing.day(at.slice(0, 10))}</td>${number(writing.money(amount, currency))}</tr>
`,
}

/** The manual entries of a statement with their ids. */
export const MANUAL_IDS: TableOf<Presented['manual'][number]> = {
  name: 'Manual entries by id',
  columns: ['Entry', 'Reference', '#Amount'],
  row: ({ id, reference, amount }, { writing, currency }) =>
    html`<tr>${idCell(id)}<td>${reference}</td>${number(writing.money(amount, currency))}</tr>
`,
}

const HOLD_REASONS: Readonly<Record<string, string>> = {
  no_currency: 'the record has no currency',
  fx_pending: 'the exchange rate is not published yet',
  fx_missing: 'there is no exchange rate',
}

/** The records of a statement that wait. */
export const HOLDS: TableOf<Presented['holds'][number]> = {
  name: 'Not paid yet: records without a rate or currency',
  columns: ['Rule', 'Reason', '#Records', '#Sum'],
  row: ({ rule, version, reason, currency, count, sum }, { writing }) =>
    html`<tr><td>${rule}, version ${version}</td><td>${HOLD_REASONS[reason] ?? reason}</td>
${number(count)}${number(currency ? writing.money(sum, currency) : writing.figure(sum))}</tr>
`,
}
