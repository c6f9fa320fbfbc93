import type { Context } from 'hono'
import { html } from 'hono/html'
import type { AppEnv } from '../../auth/authorize.ts'
import type { FoundPage, Page } from '../../db/paginate.ts'
import { linkNext } from '../../http/pagination.ts'
import { invalidQuery } from '../../http/query.ts'
import { ReadMemory } from '../../http/read-memory.ts'
import { sendText } from '../../http/send-json.ts'
import { sendPieces } from '../../http/send-pieces.ts'
import { csvHeaders, writeCsv } from '../csv.ts'
import { PART_LIMITS } from '../drafts/limits.ts'
import { articlePieces } from './article.ts'
import { entriesCsv, STATEMENT_COLUMNS, statementRow } from './csv-rows.ts'
import { FILE_PARTS, PAGE_LIMITS, PAGE_PARTS, WEIGHT_PER_BYTE } from './limits.ts'
import { PAGE_END, pageHeaders, pageStart } from './page.ts'
import {
  type Books,
  type Part,
  type Presented,
  partsFrom,
  withFirstParts,
  withinLines,
} from './read.ts'
import type { Html } from './tables.ts'

/** Returns the memory that rows take with one part of the lines of a statement. */
const weightOf = (statements: readonly Presented[]): number =>
  WEIGHT_PER_BYTE * (PART_LIMITS.bytes + JSON.stringify(statements).length)

/** A page of statements, and how its list continues. */
export interface StatementList {
  /** What the cursors of the list are issued for. */
  readonly context: string
  readonly page: Page
  readonly found: FoundPage<Presented>
  readonly period: string | undefined
}

/** Responds with one row of CSV for each statement of a page. */
export async function sendListCsv(
  c: Context<AppEnv>,
  { account }: Books,
  { context, page, found, period }: StatementList,
): Promise<Response> {
  await linkNext(c, context, page, found)
  const csv = writeCsv([STATEMENT_COLUMNS, ...found.data.map(statementRow)])
  const headers = csvHeaders('statements', account, ...(period ? [period] : []))
  return sendText(c, csv, headers, new ReadMemory(account))
}

/** The maximum number of rows that a printable page asks for. */
export function checkPageSize({ size }: Page): void {
  if (size <= PAGE_LIMITS.statements) return
  throw invalidQuery(
    `A printable page has at most ${PAGE_LIMITS.statements} statements. Send \`per_page=${PAGE_LIMITS.statements}\` or less.`,
  )
}

/** Responds with statements as a printable page. */
export async function sendListPage(
  c: Context<AppEnv>,
  books: Books,
  { context, page, found, period }: StatementList,
): Promise<Response> {
  const part = withinLines(found, ['period', 'affiliate_id', 'plan'])
  const cursor = await linkNext(c, context, page, part)
  const title = `Statements of ${books.account}${period ? ` for ${period}` : ''}`
  const notice =
    cursor === null ? null : continued(c, part.data.length, found.total, page.size, cursor)
  async function* articles() {
    for await (const { statement, first } of withFirstParts(books, part.data)) {
      yield* articlePieces(statement, partsFrom(books, statement, first, PAGE_PARTS))
    }
  }
  return sendPage(c, books, { title, notice }, part.data, articles())
}

function continued(c: Context, count: number, total: number, size: number, cursor: string): Html {
  const query = new URL(c.req.url).searchParams
  query.delete('page')
  query.set('per_page', String(size))
  query.set('cursor', cursor)
  return html`This page has ${count} of ${total} statements. <a rel="next" href="?${query.toString()}">The next page</a> goes on.`
}

/** Responds with the lines, adjustments and manual entries of a statement as CSV. */
export function sendStatementCsv(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
): Promise<Response> {
  const parts = linkedParts(c, books, statement, first, FILE_PARTS)
  const headers = csvHeaders('statement', books.account, statement.period, statement.id)
  const memory = new ReadMemory(books.account)
  return sendPieces(c, entriesCsv(statement, parts), headers, memory, weightOf([statement]))
}

/** Responds with a statement as a printable page. */
export function sendStatementPage(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
): Promise<Response> {
  const parts = linkedParts(c, books, statement, first, PAGE_PARTS)
  const title = `Statement of ${statement.affiliate_id} for ${statement.period}`
  const articles = articlePieces(statement, parts)
  return sendPage(c, books, { title, notice: null }, [statement], articles)
}

/** Returns at most `most` parts of a statement, and links the part that follows them. */
function linkedParts(
  c: Context<AppEnv>,
  books: Books,
  statement: Presented,
  first: Part,
  most: number,
): ReturnType<typeof partsFrom> {
  if (first.part + most <= first.parts) {
    const { pathname } = new URL(c.req.url)
    const target = new URL(`${pathname}?part=${first.part + most}`, c.env.BASE_URL)
    c.header('Link', `<${target}>; rel="next"`)
  }
  return partsFrom(books, statement, first, most)
}

function sendPage(
  c: Context<AppEnv>,
  { account }: Books,
  head: { title: string; notice: Html | null },
  statements: readonly Presented[],
  articles: AsyncGenerator<string, void>,
): Promise<Response> {
  const { origin } = new URL(c.env.BASE_URL)
  async function* pieces() {
    yield pageStart({ origin, ...head })
    yield* articles
    yield PAGE_END
  }
  const memory = new ReadMemory(account)
  return sendPieces(c, pieces(), pageHeaders(origin), memory, weightOf(statements))
}
