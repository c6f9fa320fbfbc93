import type { Context } from 'hono'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import type { FoundPage, Page } from '../../platform/db/paginate.ts'
import { findAccount } from '../../platform/directory/accounts.ts'
import { readProfiles } from '../../platform/directory/affiliates.ts'
import { ReadMemory } from '../../platform/http/memory.ts'
import { linkNext } from '../../platform/http/pagination.ts'
import { invalidQuery } from '../../platform/http/query.ts'
import { sendPieces } from '../../platform/http/send.ts'
import { showTo } from '../../platform/http/show.ts'
import { csvHeaders, writeCsv } from '../csv.ts'
import { readVersions } from '../db/plans.ts'
import { decimal, fixedText, sum } from '../engine/decimal.ts'
import type { PlanTerms } from '../engine/plan.ts'
import { parseVersion } from '../plans/stored-plans.ts'
import type { Adjustment, StatementLine } from '../statements/draft.ts'
import { PART_LIMITS } from '../statements/limits.ts'
import { DEFAULT_LOCALE, type Language, languageOf, wordsOf } from '../words/words.ts'
import { articleOf, type Letter } from './article.ts'
import { FILE_PARTS, WEIGHT_PER_BYTE } from './limits.ts'
import { pageHeaders, pageOf } from './page.ts'
import { type Books, type Part, type Presented, partsFrom } from './read.ts'

/** The columns of a list of statements. */
export const STATEMENT_COLUMNS = [
  'id',
  'affiliate_id',
  'plan',
  'period',
  'status',
  'currency',
  'opening',
  'lines_sum',
  'adjustments_sum',
  'manual_sum',
  'total',
  'payable',
  'closing',
  'dropped',
  'transferred',
  'transferred_to',
  'received',
  'held_records',
  'lines_total',
  'adjustments_total',
  'payable_on',
  'approved_at',
  'paid_reference',
  'paid_on',
  'computed_at',
  'hash',
  'returned_on',
] as const

/** The columns of the lines, adjustments and manual entries of a statement. */
export const ENTRY_COLUMNS = [
  'statement_id',
  'affiliate_id',
  'plan',
  'period',
  'currency',
  'kind',
  'id',
  'rule',
  'version',
  'rule_kind',
  'scope',
  'base',
  'units',
  'measure',
  'step',
  'rate',
  'carried_in',
  'carried_out',
  'capped',
  'recouped',
  'deficit',
  'amount',
  'of_period',
  'of_line',
  'causes',
  'reason',
  'reference',
  'at',
] as const

type Value = string | number | null | undefined

/** Returns the cells of a row in the order of the columns; those without a value are empty. */
const toRow = <T extends string>(
  columns: readonly T[],
  values: Readonly<Partial<Record<T, Value>>>,
): string[] => columns.map((name) => String(values[name] ?? ''))

/** Adds up amounts of one currency. */
function sumText(amounts: readonly string[]): string {
  const total = sum(amounts.map(decimal))
  return amounts.length === 0 ? '' : fixedText(total, total.scale)
}

/** Returns the row of a statement in a list. */
function statementRow(statement: Presented): string[] {
  const { transferred, received, holds, approved_at, paid, returned, ...sums } = statement
  return toRow(STATEMENT_COLUMNS, {
    ...sums,
    transferred: transferred?.amount,
    transferred_to: transferred?.to,
    received: sumText(received.map(({ amount }) => amount)),
    held_records: holds.reduce((count, hold) => count + hold.count, 0),
    approved_at,
    paid_reference: paid?.reference,
    paid_on: paid?.paid_on,
    returned_on: returned?.returned_on,
  })
}

const csvStepText = (step: StatementLine['step']): string =>
  step === null || typeof step === 'string' ? (step ?? '') : JSON.stringify(step)

function lineValues({ kind, step, fence: _fence, fx: _fx, ...line }: StatementLine) {
  return { ...line, kind: 'line', rule_kind: kind, step: csvStepText(step) }
}

function adjustmentValues({ of, causes_total, id, rule, version, scope, amount }: Adjustment) {
  return {
    kind: 'adjustment',
    id,
    rule,
    version,
    scope,
    amount,
    of_period: of.period,
    of_line: of.line,
    causes: causes_total,
    reason: of.line === null ? 'dropped' : null,
  }
}

/** Yields parts of a statement as the caller sees them, at most `FILE_PARTS` from `first` on. */
async function* shownParts(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
): AsyncGenerator<Part> {
  for await (const part of partsFrom(books, statement, first, FILE_PARTS)) {
    yield await showTo(c, part)
  }
}

/** The rows that become one piece of text. */
const ROWS = 100

