import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { describeField, documentation } from '../validation/fields.ts'

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

/** The fields of a new link. */
export const newLink = {
  affiliate_id: describeField(
    f.affiliateId,
    documentation(
      'Identifies the affiliate who is paid for customers who follow the link. It must be configured and never changes.',
      'IB-07',
    ),
  ),
  landing_page: describeField(
    landingPage,
    documentation('The URL of the page that the link leads to.', 'https://acme.example/start'),
  ),
  name: v.optional(
    describeField(f.text, documentation('The display name of the link.', 'Spring newsletter')),
  ),
  pass_query: v.optional(
    describeField(
      v.boolean(),
      documentation(
        'Whether the query of a visitor, such as `gclid=…`, is passed on to the landing page: at most 2000 characters, without `tracking_data` and without parameters that the landing page has already. Defaults to false.',
      ),
    ),
  ),
}

/** The fields of a link that can change. */
export const linkChange = {
  landing_page: v.optional(newLink.landing_page),
  name: v.optional(v.nullable(newLink.name.wrapped)),
  pass_query: newLink.pass_query,
  disabled: v.optional(
    describeField(
      v.boolean(),
      documentation('Whether the link is disabled. Visitors of a disabled link get a 404 page.'),
    ),
  ),
}
