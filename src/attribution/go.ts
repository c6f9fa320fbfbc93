import { type Context, Hono } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError, errorName } from '../platform/errors.ts'
import { encodeTrackingCode, isLinkId, newClickId } from './code.ts'
import { SUBS, type Subs } from './db/clicks.ts'
import { findLink, type Link } from './db/links.ts'

/** A click on a link, as the queue carries it. It holds no personal data. */
export interface Click {
  account: string
  /** The D1 binding of the account's database. */
  binding: string
  link_id: string
  click_id: string
  /** Milliseconds since 1970. */
  clicked_at: number
  /** What the address of the visitor has of `sub1` to `sub5`. */
  subs: Subs
}

/** The most characters that a click keeps of `sub1` to `sub5` together: anybody can follow a link. */
const MAX_SUBS_LENGTH = 500

/** Returns the values that a click keeps. What is cut, or invisible, is `…` instead: the affiliate sees it. */
function subsOf(query: URLSearchParams): Subs {
  let left = MAX_SUBS_LENGTH
  return Object.fromEntries(
    SUBS.flatMap((name) => {
      const value = query.get(name)?.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, '…')
      if (!value) return []
      const kept = value.length > left ? `${value.slice(0, left).toWellFormed()}…` : value
      left = Math.max(0, left - value.length)
      return [[name, kept]]
    }),
  )
}

/** How long an isolate caches a link: a changed link takes effect within this time (contract §9). */
const CACHED_MS = 60_000

/** The maximum number of links that an isolate caches; more than are followed within a minute. */
const MAX_CACHED_LINKS = 10_000

const cache = new Map<string, { link: Link; expiresAt: number }>()

/** Returns a link, or throws `not_found`. A missing link is not cached, so that a new link works at once. */
async function findCachedLink(env: Env, link_id: string, now: number): Promise<Link> {
  const cached = cache.get(link_id)
  if (cached && cached.expiresAt > now) return cached.link
  if (!isLinkId(link_id)) throw new ApiError('not_found')
  const link = await findLink(env.DB, link_id)
  if (!link || link.disabled) throw new ApiError('not_found')
  if (cache.size >= MAX_CACHED_LINKS) cache.clear()
  cache.set(link_id, { link, expiresAt: now + CACHED_MS })
  return link
}

/** The names of programs that say what they are: `CUBOT` is a phone, and a program often names its website. */
const PROGRAM =
  /(?<!cu)bot|crawl|spider|slurp|preview|externalhit|inspectiontool|mediapartners|^facebookcatalog|^viber|^whatsapp|https?:|mailto:/i

/** The header fields in which a browser says that it fetches a page before anybody asks for it. */
const PURPOSES = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz']

/** Returns whether a person may have made a request. Link checkers and previews send HEAD, or name themselves. */
const isVisit = ({ method, headers }: Request): boolean =>
  method === 'GET' &&
  !PROGRAM.test(headers.get('User-Agent') ?? '') &&
  !PURPOSES.some((name) => /^(prefetch|prerender|preview)/.test(headers.get(name) ?? ''))

/**
 * Redirects a visitor to the landing page of a link. The click goes to a queue after the response, so
 * that the visitor waits for one read at most and for no write.
 */
async function followLink(c: Context<AppEnv>) {
  const now = Date.now()
  const link = await findCachedLink(c.env, c.req.param('link_id') ?? '', now)
  const { account, binding, link_id, landing_page, pass_query } = link
  const click_id = newClickId(now)
  const code = await encodeTrackingCode(c.env.TRACKING_KEYS, link, click_id)
  if (isVisit(c.req.raw)) {
    const subs = subsOf(new URL(c.req.url).searchParams)
    const click: Click = { account, binding, link_id, click_id, clicked_at: now, subs }
    c.executionCtx.waitUntil(queueClick(c.env, click))
  }
  c.header('Cache-Control', 'no-store')
  c.header('Referrer-Policy', 'no-referrer')
  const visitorQuery = pass_query === 1 ? new URL(c.req.url).search : ''
  return c.redirect(withTracking(landing_page, code, visitorQuery), 302)
}

/** The route for visitors. */
export const go = new Hono<AppEnv>().get('/:link_id', followLink)

/** Queues a click. A lost click changes a report only: attribution needs no stored click. */
async function queueClick(env: Env, click: Click): Promise<void> {
  try {
    await env.CLICKS.send(click)
  } catch (error) {
    console.error(
      JSON.stringify({ fault: errorName(error), lost: 'click', link_id: click.link_id }),
    )
  }
}

const PARAMETER = 'tracking_data'

/** The most characters of a visitor's query that a landing page gets. */
const MAX_PASSED_LENGTH = 2000

/**
 * Returns the URL of a landing page with `tracking_data` as its last query parameter, replacing any
 * that is present. The rest of the URL is unchanged, byte for byte. Before `tracking_data` come the
 * parameters of `visitorQuery`, such as `?gclid=1`, that the landing page does not have, but for `sub1`
 * to `sub5`.
 */
export function withTracking(
  landingPage: string,
  tracking_data: string,
  visitorQuery = '',
): string {
  const [address = '', ...fragment] = landingPage.split('#')
  const [page = '', ...query] = address.split('?')
  const own = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(PARAMETER))
  const parameters = [...own, ...passedParameters(visitorQuery, own)]
  const target = `${page}?${[...parameters, `${PARAMETER}=${tracking_data}`].join('&')}`
  return fragment.length > 0 ? `${target}#${fragment.join('#')}` : target
}

/** Returns the parameters of a visitor that may be added to those of the landing page. */
function passedParameters(visitorQuery: string, own: readonly string[]): string[] {
  const taken = new Set([PARAMETER, ...SUBS, ...own.map(comparedName)])
  const passed: string[] = []
  let length = 0
  // Some servers also separate parameters by semicolons: `a=1;tracking_data=…` would be two of them.
  for (const pair of visitorQuery.replace(/^\?/, '').replaceAll(';', '%3B').split('&')) {
    if (pair === '' || taken.has(comparedName(pair))) continue
    length += pair.length + 1
    if (length > MAX_PASSED_LENGTH) break
    passed.push(pair)
  }
  return passed
}

/**
 * Returns the name of a parameter as servers compare it. Some ignore letter case, and PHP takes
 * `tracking.data` and `tracking_data[]` for `tracking_data`: a visitor could replace ours.
 */
function comparedName(pair: string): string {
  const [name = ''] = new URLSearchParams(pair).keys()
  return name
    .trim()
    .toLowerCase()
    .replace(/[[\0].*$/s, '')
    .replaceAll(/[ .]/g, '_')
}
