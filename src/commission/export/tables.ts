import { isSome } from '../engine/decimal.ts'
import type { Rule } from '../engine/plan.ts'
import type { StatementLine } from '../statements/draft.ts'
import { isPercentRate, parseScope } from '../statements/line-groups.ts'
import type { MessageName } from '../words/en.ts'
import type { Words } from '../words/words.ts'
import type { Presented } from './read.ts'
import { html } from './visible-html.ts'

/** Escaped HTML. */
export type Html = ReturnType<typeof html>

/** How the rows of a statement are written. */
export interface RowFrame {
  readonly words: Words
  readonly currency: string
  /** Returns the rule of a line; undefined if its terms are unknown. */
  readonly ruleOf: (line: Pick<StatementLine, 'rule' | 'version'>) => Rule | undefined
}

/** A table of a statement. */
interface TableOf<Row> {
  /** The label of the table, such as `Manual entries`. */
  readonly name: MessageName
  /** The labels of the columns. */
  readonly columns: readonly MessageName[]
  /** The columns of numbers. */
  readonly numbers: readonly MessageName[]
  readonly row: (row: Row, frame: RowFrame) => Html
}

const columnTitle = (title: string, isNumber: boolean): Html =>
  html`<th scope="col"${isNumber ? html` class="number"` : ''}>${title}</th>`

/** Returns a table; nothing if there are no rows. It takes focus, so that the keyboard can scroll it. */
export function tableOf<Row>(
  of: TableOf<Row>,
  rows: readonly Row[],
  statement: string,
  frame: RowFrame,
): Html | '' {
  if (rows.length === 0) return ''
  const { words } = frame
  const table = words.text(of.name)
  return html`<h3>${table}</h3>
<div class="wide" role="group" aria-label="${words.text('tableOf', { table, statement })}" tabindex="0"><table>
<thead><tr>${of.columns.map((one) => columnTitle(words.text(one), of.numbers.includes(one)))}</tr></thead>
<tbody>
${rows.map((row) => of.row(row, frame))}</tbody></table></div>
`
}

const number = (text: string | number | null): Html => html`<td class="number">${text}</td>`

/** Writes whom or what a line is for: `Customer C-1`, `All customers`. */
export function scopeText(scope: string | null, { text }: Words): string {
  const { of, id } = parseScope(scope ?? '')
  return text(`scope.${of}`, { id })
}

/** Writes what a line is paid on: an amount, or a number of units. */
export const baseText = ({ base, units }: StatementLine, { words, currency }: RowFrame): string =>
  base !== null ? words.money(base, currency) : units === null ? '' : words.figure(units)

/** Writes the rate of a line: `30 %`, `5.00 EUR from 100 on`, `50 at 5.00 EUR, 32 at 6.50 EUR`. */
export function rateText(line: StatementLine, { words, currency, ruleOf }: RowFrame): string {
  const { kind, rate, step } = line
  const isPercent = isPercentRate(kind, ruleOf(line))
  const text = (value: string): string =>
    isPercent ? words.percent(value) : words.money(value, currency)
  if (step !== null && typeof step !== 'string') {
    return step
      .map((one) => words.text('partAt', { part: words.figure(one.part), rate: text(one.rate) }))
      .join(', ')
  }
  if (rate === null) return ''
  return step === null || step === '0'
    ? text(rate)
    : words.text('rateFrom', { rate: text(rate), step: words.figure(step) })
}

/** Writes what caps, carries and advances did to a line, and what its tier measured. */
export function notesOf(line: StatementLine, { words, currency }: RowFrame): string {
  const { fence, measure, units, base } = line
  const amounts: readonly (readonly [MessageName, string])[] = [
    ['carriedIn', line.carried_in],
    ['carriedOn', line.carried_out],
    ['capped', line.capped],
    ['recouped', line.recouped],
    ['deficit', line.deficit],
    ['fenced', fence?.fenced ?? '0'],
    ['paidBack', fence?.paid_back ?? '0'],
  ]
  const reached = measure === null || measure === (units ?? base) ? [] : [measure]
  return [
    ...reached.map((one) => words.text('reached', { figure: words.figure(one) })),
    ...amounts
      .filter(([, amount]) => isSome(amount))
      .map(([name, amount]) => words.text(name, { amount: words.money(amount, currency) })),
  ].join(', ')
}

/** The manual entries of a statement. */
export const MANUAL: TableOf<Presented['manual'][number]> = {
  name: 'manual',
  columns: ['reason', 'reference', 'entered', 'amount'],
  numbers: ['amount'],
  row: ({ reason, reference, at, amount }, { words, currency }) =>
    html`<tr><td>${reason}</td><td>${reference}</td><td>${words.day(at.slice(0, 10))}</td>${number(words.money(amount, currency))}</tr>
`,
}

/** The records of a statement that wait. */
export const HOLDS: TableOf<Presented['holds'][number]> = {
  name: 'holds',
  columns: ['rule', 'reason', 'records', 'sum'],
  numbers: ['records', 'sum'],
  row: ({ rule, version, reason, currency, count, sum }, { words }) =>
    html`<tr><td>${words.text('ruleVersion', { rule, version })}</td><td>${words.text(`hold.${reason}`)}</td>
${number(count)}${number(currency ? words.money(sum, currency) : words.figure(sum))}</tr>
`,
}
