import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError, toApiError } from '../platform/errors.ts'
import type { Change, Page, Values, Visit } from './base/page.ts'
import { isCsrfToken, type Session, setFlash } from './base/session.ts'
import { readForm } from './form.ts'
import { isOwnOrigin, refusedBy, showPage } from './show-page.tsx'
import { visitOf } from './visit.ts'

/**
 * Makes the change of a form by a request to the administration API.
 * If the API refuses the change, it shows the page again, with the errors beside their fields.
 */
export async function makeChange(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
): Promise<Response> {
  const values = await readOwnForm(c, session, page.fileBytes)
  const name = values('change')
  const shown = page.redraw?.(values)
  if (shown) return showPage(c, page, session, { typed: shown })
  const change = Object.hasOwn(page.changes ?? {}, name) ? page.changes?.[name] : undefined
  if (!change) throw new ApiError('not_found', { detail: 'This page has no such change.' })
  const visit = await visitOf(c, page, session)
  try {
    return await sendChange(c, page, session, { change, values, visit })
  } catch (thrown) {
    // `toApiError` logs faults. No error handler sees them, because the response is a page.
    const error = toApiError(thrown, c)
    return showPage(c, page, session, {
      refused: refusedBy(error, name, values),
      status: error.status,
    })
  }
}

/**
 * Sends the request of a change. Then it redirects the browser, so that a reload does not repeat the change.
 */
async function sendChange(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { change, values, visit }: { change: Change; values: Values; visit: Visit },
): Promise<Response> {
  const answer = await change.perform(values, visit)
  if (change.show) {
    const shown = { content: change.show(answer, visit), tone: change.toneOf?.(answer) ?? 'good' }
    return showPage(c, page, session, { shown })
  }
  const { done } = change
  await setFlash(c, session, typeof done === 'string' ? done : done(answer))
  const { pathname, search } = new URL(c.req.url)
  return c.redirect(change.next?.(answer, visit) ?? pathname + search, 303)
}

/**
 * Reads a form that a page of this session sent.
 *
 * @throws ApiError `invalid_request` for any other form.
 */
export async function readOwnForm(
  c: Context<AppEnv>,
  session: Session,
  fileBytes?: number,
): Promise<Values> {
  if (!isOwnOrigin(c.req.raw)) {
    throw new ApiError('invalid_request', { detail: 'Another site sent this form.' })
  }
  const values = await readForm(c, fileBytes)
  // Another page of the browser could otherwise send a form with the session's cookie (CSRF).
  if (await isCsrfToken(c.env, session, values('csrf'))) return values
  throw new ApiError('invalid_request', {
    detail: 'This form belongs to another session. Open the page again and repeat the change.',
  })
}
