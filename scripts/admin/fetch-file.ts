import { counted } from '../../src/commission/words/english.ts'
import { escapeText } from '../../src/platform/validation/quote.ts'
import type { AdminRequest, SendRequest, TextPage } from './request.ts'

/** The media types of the formats that commands print. */
export const TYPES = { csv: 'text/csv', text: 'text/plain' } as const

/** A format that commands print in place of JSON. */
type FileFormat = keyof typeof TYPES

/** The most rows of CSV at once. */
const PER_PAGE = '200'

/** Returns an answer as text or CSV: all pages of a list as one. */
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
  return joinCsv(texts)
}

/** Joins CSV files with the same header, whose names have no line break. */
const joinCsv = ([first = '', ...others]: readonly string[]): string =>
  first + others.map((text) => text.slice(text.indexOf('\n') + 1)).join('')

/** Prints a file. Its control characters are escaped: an id must not command the terminal. */
export const formatFile = (text: string): string =>
  text.trimEnd().replaceAll('\r\n', '\n').split('\n').map(escapeText).join('\n')
