import { affiliateTag, PREFIX } from '../../../src/tracking/code.ts'
import type { Exchange } from '../exchange.ts'
import { DEMO, type Linked, linksOf } from '../profile.ts'
import { oddTime } from './clock.ts'

/** An account, as far as a lesson depends on it. */
export interface Account {
  account: string
  name: string
  mode: string
  time_zone: string
  policies: { unknown_customer: 'reject' | 'hold'; unknown_affiliate: 'warn' | 'reject' }
  affiliates: string[]
}

/** What stands for one place in the texts of a lesson, or why there is nothing that could. */
export type Place = { value: string } | { absent: string }

/** What is known when the places are filled. */
interface Known {
  base: string
  account: Account
  /** A customer of the account, if any is known. */
  customer: string | null
  run: string
  profile: string | null
  exchange: Exchange
  now: number
}

/** Of our format, and signed by nobody. */
const ALTERED = `${PREFIX}AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh`

/** The places of a lesson's texts, by name. */
export async function placesOf(known: Known): Promise<Record<string, Place>> {
  const { account, customer, run, now } = known
  const { affiliates, policies, time_zone } = account
  const links = linksOf(known.profile ?? DEMO, known.base)
  const [own, foreign] = await Promise.all([
    codeOf(
      links.find((link) => link.account === account.account),
      known,
    ),
    codeOf(
      links.find((link) => link.account !== account.account),
      known,
    ),
  ])
  const tag = own && tagIn(own)
  const tags = await Promise.all(affiliates.map(affiliateTag))
  const other = tag === null ? undefined : affiliates.find((_, i) => tags[i] !== tag)
  const odd = (forward: boolean) => oddTime(time_zone, forward, now)
  const isFree = policies.unknown_affiliate === 'warn'

  const where = `${known.profile ?? DEMO} names no link of`
  const noOwn = `${where} this account, whose tracking_data could be sent`
  const never = `the clock of the account's time zone, ${time_zone}, is not set twice a year`
  return {
    run: { value: run },
    altered: { value: ALTERED },
    affiliate: placeOf(affiliates[0] ?? (isFree ? 'IB-07' : null), 'no affiliate is configured'),
    other: placeOf(other ?? null, own ? 'there is but one affiliate' : noOwn),
    customer: placeOf(customer, 'the account has no customer yet, and none is stored'),
    own: placeOf(own, noOwn),
    foreign: placeOf(foreign, `${where} another account, whose tracking_data could be sent`),
    skipped: placeOf(odd(true), never),
    ambiguous: placeOf(odd(false), never),
  }
}

const placeOf = (value: string | null, absent: string): Place =>
  value === null ? { absent } : { value }

/** What a visitor of a link is given for the landing page; asked by HEAD, no click is counted. */
async function codeOf(link: Linked | undefined, { base, exchange }: Known): Promise<string | null> {
  if (!link) return null
  const { headers } = await exchange(`${base}/go/${link.link_id}`, { method: 'HEAD' })
  return URL.parse(headers.get('Location') ?? '')?.searchParams.get('tracking_data') ?? null
}

/** Whom a code says is paid: three bytes before its signature of ten. */
const tagIn = (code: string) =>
  Buffer.from(code.slice(PREFIX.length), 'base64url').subarray(-13, -10).toString('base64url')

/** A record as JSON text, its places filled; or why one of them cannot be. */
export function fill(record: object, places: Record<string, Place>): Place {
  const missing: string[] = []
  const whole = (name: string) => {
    const place = places[name]
    if (place && 'value' in place) return place.value
    missing.push(place?.absent ?? `there is no place ${name}`)
    return ''
  }
  const left = Object.entries(record).flatMap(([name, value]) => {
    const [, optional] = /^\{(\w+)\?\}$/.exec(String(value)) ?? []
    if (optional === undefined) return [[name, value]]
    const place = places[optional]
    return place && 'value' in place ? [[name, place.value]] : []
  })
  const text = JSON.stringify(Object.fromEntries(left))
    // A number that JavaScript has not stands there without its quotes.
    .replace('"{1e400}"', '1e400')
    .replace(/\{(\w+)\}/g, (_, name) => JSON.stringify(whole(name)).slice(1, -1))
  return missing.length > 0 ? { absent: missing[0]! } : { value: text }
}