/** Yields the lines, adjustments and manual entries of a statement as CSV; the latter after all parts. */
async function* entriesCsv(
  statement: Presented,
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void> {
  const { id: statement_id, affiliate_id, plan, period, currency } = statement
  const own = { statement_id, affiliate_id, plan, period, currency }
  const textOf = (entries: readonly Partial<Record<(typeof ENTRY_COLUMNS)[number], Value>>[]) =>
    writeCsv(entries.map((entry) => toRow(ENTRY_COLUMNS, { ...entry, ...own })))
  yield writeCsv([ENTRY_COLUMNS])
  for await (const { lines, adjustments, part, parts: all } of parts) {
    const entries = [...lines.map(lineValues), ...adjustments.map(adjustmentValues)]
    for (let at = 0; at < entries.length; at += ROWS) yield textOf(entries.slice(at, at + ROWS))
    if (part < all) continue
    const manual = statement.manual.map((entry) => ({ ...entry, kind: 'manual' }))
    for (let at = 0; at < manual.length; at += ROWS) yield textOf(manual.slice(at, at + ROWS))
  }
}

/** Returns the memory that a statement takes with one part of its lines. */
const weightOf = (statement: Presented): number =>
  WEIGHT_PER_BYTE * (PART_LIMITS.bytes + JSON.stringify(statement).length)

/** A page of statements as they are stored, and how its list continues. */
interface StatementList {
  /** What the cursors of the list are issued for. */
  readonly context: string
  readonly page: Page
  readonly found: FoundPage<Presented>
  readonly period: string | undefined
}

/** Responds with one row of CSV for each statement of a page. */
export async function sendListCsv(
  c: Context<AppEnv>,
  account: string,
  { context, page, found, period }: StatementList,
): Promise<Response> {
  await linkNext(c, context, page, found)
  const shown = await showTo(c, found.data)
  const csv = writeCsv([STATEMENT_COLUMNS, ...shown.map(statementRow)])
  const headers = csvHeaders('statements', account, ...(period ? [period] : []))
  return c.body(csv, 200, headers)
}

/** Responds with the lines, adjustments and manual entries of a statement as CSV. */
export function sendStatementCsv(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
): Promise<Response> {
  linkNextPart(c, first)
  const parts = shownParts(c, books, statement, first)
  const headers = csvHeaders('statement', books.account, statement.period, statement.id)
  const memory = new ReadMemory(books.account, c.var.affiliate)
  return sendPieces(c, entriesCsv(statement, parts), headers, memory, weightOf(statement))
}

/** Responds with a statement as a printable page, which adds up its lines by rule. */
export async function sendStatementPage(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
): Promise<Response> {
  if (first.parts > FILE_PARTS) throw invalidQuery(TOO_LONG)
  const letter = await readLetter(c, books, statement)
  const { words } = letter
  const { affiliate_id: affiliate } = statement
  const title = words.text('title', { affiliate, period: words.period(statement.period) })
  const { origin } = new URL(c.env.BASE_URL)
  async function* pieces() {
    const article = await articleOf(statement, shownParts(c, books, statement, first), letter)
    yield pageOf(origin, title, words.language, article)
  }
  const memory = new ReadMemory(books.account, c.var.affiliate)
  return sendPieces(c, pieces(), pageHeaders(origin), memory, weightOf(statement))
}

const TOO_LONG = 'The statement has too many lines for a page. Request it as CSV, in parts.'

/** Reads who sends a statement, and the terms of its plans. */
async function readLetter(
  c: Context<AppEnv>,
  { db, account }: Books,
  { affiliate_id, plan, received, transferred }: Presented,
): Promise<Letter> {
  const plans = [
    plan,
    ...received.map(({ from }) => from),
    ...(transferred ? [transferred.to] : []),
  ]
  const [sender, profiles, versions] = await Promise.all([
    findAccount(c.env.DB, account),
    readProfiles(c.env.DB, account, [affiliate_id]),
    readVersions(db, account, plans),
  ])
  const terms = new Map<string, Map<number, PlanTerms>>()
  for (const row of versions) {
    const { plan, version, terms: found } = parseVersion(row)
    terms.set(plan, (terms.get(plan) ?? new Map()).set(version, found))
  }
  return {
    sender: sender?.name ?? account,
    address: sender?.address?.split('\n') ?? [],
    words: wordsOf(localeFor(sender?.locale ?? DEFAULT_LOCALE, c.var.affiliate?.language)),
    receiverOf: (affiliate) => profiles.get(affiliate)?.display_name ?? null,
    termsOf: (plan, version) => terms.get(plan)?.get(version),
    nameOf: (plan) => [...(terms.get(plan)?.values() ?? [])].at(-1)?.name ?? plan,
  }
}

/** Returns the locale of a letter: that of the firm, unless the affiliate who reads it has another language. */
const localeFor = (locale: string, language: Language | null | undefined): string =>
  language && language !== languageOf(locale) ? language : locale

/** Links the part of a statement that follows those of a file. */
function linkNextPart(c: Context<AppEnv>, first: Part): void {
  if (first.part + FILE_PARTS > first.parts) return
  const { pathname } = new URL(c.req.url)
  const target = new URL(`${pathname}?part=${first.part + FILE_PARTS}`, c.env.BASE_URL)
  c.header('Link', `<${target}>; rel="next"`)
}
