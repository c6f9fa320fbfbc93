import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { findLink, type Link } from '../db/directory/links.ts'
import { ApiError, errorName } from '../errors.ts'
import { encodeTrackingCode, isLinkId, newClickId } from './code.ts'
import { withTracking } from './landing.ts'

/** One visitor on the way, as the queue carries it: nothing of it is personal. */
export interface Click {
  account: string
  /** The D1 binding that keeps the account's records. */
  binding: string
  link_id: string
  click_id: string
  clicked_at: number
}

/** A changed link takes effect within this time. */
const CACHED_MS = 60_000

/** So many links an isolate remembers: more than are followed in a minute. */
const CACHED_LINKS = 10_000

const cache = new Map<string, { link: Link; until: number }>()

/** Only what exists is remembered: a new link works at once. */
async function cachedLink(env: Env, link_id: string, now: number): Promise<Link> {
  const known = cache.get(link_id)
  if (known && known.until > now) return known.link
  cache.delete(link_id)
  const link = isLinkId(link_id) ? await findLink(env.DB, link_id) : null
  if (!link || link.disabled) throw new ApiError('not_found')
  if (cache.size >= CACHED_LINKS) cache.clear()
  cache.set(link_id, { link, until: now + CACHED_MS })
  return link
}

/**
 * Leads a visitor to the landing page of a link. It reads at most the link; the click goes to a
 * queue once the answer is on its way, so no visitor waits for a write.
 */
export const go = new Hono<AppEnv>().get('/:link_id', async (c) => {
  const now = Date.now()
  const link = await cachedLink(c.env, c.req.param('link_id'), now)
  const { account, binding, link_id, landing_page } = link
  const click_id = newClickId(now)
  const code = await encodeTrackingCode(c.env.TRACKING_KEYS, link, click_id)
  // What only looks where a link leads is no visitor.
  if (c.req.method === 'GET') {
    const click: Click = { account, binding, link_id, click_id, clicked_at: now }
    c.executionCtx.waitUntil(record(c.env, click))
  }
  c.header('Cache-Control', 'no-store')
  c.header('Referrer-Policy', 'no-referrer')
  return c.redirect(withTracking(landing_page, code), 302)
})

/** A click that is lost costs a number in a report: its `tracking_data` proves itself. */
async function record(env: Env, click: Click): Promise<void> {
  try {
    await env.CLICKS.send(click)
  } catch (error) {
    console.error(
      JSON.stringify({ fault: errorName(error), lost: 'click', link_id: click.link_id }),
    )
  }
}
