import type { PlanTerms } from '../engine/plan.ts'
import { ruleWords } from '../engine/plan-words.ts'
import { balanceOf } from '../statements/balance.ts'
import { correctionWords } from '../statements/cause-words.ts'
import type { Adjustment } from '../statements/draft.ts'
import {
  addToGroups,
  type EqualLines,
  type LineGroup,
  type LineGroups,
} from '../statements/line-groups.ts'
import { moneyText } from '../statements/money.ts'
import type { MessageName } from '../words/en.ts'
import type { Words } from '../words/words.ts'
import type { Part, Presented } from './read.ts'
import {
  baseText,
  HOLDS,
  type Html,
  MANUAL,
  notesOf,
  type RowFrame,
  rateText,
  scopeText,
  tableOf,
} from './tables.ts'
import { html } from './visible-html.ts'

/** Who sends printed statements, and what their words need. */
export interface Letter {
  readonly sender: string
  /** The lines of the sender's address. */
  readonly address: readonly string[]
  readonly words: Words
  /** Returns the name of an affiliate; null if it has none. */
  readonly receiverOf: (affiliate: string) => string | null
  /** Returns the terms of a version of a plan; undefined if they are unknown. */
  readonly termsOf: (plan: string, version: number) => PlanTerms | undefined
  /** Returns the name of a plan, or its id. */
  readonly nameOf: (plan: string) => string
}

/** A statement as it is printed. */
interface Printed extends RowFrame {
  readonly letter: Letter
  readonly statement: Presented
}

const STATUSES: Readonly<Record<string, MessageName>> = {
  draft: 'status.draft',
  approved: 'status.approved',
  paid: 'status.paid',
}

function statusText({ status }: Presented, { text }: Words): string {
  const name = STATUSES[status]
  return name ? text(name) : status
}

const fact = (name: string, value: string | null | undefined): Html | '' =>
  value ? html`<div><dt>${name}</dt><dd>${value}</dd></div>\n` : ''

/** Returns the number by which people name a statement: its period, and eight digits of its id. */
export const statementNumber = ({ id, period }: Pick<Presented, 'id' | 'period'>): string =>
  `${period}-${id.replace(/^stm_/, '').slice(0, 8).toUpperCase()}`

const dayOf = (instant: string): string => instant.slice(0, 10)

/** Says when a statement is payable, or how it was paid. */
function payableText({ paid, status, payable_on }: Presented, { day, text }: Words): string {
  if (!paid) {
    return text(status === 'draft' ? 'payableAsDraft' : 'payable', { day: day(payable_on) })
  }
  const { reference, paid_on } = paid
  return paid_on ? text('paidOn', { day: day(paid_on), reference }) : text('paid', { reference })
}

const returnText = ({ returned }: Presented, { day, text }: Words): string =>
  returned ? text('returned', { ...returned, day: day(returned.returned_on) }) : ''

const breaks = (lines: readonly string[]): Html[] => lines.map((line) => html`<br>${line}`)

/** Returns the head of a statement: who sends what to whom. */
function headOf({ letter, statement, currency }: Printed): Html {
  const { sender, address, words, nameOf, receiverOf } = letter
  const { affiliate_id, plan, period, approved_at, computed_at, payable } = statement
  const name = receiverOf(affiliate_id)
  const { text } = words
  // The id of the affiliate stands alone in its direction of writing.
  const [before, after] = text('heading', {
    affiliate: '\n',
    period: words.period(period),
  }).split('\n')
  return html`<header class="letter">
<p class="sender"><strong>${sender}</strong>${breaks(address)}</p>
<p class="receiver"><span>${text('to')}</span><br>${name === null ? html`<strong><bdi>${affiliate_id}</bdi></strong>` : html`<strong><bdi>${name}</bdi></strong><br><bdi>${affiliate_id}</bdi>`}</p>
</header>
<h2>${before}<bdi>${affiliate_id}</bdi>${after}</h2>
<dl>
${fact(text('number'), statementNumber(statement))}${fact(text('period'), words.days(period))}${fact(text('plan'), nameOf(plan))}${fact(text('status'), statusText(statement, words))}${approved_at ? fact(text('approved'), words.day(dayOf(approved_at))) : fact(text('computed'), words.day(dayOf(computed_at)))}</dl>
<p class="payable"><strong>${words.money(payable, currency)}</strong> <span>${payableText(statement, words)}</span></p>
${statement.returned && html`<p class="notice">${returnText(statement, words)}</p>\n`}`
}

/** Returns the table of how the payable amount comes about. */
function balanceTable({ letter, statement, words, currency }: Printed): Html {
  const rows = balanceOf(statement, words, letter.nameOf)
  return html`<table class="sums">
<caption>${words.text('balance')}</caption>
<tbody>
${rows.map(
  ({ title, explanation, amount }) =>
    html`<tr><th scope="row">${title}${explanation && html` <span>${explanation}</span>`}</th><td class="number">${words.money(amount, currency)}</td></tr>\n`,
)}</tbody>
</table>
`
}

/** The rows of a rule that differ, and the corrections, that are listed. */
const LISTED = { rows: 25, corrections: 50 }

