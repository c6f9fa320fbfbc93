import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { resolveDatabase } from '../db/database.ts'
import { invalidQuery } from './query.ts'

const BOOKMARK_HEADER = 'x-d1-bookmark'
const BOOKMARK_PATTERN = /^[\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32}$/

/** An account and its database, as a reader sees them. */
export interface Reader {
  grant: Grant
  session: D1DatabaseSession
}

/**
 * Reads for whoever the gate admits. Without a bookmark the primary answers, so a read sees what
 * was written before it; with one, a replica may, as soon as it is that far.
 */
export async function withReadSession(
  c: Context<AppEnv>,
  read: (reader: Reader) => Promise<Response>,
): Promise<Response> {
  const bookmark = c.req.header(BOOKMARK_HEADER)
  if (bookmark !== undefined && !BOOKMARK_PATTERN.test(bookmark)) {
    throw invalidQuery(`${BOOKMARK_HEADER} is not a bookmark that an answer carried.`)
  }
  const grant = await c.var.grantPromise
  const session = resolveDatabase(c.env, grant.binding).withSession(bookmark ?? 'first-primary')
  const mark = () => session.getBookmark() ?? undefined
  try {
    const response = await read({ grant, session })
    response.headers.set(BOOKMARK_HEADER, mark() ?? '')
    return response
  } catch (error) {
    c.header(BOOKMARK_HEADER, mark())
    throw error
  }
}
