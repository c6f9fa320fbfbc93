/** A peak of signups that a campaign brings. */
export interface Campaign {
  readonly first: number
  readonly last: number
  readonly times: number
  /** Where most of these signups come from. */
  readonly country: string
}

/** An affiliate, and what its customers are like. */
export interface Affiliate {
  readonly id: string
  readonly plan: 'customers' | 'share'
  readonly firstDay: number
  /** Mean signups of a usual day. */
  readonly perDay: number
  /** The share of the customers who pay. */
  readonly conversion: number
  /** The share of the payments that are reversed. */
  readonly reversed: number
  /** How long its customers stay, compared with others. */
  readonly quality: number
  /** The main country is the first. */
  readonly countries: readonly string[]
  readonly mainShare: number
  readonly quiet: readonly number[]
  readonly campaign: Campaign | null
}
