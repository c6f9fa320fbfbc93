/** What an account lets its affiliates see (§18.1). */
export interface AffiliateView {
  /** How customers are named: by a pseudonym that is stable for the affiliate, by their id, or not at all. */
  readonly customer_ids: 'pseudonym' | 'plain' | 'none'
  /** Whether bases and deposits are shown. Without, only what is earned is. */
  readonly amounts: boolean
  readonly countries: boolean
  /** What is shown of the affiliates below. */
  readonly sub_affiliates: 'totals' | 'none'
  /** Whether statements are shown before they are approved. */
  readonly drafts: boolean
  /** Whether it is shown that a payout is under review. */
  readonly held: 'category' | 'none'
}

/** What affiliates see unless their account sets something else. */
export const DEFAULT_VIEW: AffiliateView = {
  customer_ids: 'pseudonym',
  amounts: true,
  countries: true,
  sub_affiliates: 'totals',
  drafts: true,
  held: 'category',
}

/** Returns the view of an account, from the members that are stored: those that were set. */
export const viewOf = ({ affiliate_view }: { readonly affiliate_view: string }): AffiliateView => ({
  ...DEFAULT_VIEW,
  ...(JSON.parse(affiliate_view) as Partial<AffiliateView>),
})

/** Returns what is stored of a view: the members that are not the defaults. */
export function storedView(view: AffiliateView): string {
  const set = Object.entries(view).filter(
    ([name, value]) => Reflect.get(DEFAULT_VIEW, name) !== value,
  )
  return JSON.stringify(Object.fromEntries(set))
}
