import * as v from 'valibot'
import { KNOWN_MEMBERS } from '../db/directory/event-definitions.ts'
import { describeField } from '../validation/describe.ts'
import * as f from '../validation/fields.ts'
import { isObject } from '../validation/record-validator.ts'

// What the integrations team may send, by what it is about.

const SLUG = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

const slug = v.pipe(f.text, v.regex(SLUG, 'pattern [a-z0-9-], 1 to 63 characters'))

const isZone = (name: string) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

/** Kept as the database of zones writes it, whatever its case. */
const zone = v.pipe(
  f.text,
  v.check(isZone, 'pattern a name of the IANA time zone database'),
  v.transform((timeZone) => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone),
)

/** What is shown to people: no control characters, and none that turn the writing round. */
const label = v.pipe(
  f.text,
  v.regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, 'pattern printable characters'),
)

const settings = {
  name: v.optional(describeField(label, 'What people call it.', 'Acme Markets')),
  time_zone: v.optional(
    describeField(
      zone,
      'The clock of times that name no offset; UTC if left out.',
      'Europe/Berlin',
    ),
  ),
  unknown_customer: v.optional(
    describeField(
      f.oneOf('reject', 'hold'),
      'What becomes of a record whose customer is not known; of partners `reject`, of brands `hold` if left out.',
    ),
  ),
  unknown_affiliate: v.optional(
    describeField(
      f.oneOf('warn', 'reject'),
      'What becomes of a customer whose affiliate is not configured; `warn` if left out.',
    ),
  ),
}

/** What a new account is made of, apart from the database that keeps it. */
export const newAccount = {
  account: describeField(slug, 'Its id, for good.', 'acme'),
  vertical: describeField(f.oneOf('prop-trading', 'forex', 'igaming'), 'Which API it calls.'),
  mode: v.optional(
    describeField(
      f.oneOf('live', 'test'),
      'Only the data of a test account can be reset; `live` if left out.',
    ),
  ),
  ...settings,
  name: settings.name.wrapped,
}

/** What of an account may change. */
export const accountChange = {
  ...settings,
  disabled: v.optional(describeField(v.boolean(), 'Whether its credentials are refused.')),
}

/** What an affiliate is made of. */
export const affiliate = {
  affiliate_id: describeField(f.id, 'As the account names it.', 'IB-07'),
  parent: v.optional(
    v.nullable(
      describeField(f.id, 'Who referred it; left out it stays, null takes it away.', 'IB-01'),
    ),
  ),
}

/** How long an old secret stays good beside a new one. */
export const overlap = v.optional(
  describeField(
    f.oneOf('none', '1h', '24h', '7d'),
    'How long the old one stays good; left out it ends before its next request.',
  ),
)

const HOUR_MS = 3_600_000
const OVERLAPS = { none: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS }

/** When a secret with such an overlap ends; both in milliseconds. */
export const overlapEnd = (said: keyof typeof OVERLAPS | undefined, now: number) =>
  now + OVERLAPS[said ?? 'none']

const isOwn = (name: string) => !KNOWN_MEMBERS.includes(name)

/** A member that a definition may name: not one that every event has. */
export const member = v.pipe(
  f.text,
  v.check(isOwn, `pattern a field of your own, none of: ${KNOWN_MEMBERS.join(', ')}`),
)

/** Any object. */
export const anObject = v.custom<object>(isObject, 'type object')

const anArray = v.custom<unknown[]>(Array.isArray, 'type array')

/** What an event definition is made of. */
export const definitionFields = {
  granularity: describeField(
    f.oneOf('event', 'day'),
    '`day`: one record a customer and day, which a re-send replaces.',
  ),
  eventid: v.optional(
    describeField(
      f.oneOf('required', 'used', 'ignored'),
      'Whether `eventid` tells one event from another; `used` if left out.',
    ),
  ),
  kpis: v.optional(
    describeField(
      anArray,
      'The members that are KPIs, and must be decimals; `Value` always is one.',
      ['GGR', 'NGR'],
    ),
  ),
  product: v.optional(
    v.nullable(
      describeField(
        anObject,
        'The member that says the product line, and what each of its values means.',
        {
          field: 'Product',
          map: { Casino: 'casino' },
        },
      ),
    ),
  ),
  currency: v.optional(
    v.nullable(describeField(f.currency, 'The currency of what names none.', 'EUR')),
  ),
}

const MAX_ADDRESS = 2000

/**
 * Whether visitors may be led there: a page on the web, with nobody's password in its address, and
 * nothing that a parser of addresses would drop in silence.
 */
function isPage(text: string): boolean {
  if (!URL.canParse(text) || /\p{Cc}/u.test(text)) return false
  const { protocol, username, password, href } = new URL(text)
  const isWeb = ['https:', 'http:'].includes(protocol) && username === '' && password === ''
  return isWeb && href.length <= MAX_ADDRESS
}

const landingPage = v.pipe(
  v.string(),
  v.check(
    isPage,
    `pattern an address that begins with https:// or http://, without user name, password and control characters, of at most ${MAX_ADDRESS} characters as it is sent to a browser`,
  ),
  v.transform((text) => new URL(text).href),
)

/** What a new link is made of. */
export const newLink = {
  affiliate_id: describeField(
    f.id,
    'Who is paid for whom it leads; must be configured. For good.',
    'IB-07',
  ),
  landing_page: describeField(landingPage, 'Where it leads.', 'https://acme.example/start'),
  name: v.optional(describeField(f.text, 'What people call it.', 'Spring newsletter')),
}

/** What of a link may change. */
export const linkChange = {
  landing_page: v.optional(newLink.landing_page),
  name: v.optional(v.nullable(newLink.name.wrapped)),
  disabled: v.optional(describeField(v.boolean(), 'Whether visitors are answered 404.')),
}
