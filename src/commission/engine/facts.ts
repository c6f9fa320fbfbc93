import { compareText } from '../../platform/compare-text.ts'

/** The resources whose records are facts (§10), by the names of the API. */
export type FactResource = 'customers' | 'transactions' | 'trading-activity' | 'activities'

/**
 * What the account's status map makes of the status of a transaction or an event. Other facts are
 * `approved`. A fact of a time that cannot be has the state `implausible_time`, whatever its status.
 */
export type FactState =
  | 'pending'
  | 'approved'
  | 'declined'
  | 'reversed'
  | 'unmapped'
  | 'implausible_time'

/**
 * The amounts of a fact by field: `amount_currency`, `lots_traded`, `Value`, a KPI … Integers of
 * 10^-12.
 */
export interface Amounts extends Iterable<readonly [field: string, units: bigint]> {
  readonly has: (field: string) => boolean
  readonly get: (field: string) => bigint | undefined
}

/**
 * A record that can earn, or a group of records that are equal in every field that plans use.
 */
export interface Fact {
  readonly resource: FactResource
  /** The record's id; of a trading activity `date|customer_id|instrument|currency`. */
  readonly id: string
  /** The instant, in milliseconds since 1970; of a whole day its start in the account's zone. */
  readonly at: number
  readonly wholeDay: boolean
  /** The day in the control totals, in days since 1970. */
  readonly day: number
  readonly state: FactState
  /** The transaction type or event name; empty in other facts. */
  readonly kind: string
  readonly subtype: string | null
  /** The currency of its amounts; null if none was sent and none is defined. */
  readonly currency: string | null
  readonly instrument: string | null
  readonly product: string | null
  readonly amounts: Amounts
  /** How many records this is. */
  readonly count: number
  /** The delivery that last changed the record, where records are read one by one. */
  readonly delivery_id?: string
}

/** The values of a customer that conditions use. An absent value is null. */
export interface CustomerFields {
  readonly country_code: string | null
  readonly trading_account_type: string | null
  readonly challenge_type: string | null
  readonly phase: string | null
  readonly kyc_status_id: string | null
  readonly sales_status_id: string | null
  readonly account_size: number | null
  readonly link: string | null
}

/** Fields without values. */
export const NO_FIELDS: CustomerFields = {
  country_code: null,
  trading_account_type: null,
  challenge_type: null,
  phase: null,
  kyc_status_id: null,
  sales_status_id: null,
  account_size: null,
  link: null,
}

/** A value and the first day on which it holds; null holds from the beginning. */
export interface Dated<T> {
  readonly from: number | null
  readonly value: T
}

/** A customer with its histories, each in order of day, and its facts in order of time. */
export interface Customer {
  readonly customer_id: string
  /** The signup instant, in milliseconds since 1970, and its day in the account's zone. */
  readonly signup: number
  readonly signupDay: number
  readonly affiliates: readonly Dated<string | null>[]
  readonly fields: readonly Dated<CustomerFields>[]
  /** The first day on which the customer is refused; null if never, -Infinity if always. */
  readonly refusedFrom: number | null
  readonly facts: readonly Fact[]
}

/** Returns the value that holds on a day; null if none does. */
export function valueOn<T>(history: readonly Dated<T>[], day: number): T | null {
  let found: T | null = null
  for (const { from, value } of history) {
    if (from !== null && from > day) break
    found = value
  }
  return found
}

/** Returns a fact's amount of a field; 0 if it has none. */
export const amountOf = ({ amounts }: Fact, field: string): bigint => amounts.get(field) ?? 0n

/** Orders facts by instant, resource name and id (§16.13). */
export const compareFacts = (a: Fact, b: Fact): number =>
  a.at - b.at || compareText(a.resource, b.resource) || compareText(a.id, b.id)
