/**
 * One account with everything from which commissions are computed, and what they come to. The model
 * test gives a world to the engine and to the oracle, which share nothing but this file.
 *
 * Days are `YYYY-MM-DD`, instants milliseconds since 1970. Decimals that a plan or a rate names are
 * text; amounts of facts are numbers, as they were sent.
 */
export interface World {
  vertical: 'prop-trading' | 'forex' | 'igaming'
  /** The book zone of a partner, by which instants belong to days; if absent, UTC. */
  book_zone?: string
  /** When it is looked at; absent: when all of its days have come. */
  now?: number
  /** How the amounts of outflows are written; absent: as magnitudes. */
  amount_signs?: 'signed'
  /** The events by which money leaves. */
  outflows?: string[]
  /** Configured affiliates; `from` null holds from the beginning. Histories are in order of `from`. */
  affiliates: { affiliate_id: string; parents: { from: string | null; parent: string | null }[] }[]
  /** The account's status map: the firm's word → state. */
  status_map: Record<string, 'pending' | 'approved' | 'declined' | 'reversed'>
  customers: WorldCustomer[]
  transactions: WorldTransaction[]
  activity: WorldActivity[]
  events: WorldEvent[]
  /** Published rates: units of the currency for one euro. EUR itself is 1. */
  rates: { day: string; currency: string; rate: string }[]
  /** Plans by name. `version` counts from 1; `terms` is the JSON of §12. */
  plans: { plan: string; versions: { version: number; terms: unknown }[] }[]
  assignments: { affiliate_id: string; plan: string; from: string; customers: 'new' | 'all' }[]
}

export interface WorldCustomer {
  customer_id: string
  /** The signup instant; its day in the book zone is the signup day. */
  signup: number
  /** The affiliate (of a brand: that of the attributed link) by day; null is organic. */
  affiliates: { from: string | null; affiliate_id: string | null }[]
  /** The fields that conditions use, whole, by day. */
  fields: { from: string | null; values: WorldFields }[]
  /** The first day on which the customer is refused; null refuses from the beginning. */
  refused?: { from: string | null }
}

export interface WorldFields {
  country_code?: string
  trading_account_type?: string
  challenge_type?: string
  phase?: string
  kyc_status_id?: string
  sales_status_id?: string
  account_size?: number
  link?: string
}

export interface WorldTransaction {
  transaction_id: string
  customer_id: string
  transaction_type: string
  transaction_subtype?: string
  amount_currency: number
  currency: string
  amount_usd?: number
  /** The instant of `transaction_date`; its day in the book zone is the fact's day. */
  at: number
  status: string
}

export interface WorldActivity {
  date: string
  customer_id: string
  instrument: string
  currency: string
  lots_traded: number
  pnl?: number
  volume_usd?: number
  spread_cost?: number
  commission?: number
}

export interface WorldEvent {
  id: string
  customer_id: string
  eventname: string
  /** The instant of `createtime`; absent in a daily aggregate, which counts as a whole day. */
  at?: number
  day: string
  /** The firm's word for its status; absent: approved. */
  status?: string
  Value?: number
  Currency?: string
  product?: string
  kpis?: Record<string, number>
}

/**
 * What a world comes to in one period, such as `2026-10` or `2026-W41`. Both implementations are
 * functions `(world, periods) => Outcome[]`, one outcome for each period asked for. Carries, deficits and
 * openings begin at 0 before the first period of the kind that has a fact of the world.
 */
export interface Outcome {
  period: string
  /** The statements of plans with that kind of period, in order of affiliate and plan (code points). */
  statements: OutcomeStatement[]
  /**
   * Every fact whose day lies in the period, in order of resource and id (code points), evaluated as of
   * the period's last day under whatever plan governs it.
   */
  facts: OutcomeFact[]
}

export interface OutcomeStatement {
  affiliate_id: string
  plan: string
  period: string
  currency: string
  opening: string
  lines: OutcomeLine[]
  total: string
  payable: string
  closing: string
  /** What `negative: "zero"` dropped: negative, or "0.00". */
  dropped: string
  /** What moves to another plan, and the period of that plan that starts with it. */
  transferred: { to: string; period: string; amount: string } | null
  /** What other plans transferred, in order of plan and period. */
  received: { from: string; period: string; amount: string }[]
  holds: OutcomeHold[]
}

/** Texts as §16.18: money with the currency's minor digits, other decimals without trailing zeros. */
export interface OutcomeLine {
  rule: string
  version: number
  kind: 'once' | 'share' | 'unit' | 'override'
  scope: string
  /** The base after the fence (`share`; `once` with a percentage: the trigger's amount; `override` of
   * lines or a base: what the percentage applies to); else null. */
  base: string | null
  /** The raw units before `each` (`unit`, `override` of a unit; number of lines for `override` of
   * `once`); else null. */
  units: string | null
  /** The tier measure, at most 12 places (half to even); null without tiers. */
  measure: string | null
  /** `whole`: the `from` of the step; `slice`: the parts; null without tiers. */
  step: string | { from: string; part: string; rate: string }[] | null
  /** The percentage or amount that applies; null under `slice`. */
  rate: string | null
  amount: string
  carried_in: string
  carried_out: string
  capped: string
  recouped: string
  deficit: string
  fence: { base: string; paid_back: string; fenced: string } | null
  fx: { currency: string; amount: string; converted: string }[]
}

/** Facts of one rule that wait: how many, and the sum of their amounts as sent (no `times`). */
export interface OutcomeHold {
  rule: string
  version: number
  reason: 'no_currency' | 'fx_pending' | 'fx_missing'
  currency: string | null
  count: number
  sum: string
}

export interface OutcomeFact {
  resource: 'customers' | 'transactions' | 'trading-activity' | 'activities'
  id: string
  /** `counted`, or the reason of §10. */
  state: string
  /** The rule that the reason comes from (the furthest; of equal rank the first); null if none. */
  rule: string | null
}
