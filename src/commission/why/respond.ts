import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { type PageQuery, readPage, respondWithPage } from '../../http/pagination.ts'
import { preferredType } from '../../http/preferred-type.ts'
import { ReadMemory } from '../../http/read-memory.ts'
import { type Reader, withReadSession } from '../../http/read-session.ts'
import { sendJson } from '../../http/send-json.ts'
import { withinLimit } from '../drafts/on-request.ts'

const NARROW =
  'Narrow it with `customer_id` or `affiliate_id` where the endpoint has these parameters.'

/** Computes an answer for a reader. */
export const computeFor = <T>(
  reader: Reader,
  compute: (reader: Reader) => Promise<T>,
): Promise<T> => withinLimit(reader.grant.account, NARROW, () => compute(reader))

/** Returns whether the `Accept` of a request prefers sentences to JSON, by its weights. */
export const prefersText = (c: Context): boolean =>
  preferredType(c, ['application/json', 'text/plain']) === 'text/plain'

/** Responds with what is computed from an account's records. */
export const respondWith = (
  c: Context<AppEnv>,
  compute: (reader: Reader) => Promise<object>,
): Promise<Response> =>
  withReadSession(c, async (reader) => {
    const body = await computeFor(reader, compute)
    return sendJson(c, body, new ReadMemory(reader.grant.account))
  })

/** The paging parameters of a query. */
export const pageOf = (query: PageQuery): PageQuery => {
  const { page, per_page, cursor } = query
  return {
    ...(page !== undefined && { page }),
    ...(per_page !== undefined && { per_page }),
    ...(cursor !== undefined && { cursor }),
  }
}

/**
 * Responds with a page of a computed list. The whole list is computed for each page, so its length is
 * exact; the cursor is the number of items before the page.
 */
export const respondWithList = (
  c: Context<AppEnv>,
  list: readonly unknown[],
  query: PageQuery,
  compute: (reader: Reader) => Promise<readonly object[]>,
): Promise<Response> =>
  withReadSession(c, async (reader) => {
    const { account } = reader.grant
    const context = JSON.stringify([account, ...list])
    const page = await readPage(c.env, context, pageOf(query))
    const all = await computeFor(reader, compute)
    const start = page.after ? Number(page.after[0]) : (page.number - 1) * page.size
    const end = start + page.size
    const found = {
      data: all.slice(start, end),
      total: all.length,
      isLimited: false,
      last: end < all.length ? [end] : null,
    }
    return respondWithPage(c, context, page, found, new ReadMemory(account))
  })
