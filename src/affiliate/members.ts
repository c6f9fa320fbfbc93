// One table names each member of every answer to affiliates; `visible` applies it. A member that the table does not name is left out, so that a new one is hidden until somebody decides.

/**
 * What a member is. Of the kinds without a comment, the name says it.
 *
 * - `open`: it is about the affiliate, or about no customer. The members of its value are looked up in turn.
 * - `whole`: open with everything in it, such as a rule of a plan.
 * - `scope`: whom a line is for: `customer:C-1`.
 * - `amount`: what customers have paid or traded, as against what the affiliate earns.
 * - `affiliate`: the id of this affiliate, or of one below.
 * - `never`: personal data of customers, and what only the firm needs.
 */
export type Kind =
  | 'open'
  | 'whole'
  | 'customer'
  | 'scope'
  | 'amount'
  | 'country'
  | 'affiliate'
  | 'never'

/** The members of all answers, by what they are. `steps.customer` is the `customer` of an item of `steps`. */
const MEMBERS: Readonly<Record<Kind, string>> = {
  open: `
    data meta total page per_page next_cursor total_is_limited
    account name display_name contact_email language status key scope_of_key
    id period currency state day at from to kind plan version time_zone mode`,
  whole: 'plans affiliate_view',
  customer: 'customer customer_id',
  scope: 'scope',
  amount: 'base units',
  country: 'country country_code',
  affiliate: 'affiliate_id',
  never: 'actor note kyc_status_id sales_status_id delivery_id audit_id',
}

const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries(MEMBERS).flatMap(([kind, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, kind as Kind] as const),
  ),
)

/** Returns what the member `name` of the object `parent` is; undefined if nobody has decided. */
export const kindOf = (parent: string, name: string): Kind | undefined =>
  KINDS.get(`${parent}.${name}`) ?? KINDS.get(name)
