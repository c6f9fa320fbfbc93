import { readFileSync } from 'node:fs'
import { counted } from '../../src/commission/engine/reasons.ts'
import { escapeText } from '../../src/validation/quote.ts'
import type { AdminRequest, SendRequest, TextPage } from './request.ts'

/** The media types of the formats that commands print. */
export const TYPES = { csv: 'text/csv', html: 'text/html', text: 'text/plain' } as const

/** A format that commands print in place of JSON. */
export type FileFormat = keyof typeof TYPES

/** The style sheet of printable pages, from the folder of the project. */
const STYLE = 'public/assets/statement.css'

/** The most rows of a printable page, and of CSV at once. */
const PER_PAGE = '200'

/** Returns an answer as CSV or as a page to print: all pages of a list, or all parts, as one. */
export async function fetchFile(
  send: SendRequest,
  request: AdminRequest,
  { format, isList }: { format: FileFormat; isList: boolean },
  report: (text: string) => void,
): Promise<string> {
  const { limit: _, ...filters } = request.query
  const first = isList ? { per_page: PER_PAGE, ...filters } : filters
  const texts: string[] = []
  for (let query: TextPage['next'] = first; query !== null; ) {
    const page = (await send({ ...request, query, accept: TYPES[format] })) as TextPage
    texts.push(page.text)
    query = page.next
    if (query !== null) report(`${counted(texts.length, 'page')} so far.`)
  }
  return format === 'html' ? joinPages(texts) : joinCsv(texts)
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

/** Prints a file. Its control characters are escaped: an id must not command the terminal. */
export const formatFile = (text: string): string =>
  text.trimEnd().replaceAll('\r\n', '\n').split('\n').map(escapeText).join('\n')
