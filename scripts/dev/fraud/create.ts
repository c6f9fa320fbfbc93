import { DAY_MS } from '../../../src/durations.ts'
import type { Vertical } from '../../../src/fraud/kind.ts'
import { firstRules } from '../../../src/fraud/rule-sets.ts'
import { encodeTrackingCode, newClickId } from '../../../src/tracking/code.ts'
import { profileOf } from '../profiles.ts'
import {
  type DemoPattern,
  type PlantedCustomer,
  type PlantedDay,
  type PlantedMoney,
  patternsUntil,
} from './patterns.ts'

/** Calls `/admin/v1`. A 404 and a 409 are answers as well. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** The demo account that gets the patterns. */
export interface Target {
  readonly account: string
  readonly vertical: Vertical
  readonly landing_page: string
  readonly call: Call
  /** Sends records to a path below the API of the account. */
  readonly send: (path: string, records: readonly object[]) => Promise<void>
  /** The keys of the codes of links, which name the time of each click. */
  readonly trackingKeys: string
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10)

/**
 * Sends the records of the patterns of fraud, which end on a day, and stores the affiliates and their links.
 *
 * @returns The affiliates.
 */
export async function plantPatterns(target: Target, today: number): Promise<readonly string[]> {
  const patterns = patternsUntil(today)
  const affiliates = patterns.map(({ affiliate }) => affiliate)
  const at = `accounts/${target.account}`
  await target.call(
    'PUT',
    `${at}/affiliates`,
    affiliates.map((affiliate_id) => ({ affiliate_id, ...profileOf(affiliate_id) })),
  )
  const links = await Promise.all(
    affiliates.map(async (affiliate_id) => {
      const link = { affiliate_id, landing_page: target.landing_page }
      const { link_id } = await target.call<{ link_id: string }>('POST', `${at}/links`, link)
      return [affiliate_id, link_id] as const
    }),
  )
  await sendPatterns(target, patterns, new Map(links))
  return affiliates
}

/**
 * Stores the rule set of the vertical for all days from one on, and evaluates it, so that cases are listed. A
 * set whose last rule an earlier start has stored stays as it is, and is evaluated: that start may have ended
 * before.
 */
export async function putRules(
  { account, vertical, call }: Pick<Target, 'account' | 'vertical' | 'call'>,
  from: string,
): Promise<void> {
  const at = `accounts/${account}/fraud-rules`
  const rules = Object.entries(firstRules(vertical, from))
  type Rule = { versions?: { effective_from: string }[] }
  const { versions = [] } = await call<Rule>('GET', `${at}/${rules.at(-1)?.[0]}`)
  const isStored = versions.some(({ effective_from }) => effective_from <= from)
  for (const [rule, terms] of isStored ? [] : rules) {
    // This one also finds customers who withdrew what they won.
    const scope = rule === 'lot-churn' ? { scope: { affiliates: ['CHURN-1'] } } : {}
    await call('PUT', `${at}/${rule}`, { ...terms, ...scope })
  }
  for (let isDone = false; !isDone; ) {
    isDone = (await call<{ done: boolean }>('POST', `${at}/run`)).done
  }
}

/** The seconds between a click and a signup, if a pattern says nothing of it. */
const USUAL_SECONDS = 240

async function sendPatterns(
  target: Target,
  patterns: readonly DemoPattern[],
  links: ReadonlyMap<string, string>,
): Promise<void> {
  const codeOf = ({ affiliate, signup, clicked = USUAL_SECONDS }: PlantedCustomer) => {
    const origin = {
      link_id: links.get(affiliate) ?? '',
      account: target.account,
      affiliate_id: affiliate,
    }
    return encodeTrackingCode(target.trackingKeys, origin, newClickId(signup - clicked * 1000))
  }
  const customers = patterns.flatMap((one) => one.customers)
  const signups = customers.map(async (one) => customerRecord(one, await codeOf(one)))
  await target.send('customers', await Promise.all(signups))
  const payments = patterns.flatMap(({ money }) => money)
  await target.send('transactions', payments.map(paymentRecord))
  const activity = patterns.flatMap(({ days }) => days)
  await target.send('trading-activity', activity.map(tradingRecord))
}

const customerRecord = (
  { customer, affiliate, signup, country, email, name }: PlantedCustomer,
  tracking_data: string,
) => ({
  customer_id: customer,
  signup_date: new Date(signup).toISOString(),
  affiliate_id: affiliate,
  tracking_data,
  country_code: country,
  ...(email && { email }),
  ...(name && { first_name: name[0], last_name: name[1] }),
})

const paymentRecord = ({ customer, type, day, amount, status }: PlantedMoney, i: number) => ({
  transaction_id: `${customer}-${type}-${dayText(day)}-${i}`,
  customer_id: customer,
  transaction_type: type,
  amount_currency: amount,
  currency: 'EUR',
  status: status ?? 'approved',
  transaction_date: `${dayText(day)}T12:00:00Z`,
})

const tradingRecord = ({ customer, day, ...fields }: PlantedDay) => ({
  date: dayText(day),
  customer_id: customer,
  currency: 'EUR',
  ...fields,
})
