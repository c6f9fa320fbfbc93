import type { Context } from 'hono'
import type { FoundPage, Page } from '../db/paginate.ts'
import { MAX_PAGE_BYTES } from '../db/paginate.ts'
import { invalidQuery } from './query.ts'
import { seal, unseal } from './seal.ts'

/** What a list is asked for, as it stands in the query. */
export interface PageQuery {
  page?: string
  per_page?: string
  cursor?: string
}

/** The parameters that every list knows. */
export const PAGE_PARAMETERS = ['page', 'per_page', 'cursor'] as const

const DEFAULT_PER_PAGE = 50
const MAX_PER_PAGE = 500
const MAX_PAGE = 1_000_000

function wholeNumber(name: string, text: string, max: number): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (number >= 1 && number <= max) return number
  throw invalidQuery(`${name} is a whole number from 1 to ${max}.`)
}

/**
 * Which page is asked for. A cursor is good for the account, resource and filters (`context`) it
 * was given out for, and goes on with the page size of its walk unless the query says another.
 */
export async function readPage(env: Env, context: string, asked: PageQuery): Promise<Page> {
  const { page, per_page, cursor } = asked
  const size = per_page === undefined ? null : wholeNumber('per_page', per_page, MAX_PER_PAGE)
  if (cursor === undefined) {
    const number = page === undefined ? 1 : wholeNumber('page', page, MAX_PAGE)
    return { number, size: size ?? DEFAULT_PER_PAGE, after: null }
  }
  if (page !== undefined) throw invalidQuery('page and cursor exclude each other.')
  const sealed = await unseal(env, context, cursor)
  if (sealed === null) throw invalidQuery('cursor is not one that this list gave out.')
  const [number, walked, ...after] = JSON.parse(sealed) as [number, number, ...string[]]
  return { number, size: size ?? walked, after }
}

/** Answers one page, and says where the next one is. */
export async function respondWithPage(
  c: Context,
  context: string,
  page: Page,
  found: FoundPage<object>,
) {
  const { number, size } = page
  if (found.fewer !== undefined) {
    const most = `${MAX_PAGE_BYTES / 1024 / 1024} MiB`
    throw invalidQuery(
      `per_page: the records of this page have more than ${most}. Ask for fewer, such as ${found.fewer}.`,
    )
  }
  const next =
    found.last && (await seal(c.env, context, JSON.stringify([number + 1, size, ...found.last])))
  if (next) {
    const url = new URL(c.req.url)
    const query = new URLSearchParams(url.search)
    query.delete('page')
    query.set('per_page', String(size))
    query.set('cursor', next)
    const target = new URL(`${url.pathname}?${query}`, c.env.BASE_URL)
    c.header('Link', `<${target}>; rel="next"`)
  }
  const meta = { total: found.total, page: number, per_page: size, next_cursor: next }
  return c.json({ data: found.data, meta })
}
