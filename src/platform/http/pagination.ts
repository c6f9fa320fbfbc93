import type { Context } from 'hono'
import { signText, verifyText } from '../auth/sign-text.ts'
import {
  type FoundPage,
  type KeyValue,
  MAX_DEPTH,
  MAX_PAGE_BYTES,
  type Page,
} from '../db/paginate.ts'
import { type ReadMemory, SMALL_RESPONSE_BYTES } from './memory.ts'
import { invalidQuery, invalidValue } from './query.ts'

/** The paging parameters of a query, unparsed. */
export interface PageQuery {
  page?: string | undefined
  per_page?: string | undefined
  cursor?: string | undefined
}

const DEFAULT_PER_PAGE = 50
/** The most rows of a page. */
export const MAX_PER_PAGE = 500

/** How to read the rows that no page number reaches. */
const READ_ON = 'Follow `meta.next_cursor` or the `Link` header to read on.'

const BEYOND_PAGES = ` A page number reaches the first ${MAX_DEPTH.toLocaleString('en')} rows only. ${READ_ON}`

/**
 * Returns the integer of a parameter, from 1 to `max`.
 *
 * @throws ApiError `invalid_query`
 */
export function parseInteger(name: string, text: string, max: number, advice = ''): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw invalidValue(name, text, `an integer from 1 to ${max}`, advice)
}

/**
 * Returns the requested page. A cursor is only valid for the `context` that it was issued for (the
 * account, resource and filters), and keeps its page size unless the query has another.
 *
 * @throws ApiError `invalid_query`
 */
export async function readPage(env: Env, context: string, query: PageQuery): Promise<Page> {
  const { page, per_page, cursor } = query
  const size = per_page === undefined ? null : parseInteger('per_page', per_page, MAX_PER_PAGE)
  if (cursor === undefined) {
    const number = page === undefined ? 1 : parseInteger('page', page, MAX_DEPTH, BEYOND_PAGES)
    const requested: Page = { number, size: size ?? DEFAULT_PER_PAGE, after: null }
    if (number * requested.size > MAX_DEPTH) throw beyondDepth(requested)
    return requested
  }
  if (page !== undefined) throw invalidQuery('`page` and `cursor` cannot be combined.')
  const text = await verifyText(env, signedContext(context), cursor)
  if (text === null) {
    throw invalidQuery('`cursor` was not issued by this list with these filters.')
  }
  const position: CursorPosition = JSON.parse(text)
  const [number, cursorSize, total, isLimited, ...after] = position
  return { number, size: size ?? cursorSize, after, counted: { total, isLimited: isLimited === 1 } }
}

/** A cursor of another format is refused like one of another list. */
const signedContext = (context: string) => `2 ${context}`

const beyondDepth = ({ number, size }: Page) =>
  invalidQuery(
    `\`page\` reaches the first ${MAX_DEPTH.toLocaleString('en')} rows only, and page ${number} of ${size} rows ends at row ${number * size}. ${READ_ON}`,
  )

/**
 * The content of a cursor: page number, page size, the number of rows as the first page counted it, and
 * the key of the last record before the page.
 */
type CursorPosition = [
  number: number,
  size: number,
  total: number,
  isLimited: 0 | 1,
  ...after: KeyValue[],
]

/** The assumed size of a row before a page is read, in bytes. */
const ASSUMED_ROW_BYTES = 1024

/**
 * Reads a page within the memory of the isolate. A page of at most 64 rows never waits if it has at most 64 KiB. A page
 * that needs more memory than was assumed is read again.
 *
 * @throws ApiError `unavailable` if there is no memory in time.
 */
export async function readWithin<F extends FoundPage<object>>(
  memory: ReadMemory,
  page: Page,
  read: (page: Page) => Promise<F>,
): Promise<F> {
  const assumed = page.size * ASSUMED_ROW_BYTES
  if (assumed > SMALL_RESPONSE_BYTES) await memory.reserve(assumed)
  let found = await read({ ...page, maxBytes: Math.max(assumed, SMALL_RESPONSE_BYTES) })
  while (found.excess && found.excess.bytes <= MAX_PAGE_BYTES) {
    const { excess, total, isLimited } = found
    await memory.reserve(excess.bytes)
    found = await read({ ...page, counted: { total, isLimited }, maxBytes: excess.bytes })
  }
  return found
}

/**
 * Returns a page of a list that is computed as a whole: the cursor of the next one is the number of items before it.
 */
export function pageOfAll<T>(all: readonly T[], { after, number, size }: Page): FoundPage<T> {
  const start = after ? Number(after[0]) : (number - 1) * size
  const end = start + size
  const last = end < all.length ? [end] : null
  return { data: all.slice(start, end), total: all.length, isLimited: false, last }
}

/** Returns the `meta` of a page; `next_cursor` is that of the next page, or null. */
export function pageMeta(
  { number, size }: Page,
  { total, isLimited }: Pick<FoundPage, 'total' | 'isLimited'>,
  next_cursor: string | null,
): object {
  const limited = isLimited && { total_is_limited: true }
  return { total, ...limited, page: number, per_page: size, next_cursor }
}

/**
 * Returns the cursor of the next page; null on the last page.
 *
 * @throws ApiError `invalid_query` if the page cannot be sent as a whole.
 */
export async function nextCursor(
  env: Env,
  context: string,
  { number, size }: Page,
  result: FoundPage<object>,
): Promise<string | null> {
  if (result.excess) {
    const limit = `${MAX_PAGE_BYTES / 1024 / 1024} MiB`
    throw invalidQuery(
      `\`per_page\` is too large: the records of this page exceed ${limit}. Use at most ${result.excess.suggestedSize}.`,
    )
  }
  const { total, isLimited, last } = result
  if (!last) return null
  const position: CursorPosition = [number + 1, size, total, isLimited ? 1 : 0, ...last]
  return signText(env, signedContext(context), JSON.stringify(position))
}

/** Adds a `Link` to the next page, which has a cursor. */
export function linkTo(c: Context, cursor: string, size?: number): void {
  const url = new URL(c.req.url)
  const query = new URLSearchParams(url.search)
  query.delete('page')
  if (size !== undefined) query.set('per_page', String(size))
  query.set('cursor', cursor)
  const target = new URL(`${url.pathname}?${query}`, c.env.BASE_URL)
  c.header('Link', `<${target}>; rel="next"`)
}
