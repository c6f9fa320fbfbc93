import { readFileSync } from 'node:fs'
import { counted } from '../../src/commission/engine/reasons.ts'
import { escapeText } from '../../src/validation/quote.ts'
import { usageError } from '../exit-error.ts'
import { fetchPages } from './client.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest, TextPage } from './request.ts'

const TYPES: Readonly<Record<string, string>> = { csv: 'text/csv', html: 'text/html' }

/** The style sheet of printable pages, from the folder of the project. */
const STYLE = 'public/assets/statement.css'

/** The most statements of a printable page. */
const PER_PAGE = '200'

/** Returns statements, or one of them, in a format: all pages or parts as one. */
export async function exportStatements(
  send: SendRequest,
  request: AdminRequest,
  { options }: Input,
  report: (text: string) => void,
): Promise<unknown> {
  const [format = ''] = options.format ?? []
  const [statement] = options.statement ?? []
  const { format: _format, statement: _statement, ...filters } = request.query
  const isFiltered = Object.keys(filters).length > 0
  if (statement !== undefined && isFiltered) {
    throw usageError('`--statement` names one statement. Leave the other filters out.')
  }
  const { path } = request
  const target: AdminRequest =
    statement === undefined
      ? { ...request, query: filters }
      : { ...request, path: `${path}/${encodeURIComponent(statement)}`, query: {} }
  const accept = TYPES[format]
  if (accept === undefined) {
    return statement === undefined
      ? fetchPages(send, target, Number.POSITIVE_INFINITY)
      : fetchParts(send, target)
  }
  const perPage = statement === undefined ? { per_page: PER_PAGE } : {}
  const first = { ...target, accept, query: { ...perPage, ...target.query } }
  const texts = await fetchTexts(send, first, report)
  return format === 'csv' ? joinCsv(texts) : joinPages(texts)
}

async function fetchTexts(
  send: SendRequest,
  request: AdminRequest,
  report: (text: string) => void,
): Promise<string[]> {
  const texts: string[] = []
  for (let query: TextPage['next'] = request.query; query !== null; ) {
    const page = (await send({ ...request, query })) as TextPage
    texts.push(page.text)
    query = page.next
    if (query !== null) report(`${counted(texts.length, 'page')} so far.`)
  }
  return texts
}

interface Whole {
  lines: object[]
  adjustments: object[]
  hash: string
  parts: number
}

/** Requests all parts of a statement, and returns them as one. */
async function fetchParts(send: SendRequest, request: AdminRequest): Promise<Whole> {
  const whole = (await send(request)) as Whole
  for (let part = 2; part <= whole.parts; part++) {
    const next = (await send({ ...request, query: { part: String(part) } })) as Whole
    if (next.hash !== whole.hash) {
      throw new Error('The statement has changed while it was read. Repeat the command.')
    }
    whole.lines.push(...next.lines)
    whole.adjustments.push(...next.adjustments)
  }
  return { ...whole, parts: 1 }
}

/** Joins CSV files with the same header, whose names have no line break. */
const joinCsv = ([first = '', ...others]: readonly string[]): string =>
  first + others.map((text) => text.slice(text.indexOf('\n') + 1)).join('')

const MAIN = /<main>\n([\s\S]*)<\/main>/

/** The note that a page does not have all statements. */
const PAGE_NOTE = /(<header>[\s\S]*?)<p class="notice">[\s\S]*?<\/p>\n/

const LINK = /<link rel="stylesheet"[^>]*>/

/** Joins printable pages, and puts the style sheet into the result, so that it can be sent on. */
function joinPages([first = '', ...others]: readonly string[]): string {
  const articles = others.map((text) => MAIN.exec(text)?.[1] ?? '').join('')
  const style = `<style>\n${readFileSync(STYLE, 'utf8')}</style>`
  const end = first.lastIndexOf('</main>')
  return (first.slice(0, end) + articles + first.slice(end))
    .replace(LINK, () => style)
    .replace(PAGE_NOTE, (_, start: string) => (others.length > 0 ? start : _))
}

/** Prints an export. Its control characters are escaped: an id must not command the terminal. */
export function formatExport(body: unknown): string {
  if (typeof body !== 'string') return escapeText(JSON.stringify(body))
  return body.trimEnd().replaceAll('\r\n', '\n').split('\n').map(escapeText).join('\n')
}
