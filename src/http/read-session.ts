import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { isSafe } from '../auth/roles.ts'
import { accountDatabase } from '../db/database.ts'
import { ApiError, errorName } from '../errors.ts'
import { invalidQuery } from './query.ts'

const BOOKMARK_HEADER = 'x-d1-bookmark'
const BOOKMARK_PATTERN = /^[\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32}$/

/** The account that reads and a session of its database. */
export interface Reader {
  grant: Grant
  session: D1DatabaseSession
}

/**
 * Runs a read in a database session once the request is authorized, and returns its response with a
 * bookmark. Without a bookmark in the request the primary answers, so a read sees every earlier
 * write. With one, a replica may answer as soon as it has reached the bookmark. If the database
 * refuses a well-formed bookmark, for example one of another database, the primary answers. A change runs once, on the
 * primary, and has no bookmark.
 *
 * @throws ApiError `invalid_query` for a malformed bookmark.
 */
export async function withReadSession(
  c: Context<AppEnv>,
  read: (reader: Reader) => Promise<Response>,
): Promise<Response> {
  const isChange = !isSafe(c.req.method)
  const bookmark = isChange ? undefined : c.req.header(BOOKMARK_HEADER)
  if (bookmark !== undefined && !BOOKMARK_PATTERN.test(bookmark)) {
    throw invalidQuery(`\`${BOOKMARK_HEADER}\` must be a bookmark from an earlier response.`)
  }
  const grant = await c.var.grantPromise
  const db = accountDatabase(c.env, { id: grant.account, binding: grant.binding })
  if (isChange) return read({ grant, session: db.withSession('first-primary') })
  const readWith = async (constraint: string) => {
    const session = db.withSession(constraint)
    try {
      const response = await read({ grant, session })
      setBookmark(session, (name, value) => response.headers.set(name, value))
      return response
    } catch (error) {
      setBookmark(session, c.header)
      throw error
    }
  }
  if (bookmark === undefined) return readWith('first-primary')
  try {
    return await readWith(bookmark)
  } catch (error) {
    if (error instanceof ApiError) throw error
    console.error(JSON.stringify({ fault: errorName(error), unusable: 'bookmark' }))
    return readWith('first-primary')
  }
}

/** Sets the header with the bookmark of a session. Before its first query a session has none. */
export function setBookmark(
  session: D1DatabaseSession,
  setHeader: (name: string, value: string) => void,
): void {
  const bookmark = session.getBookmark()
  if (bookmark) setHeader(BOOKMARK_HEADER, bookmark)
}
