import type { Context } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import type { Grant } from '../auth/grant.ts'
import { databaseOf } from '../db/database.ts'
import { invalidQuery } from './query.ts'

const BOOKMARK = 'x-d1-bookmark'
const FORM = /^[\da-f]{8}-[\da-f]{8}-[\da-f]{8}-[\da-f]{32}$/

/** An account and its database, as a reader sees them. */
export interface Reader {
  grant: Grant
  session: D1DatabaseSession
}

/**
 * Reads for whoever the gate admits. Without a bookmark the primary answers, so a read sees what
 * was written before it; with one, a replica may, as soon as it is that far.
 */
export async function reading(
  c: Context<Caller>,
  read: (reader: Reader) => Promise<Response>,
): Promise<Response> {
  const bookmark = c.req.header(BOOKMARK)
  if (bookmark !== undefined && !FORM.test(bookmark)) {
    throw invalidQuery(`${BOOKMARK} is not a bookmark that an answer carried.`)
  }
  const grant = await c.var.admitted
  const session = databaseOf(c.env, grant.binding).withSession(bookmark ?? 'first-primary')
  const mark = () => session.getBookmark() ?? undefined
  try {
    const response = await read({ grant, session })
    response.headers.set(BOOKMARK, mark() ?? '')
    return response
  } catch (error) {
    c.header(BOOKMARK, mark())
    throw error
  }
}
