import { affiliateTag, PREFIX } from '../../../src/tracking/code.ts'
import type { Exchange } from '../exchange.ts'
import { type AccountLink, DEMO, readLinks } from '../profile.ts'
import { changedTime } from './clock.ts'

/** The settings of an account that a sample run depends on. */
export interface Account {
  account: string
  name: string
  mode: string
  time_zone: string
  policies: { unknown_customer: 'reject' | 'hold'; unknown_affiliate: 'warn' | 'reject' }
  affiliates: string[]
}

/** The value of a placeholder, or the reason why it has none. */
export type Placeholder = { value: string } | { absent: string }

/** What the values depend on. */
interface Context {
  base: string
  account: Account
  /** A customer of the account; null: none is known. */
  customer: string | null
  run: string
  profile: string | null
  exchange: Exchange
  now: number
}

/** Tracking data in our format with an invalid signature. */
const ALTERED = `${PREFIX}AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh`

/** Returns the placeholders of samples by name. */
export async function createPlaceholders(context: Context): Promise<Record<string, Placeholder>> {
  const { account, customer, run, now, profile } = context
  const { affiliates, policies, time_zone } = account
  const links = readLinks(profile ?? DEMO, context.base)
  const [own, foreign] = await Promise.all([
    trackingDataOf(
      links.find((link) => link.account === account.account),
      context,
    ),
    trackingDataOf(
      links.find((link) => link.account !== account.account),
      context,
    ),
  ])
  const tag = own && tagIn(own)
  const tags = await Promise.all(affiliates.map(affiliateTag))
  const other = tag === null ? undefined : affiliates.find((_, i) => tags[i] !== tag)
  const clock = (forward: boolean) => changedTime(time_zone, forward, now)
  const anyAffiliate = policies.unknown_affiliate === 'warn' ? 'IB-07' : null

  const noLink = `${profile ?? DEMO} has no link of`
  const noOwn = `${noLink} this account to take tracking_data from`
  const noForeign = `${noLink} another account to take tracking_data from`
  const noChange = `the time zone of the account, ${time_zone}, has no daylight saving time`
  return {
    run: { value: run },
    altered: { value: ALTERED },
    affiliate: placeholder(affiliates[0] ?? anyAffiliate, 'no affiliate is configured'),
    other: placeholder(other ?? null, own ? 'only one affiliate is configured' : noOwn),
    customer: placeholder(customer, 'the account has no customers and none is stored'),
    own: placeholder(own, noOwn),
    foreign: placeholder(foreign, noForeign),
    skipped: placeholder(clock(true), noChange),
    ambiguous: placeholder(clock(false), noChange),
  }
}

const placeholder = (value: string | null, absent: string): Placeholder =>
  value === null ? { absent } : { value }

/** Returns the tracking data that a visitor of a link receives. A HEAD request counts no click. */
async function trackingDataOf(
  link: AccountLink | undefined,
  { base, exchange }: Context,
): Promise<string | null> {
  if (!link) return null
  const { headers } = await exchange(`${base}/go/${link.link_id}`, { method: 'HEAD' })
  return URL.parse(headers.get('Location') ?? '')?.searchParams.get('tracking_data') ?? null
}

/** Returns the affiliate's tag in tracking data: three bytes before the signature of ten. */
const tagIn = (code: string) =>
  Buffer.from(code.slice(PREFIX.length), 'base64url').subarray(-13, -10).toString('base64url')

/** Returns a record as JSON text with its placeholders filled, or the reason why one cannot be. */
export function fillPlaceholders(
  record: object,
  placeholders: Record<string, Placeholder>,
): Placeholder {
  const missing: string[] = []
  const lookUp = (name: string) => {
    const found = placeholders[name]
    if (found && 'value' in found) return found.value
    missing.push(found?.absent ?? `there is no placeholder ${name}`)
    return ''
  }
  // An optional placeholder, such as `{own?}`, leaves its member out if it has no value.
  const members = Object.entries(record).flatMap(([name, value]) => {
    const [, optional] = /^\{(\w+)\?\}$/.exec(String(value)) ?? []
    if (optional === undefined) return [[name, value]]
    const found = placeholders[optional]
    return found && 'value' in found ? [[name, found.value]] : []
  })
  const text = JSON.stringify(Object.fromEntries(members))
    // A number that JavaScript cannot represent is written without its quotes.
    .replace('"{1e400}"', '1e400')
    .replace(/\{(\w+)\}/g, (_, name) => JSON.stringify(lookUp(name)).slice(1, -1))
  return missing.length > 0 ? { absent: missing[0]! } : { value: text }
}
