import { readFileSync } from 'node:fs'
import { counted } from '../../src/commission/engine/reasons.ts'
import { escapeText } from '../../src/platform/validation/quote.ts'
import type { AdminRequest, SendRequest, TextPage } from './request.ts'

/** The media types of the formats that commands print. */
export const TYPES = { csv: 'text/csv', html: 'text/html', text: 'text/plain' } as const

/** A format that commands print in place of JSON. */
export type FileFormat = keyof typeof TYPES

/** The style sheet of printable pages, from the folder of the project. */
const STYLE = 'public/assets/statement.css'

/** The most rows of CSV at once. */
const PER_PAGE = '200'

/** Returns an answer as a page to print or as CSV: all pages of a list, or all parts, as one. */
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
  return format === 'html' ? withStyle(texts.join('')) : joinCsv(texts)
}

/** Joins CSV files with the same header, whose names have no line break. */
const joinCsv = ([first = '', ...others]: readonly string[]): string =>
  first + others.map((text) => text.slice(text.indexOf('\n') + 1)).join('')

const LINK = /<link rel="stylesheet"[^>]*>/

/** Puts the style sheet into a printable page, so that it can be sent on. */
const withStyle = (page: string): string =>
  page.replace(LINK, () => `<style>\n${readFileSync(STYLE, 'utf8')}</style>`)

/** Prints a file. Its control characters are escaped: an id must not command the terminal. */
export const formatFile = (text: string): string =>
  text.trimEnd().replaceAll('\r\n', '\n').split('\n').map(escapeText).join('\n')
