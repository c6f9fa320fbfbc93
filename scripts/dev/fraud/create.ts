import { readFileSync } from 'node:fs'
import { DAY_MS } from '../../../src/durations.ts'
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
  readonly vertical: string
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
  const patterns = patternsUntil(today, target.vertical)
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

/** What a rule of the demo changes in the rule of the set. */
const changed = (rule: string, vertical: string): object => {
  // Brands send no e-mail.
  if (rule === 'shared-identity' && vertical === 'igaming') return { parameters: { names: true } }
  // It also finds customers who withdrew what they won.
  if (rule === 'lot-churn') return { scope: { affiliates: ['CHURN-1'] } }
  return {}
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
  const file = `examples/fraud-rules/${vertical}.json`
  const rules = Object.entries<object>(JSON.parse(readFileSync(file, 'utf8')))
  type Rule = { versions?: { effective_from: string }[] }
  const { versions = [] } = await call<Rule>('GET', `${at}/${rules.at(-1)?.[0]}`)
  const isStored = versions.some(({ effective_from }) => effective_from <= from)
  for (const [rule, body] of isStored ? [] : rules) {
    const version = { ...body, ...changed(rule, vertical), effective_from: from }
    await call('PUT', `${at}/${rule}`, version)
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
  const { customers, money, days } = WRITERS[target.vertical] ?? PARTNER
  const all = patterns.flatMap((one) => one.customers)
  const signups = all.map(async (one) => customers(one, await codeOf(one)))
  await target.send('customers', await Promise.all(signups))
  const payments = patterns.flatMap((one) => one.money.map(money))
  const activity = patterns.flatMap((one) => one.days.map(days))
  if (target.vertical === 'igaming') {
    await target.send('activities', [...payments, ...activity])
  } else {
    const currency = target.vertical === 'forex' ? 'EUR' : 'USD'
    const inCurrency = (records: readonly object[]) => records.map((one) => ({ ...one, currency }))
    await target.send('transactions', inCurrency(payments))
    await target.send('trading-activity', inCurrency(activity))
  }
}

/** How a vertical writes the records. */
interface Writer {
  readonly customers: (one: PlantedCustomer, tracking_data: string) => object
  readonly money: (one: PlantedMoney, i: number) => object
  readonly days: (one: PlantedDay) => object
}

const idOf = ({ customer, type, day }: PlantedMoney, i: number) =>
  `${customer}-${type}-${dayText(day)}-${i}`

const PARTNER: Writer = {
  customers: ({ customer, affiliate, signup, country, email, name }, tracking_data) => ({
    customer_id: customer,
    signup_date: new Date(signup).toISOString(),
    affiliate_id: affiliate,
    tracking_data,
    country_code: country,
    ...(email && { email }),
    ...(name && { first_name: name[0], last_name: name[1] }),
  }),
  money: (one, i) => ({
    transaction_id: idOf(one, i),
    customer_id: one.customer,
    transaction_type: one.type,
    amount_currency: one.amount,
    status: one.status ?? 'approved',
    transaction_date: `${dayText(one.day)}T12:00:00Z`,
  }),
  days: ({ customer, day, ...fields }) => ({
    date: dayText(day),
    customer_id: customer,
    ...fields,
  }),
}

const BRAND: Writer = {
  customers: ({ customer, signup, country, name }, tracking_data) => ({
    customerId: customer,
    regtime: new Date(signup).toISOString().slice(0, 16).replace('T', ' '),
    country,
    tracking_data,
    ...(name && { firstName: name[0], lastName: name[1] }),
  }),
  money: (one, i) => ({
    eventname: one.type === 'deposit' ? 'Deposit' : 'Withdrawal',
    eventid: idOf(one, i),
    customerid: one.customer,
    createtime: `${dayText(one.day)} 12:00`,
    Currency: 'EUR',
    Value: one.amount.toFixed(2),
  }),
  days: ({ customer, day }) => ({
    eventname: 'DailyStats',
    customerid: customer,
    createtime: dayText(day),
    Currency: 'EUR',
    Product: 'Casino',
    GGR: '2.00',
  }),
}

const WRITERS: Readonly<Record<string, Writer>> = {
  igaming: BRAND,
  'prop-trading': {
    ...PARTNER,
    // Prop firms send a profit or loss with each row, and no spread.
    days: ({ spread_cost: _, ...one }) => PARTNER.days({ pnl: 0, ...one }),
  },
}