/** Returns the row of lines that are equal, or of one line. */
function rowOf({ line, count, sum }: EqualLines, printed: Printed): Html {
  const { words, currency } = printed
  const amount = words.money(moneyText(sum, currency), currency)
  const what =
    count === 1
      ? scopeText(line.scope, words)
      : `${words.figure(String(count))} × ${words.money(line.amount, currency)}`
  const notes = notesOf(line, printed)
  return html`<tr><td>${what}${notes && html`<br><small>${notes}</small>`}</td><td class="number" data-title="${words.text('paidOnWhat')}">${baseText(line, printed)}</td>
<td class="number" data-title="${words.text('rate')}">${rateText(line, printed)}</td><td class="number" data-title="${words.text('amount')}">${amount}</td></tr>
`
}

/** Returns a rule in words; its id if its terms are unknown. */
function sentencesOf({ rule, version }: LineGroup, { letter, statement }: Printed) {
  const terms = letter.termsOf(statement.plan, version)
  const found = terms?.rules.find(({ id }) => id === rule)
  if (!terms || !found) return { pays: rule, limits: '' }
  const { pays, limits } = ruleWords(found, terms, letter.words)
  return { pays, limits: limits.join(' ') }
}

/** Returns the rows of a rule below its words and its sum. */
function groupRows(group: LineGroup, printed: Printed): Html {
  const { words, currency } = printed
  const { pays, limits } = sentencesOf(group, printed)
  const money = (sum: LineGroup['sum']): string => words.money(moneyText(sum, currency), currency)
  const { others } = group
  return html`<tbody>
<tr class="rule"><th scope="rowgroup" colspan="3">${pays}${limits && html` <small>${limits}</small>`}</th><th class="number">${money(group.sum)}</th></tr>
${[...group.equal.values()].map((one) => rowOf(one, printed))}${
  others.count > 0
    ? html`<tr><td colspan="3">${words.text('moreLines', { count: others.count })}</td><td class="number">${money(others.sum)}</td></tr>\n`
    : ''
}</tbody>
`
}

const ruleColumns = ({ text }: Words): Html =>
  html`<thead><tr><th scope="col">${text('for')}</th>${(
    ['paidOnWhat', 'rate', 'amount'] as const
  ).map((name) => html`<th scope="col" class="number">${text(name)}</th>`)}</tr></thead>\n`

/** Returns what a statement pays for: the lines of each rule below its words. */
function rulesTable(groups: LineGroups, printed: Printed): Html | '' {
  if (groups.size === 0) return ''
  const { words, statement } = printed
  return html`<h3>${words.text('rules')}</h3>
<div class="wide" role="group" aria-label="${words.text('rulesOf', { statement: statement.id })}" tabindex="0"><table class="rules">
${ruleColumns(words)}${[...groups.values()].map((group) => groupRows(group, printed))}</table></div>
`
}

/** Returns a correction as a sentence, without its full stop. */
function correctionText(one: Adjustment, { words, currency }: Printed): string {
  const amount = words.text('correction.of', {
    period: words.period(one.of.period),
    amount: words.money(one.amount, currency),
  })
  return correctionWords(one, amount, words)
}

/** Returns the corrections as sentences. */
function correctionList(corrections: readonly Adjustment[], printed: Printed): Html | '' {
  const { words, statement } = printed
  if (corrections.length === 0) return ''
  const more = statement.adjustments_total - corrections.length
  return html`<h3>${words.text('correctionsOfClosed')}</h3>
<ul>
${corrections.map(
  (one) => html`<li>${correctionText(one, printed)}.</li>\n`,
)}${more > 0 ? html`<li>${words.text('otherCorrections', { count: more })}</li>\n` : ''}</ul>
`
}

/** Adds up the lines of a statement, and returns its first corrections. */
async function sumParts(parts: AsyncIterable<Part>) {
  const groups: LineGroups = new Map()
  const corrections: Adjustment[] = []
  for await (const { lines, adjustments } of parts) {
    addToGroups(groups, lines, LISTED.rows)
    corrections.push(...adjustments.slice(0, LISTED.corrections - corrections.length))
  }
  return { groups, corrections }
}

/** Returns what identifies a statement. */
function identity({ statement, words }: Printed): Html {
  const { text } = words
  const instant = (at: string) => `${words.day(dayOf(at))}, ${at.slice(11, 16)} UTC`
  const { id, hash, plan, computed_at, approved_at } = statement
  return html`<dl class="identity">
${fact(text('statement'), id)}${fact(text('plan'), plan)}${fact(text('computed'), instant(computed_at))}${fact(text('approved'), approved_at && instant(approved_at))}${fact(text('hash'), hash)}</dl>
`
}

/**
 * Returns a statement as HTML: a letter, and what identifies the statement.
 *
 * @param parts All parts of the statement.
 */
export async function articleOf(
  statement: Presented,
  parts: AsyncIterable<Part>,
  letter: Letter,
): Promise<Html> {
  const { id, currency, plan, manual, holds } = statement
  const printed: Printed = {
    letter,
    statement,
    currency,
    words: letter.words,
    ruleOf: ({ rule, version }) =>
      letter.termsOf(plan, version)?.rules.find(({ id }) => id === rule),
  }
  const { groups, corrections } = await sumParts(parts)
  return html`<article>
${headOf(printed)}${balanceTable(printed)}${rulesTable(groups, printed)}${correctionList(corrections, printed)}${tableOf(MANUAL, manual, id, printed)}${tableOf(HOLDS, holds, id, printed)}${identity(printed)}</article>
`
}
