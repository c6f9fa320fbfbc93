import type { PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import type { World } from '../../test/commission/world.ts'

// Builds worlds from records in the shapes of the API, as partners and brands send them.

export interface CustomerRecord {
  customer_id: string
  signup_date: string
  affiliate_id: string
}

export interface TransactionRecord {
  transaction_id: string
  customer_id: string
  transaction_type: string
  transaction_subtype?: string
  amount_currency: number
  currency: string
  transaction_date: string
  status: string
}

export type ActivityRecord = World['activity'][number]

export interface BrandCustomerRecord {
  customerId: string
  regtime: string
  tracking_data?: string
}

export interface BrandActivityRecord {
  customerid: string
  eventname: string
  eventid: string
  createtime: string
  Product: string
  NGR: string
  Currency: string
}

/** Returns the rates of the ECB's file. */
export function ratesOf(csv: string): World['rates'] {
  const [header = '', ...rows] = csv.trim().split(/\r?\n/)
  const currencies = header.split(',')
  return rows.flatMap((row) => {
    const cells = row.split(',')
    return cells.flatMap((rate, index) =>
      index === 0 || rate === '' || rate === 'N/A'
        ? []
        : [{ day: cells[0]!, currency: currencies[index]!, rate }],
    )
  })
}

const termsOf = (currency: string, rules: readonly Rule[]): PlanTerms => ({
  name: 'Plan',
  currency,
  period: 'month',
  effective_from: '1993-01-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 0,
  rules,
})

/** Returns an empty world in which every affiliate has one plan. */
const worldOf = (vertical: World['vertical'], currency: string, rules: readonly Rule[]): World => ({
  vertical,
  affiliates: [],
  status_map: {},
  customers: [],
  transactions: [],
  activity: [],
  events: [],
  rates: [],
  plans: [{ plan: 'P', versions: [{ version: 1, terms: termsOf(currency, rules) }] }],
  assignments: [{ affiliate_id: '*', plan: 'P', from: '1993-01-01', customers: 'all' }],
})

const affiliatesOf = (ids: Iterable<string>): World['affiliates'] =>
  [...new Set(ids)].sort().map((affiliate_id) => ({ affiliate_id, parents: [] }))

const customersOf = (records: readonly CustomerRecord[]): World['customers'] =>
  records.map(({ customer_id, signup_date, affiliate_id }) => ({
    customer_id,
    signup: Date.parse(signup_date),
    affiliates: [{ from: null, affiliate_id }],
    fields: [],
  }))

/** The real deposits are of 1993 to 1998, and times before 2000 earn nothing. Leap years stay leap years. */
const LATER_YEARS = 12

/** Returns the instant of an RFC 3339 text, `LATER_YEARS` later. */
const later = (text: string) =>
  Date.parse(`${Number(text.slice(0, 4)) + LATER_YEARS}${text.slice(4)}`)

/** A CPA for deposits from 1,000 CZK on, once 5,000 CZK are deposited within 90 days of the signup. */
export function depositWorld(
  customers: readonly CustomerRecord[],
  transactions: readonly TransactionRecord[],
): World {
  const deposits = { transactions: ['deposit'] }
  const cpa: Rule = {
    id: 'cpa',
    kind: 'once',
    trigger: { ...deposits, min: '1000' },
    amount: '500',
    qualify: [{ sum: [deposits], min: '5000', within_days: 90 }],
  }
  return {
    ...worldOf('forex', 'CZK', [cpa]),
    affiliates: affiliatesOf(customers.map(({ affiliate_id }) => affiliate_id)),
    customers: customersOf(
      customers.map((one) => ({
        ...one,
        signup_date: new Date(later(one.signup_date)).toISOString(),
      })),
    ),
    transactions: transactions.map(({ transaction_date, ...one }) => ({
      transaction_id: one.transaction_id,
      customer_id: one.customer_id,
      transaction_type: one.transaction_type,
      ...(one.transaction_subtype && { transaction_subtype: one.transaction_subtype }),
      amount_currency: one.amount_currency,
      currency: one.currency,
      status: one.status,
      at: later(transaction_date),
    })),
  }
}

/** The groups of instruments: their symbols, and what a lot of them pays in EUR. */
const GROUPS = {
  all: { instruments: ['ALL'], amount: '3' },
  crypto: { instruments: ['BTC', 'ETH', 'SOL', 'HYPE'], amount: '5' },
  other: { not_instruments: ['ALL', 'BTC', 'ETH', 'SOL', 'HYPE'], amount: '7' },
} as const

/**
 * Lots at 3, 5 and 7 EUR by group of instruments, and 10 % of the commission that each group was
 * charged. Lots need no rate, commissions do.
 */
export function lotWorld(
  customers: readonly CustomerRecord[],
  activity: readonly ActivityRecord[],
  rates: World['rates'],
): World {
  const rules = Object.entries(GROUPS).flatMap(([id, { amount, ...when }]): Rule[] => [
    { id: `lots-${id}`, kind: 'unit', unit: { activity: 'lots_traded' }, amount, when },
    {
      id: `charged-${id}`,
      kind: 'share',
      percent: '10',
      base: [{ activity: 'commission' }],
      when,
    },
  ])
  const traders = new Set(activity.map(({ customer_id }) => customer_id))
  const own = customers.filter(({ customer_id }) => traders.has(customer_id))
  return {
    ...worldOf('forex', 'EUR', rules),
    affiliates: affiliatesOf(own.map(({ affiliate_id }) => affiliate_id)),
    customers: customersOf(own),
    activity: [...activity],
    rates,
  }
}

/** 30 % of NGR, product by product, with carry. The source of a customer is its affiliate. */
export function revenueWorld(
  customers: readonly BrandCustomerRecord[],
  activities: readonly BrandActivityRecord[],
  rates: World['rates'],
  currency: string,
): World {
  const rule: Rule = {
    id: 'ngr',
    kind: 'share',
    percent: '30',
    base: [{ event: 'DailyStats', kpi: 'NGR' }],
    per: 'product',
    negative: 'carry',
  }
  const sourceOf = (id: string) => id.slice(0, 2)
  return {
    ...worldOf('igaming', currency, [rule]),
    affiliates: affiliatesOf(customers.map(({ customerId }) => sourceOf(customerId))),
    customers: customers.map(({ customerId, regtime, tracking_data }) => ({
      customer_id: customerId,
      signup: Date.parse(`${regtime.replace(' ', 'T')}:00Z`),
      affiliates: [{ from: null, affiliate_id: tracking_data ? sourceOf(customerId) : null }],
      fields: [],
    })),
    events: activities.map((one) => ({
      id: one.eventid,
      customer_id: one.customerid,
      eventname: one.eventname,
      day: one.createtime,
      Currency: one.Currency,
      product: one.Product,
      kpis: { NGR: Number(one.NGR) },
    })),
    rates,
  }
}
