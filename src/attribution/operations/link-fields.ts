import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'

/** The longest URL of a landing page, in characters, after normalization. */
const MAX_URL_LENGTH = 2000

/**
 * Returns whether a text is the URL of a web page without credentials. Control characters are refused,
 * because a URL parser drops some of them silently.
 */
function isPage(text: string): boolean {
  if (!URL.canParse(text) || /\p{Cc}/u.test(text)) return false
  const { protocol, username, password, href } = new URL(text)
  const isWeb = ['https:', 'http:'].includes(protocol) && username === '' && password === ''
  return isWeb && href.length <= MAX_URL_LENGTH
}

const landingPage = v.pipe(
  v.string(),
  v.check(
    isPage,
    `pattern an http:// or https:// URL of at most ${MAX_URL_LENGTH} characters, without user name, password or control characters`,
  ),
  v.transform((text) => new URL(text).href),
)

/** The most pages that an account can allow its affiliates. */
const MAX_LANDING_PAGES = 50

/** The pages to which links that affiliates make may lead. */
export const landingPages = v.pipe(
  v.array(
    v.pipe(
      landingPage,
      v.check((page) => !/[?#]/.test(page), 'pattern a URL without `?` and `#`'),
    ),
    'type array',
  ),
  v.maxLength(MAX_LANDING_PAGES, `length at most ${MAX_LANDING_PAGES} pages`),
  v.checkItems((page, i, all) => all.indexOf(page) === i, 'duplicate listed'),
)

/** Returns whether a page is one of those that an account allows, or below one. */
export function isAllowedPage(page: string, allowed: readonly string[]): boolean {
  const { origin, pathname } = new URL(page)
  // A server that decodes these could leave the path.
  if (/%(?:25|2e|2f|5c)/i.test(pathname)) return false
  // With the slash, `/start` does not allow `/starter`, and no host allows another that begins like it.
  return allowed.some((one) => `${origin}${pathname}/`.startsWith(`${one.replace(/\/$/, '')}/`))
}

/** The fields of a new link. */
export const newLink = {
  affiliate_id: member(
    f.affiliateId,
    said(
      'Identifies the affiliate who is paid for customers who follow the link. It must be configured and never changes.',
      'IB-07',
    ),
  ),
  landing_page: member(
    landingPage,
    said('The URL of the page that the link leads to.', 'https://acme.example/start'),
  ),
  name: optional(f.label, said('The display name of the link.', 'Spring newsletter')),
  pass_query: optional(
    v.boolean(),
    said(
      'Whether the query of a visitor, such as `gclid=…`, is passed on to the landing page: at most 2000 characters, without `tracking_data` and without parameters that the landing page has already. Defaults to false.',
    ),
  ),
}

const { affiliate_id: _, ...own } = newLink

/** The fields of a link that an affiliate makes. */
export const ownLink = own

/** The fields of a link that can change. */
export const linkChange = {
  landing_page: v.optional(newLink.landing_page),
  name: v.optional(v.nullable(newLink.name.wrapped)),
  pass_query: newLink.pass_query,
  disabled: optional(
    v.boolean(),
    said('Whether the link is disabled. Visitors of a disabled link get a 404 page.'),
  ),
}
