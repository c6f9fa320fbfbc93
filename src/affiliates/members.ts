import { ALL_MODIFIERS } from '../commission/plans/modifiers/order.ts'

// One table names each member of every answer to affiliates; `visible` applies it. A member that the table does not name is left out, so that a new one is hidden until somebody decides.

/**
 * What a member is. Of the kinds without a comment, the name says it.
 *
 * - `open`: it is about the affiliate, or about no customer. The members of its value are looked up in turn.
 * - `whole`: open with everything in it, such as a rule of a plan.
 * - `line`: the id of a line or an adjustment, which is a digest of its scope; or a line.
 * - `hash`: the checksum of a statement, which covers the scopes of its lines.
 * - `scope`: whom a line is for: `customer:C-1`.
 * - `amount`: what customers have paid or traded, as against what the affiliate earns.
 * - `affiliate`: the id of this affiliate, or of one below.
 * - `never`: personal data of customers, and what only the firm needs.
 */
export type Kind =
  | 'open'
  | 'whole'
  | 'customer'
  | 'line'
  | 'hash'
  | 'scope'
  | 'amount'
  | 'country'
  | 'affiliate'
  | 'never'

/** The members of all answers, by what they are. `steps.customer` is the `customer` of an item of `steps`. */
const MEMBERS: Readonly<Record<Kind, string>> = {
  open: `
    data meta total page per_page next_cursor total_is_limited
    account name display_name contact_email language status time_zone mode
    id period currency state day at from to kind plan version
    days totals earned balances pending qualified waiting hold_period unapproved below_minimum money money.on
    balance due payable_on
    opening lines_sum adjustments_sum manual_sum payable closing dropped transferred received holds
    manual lines_total adjustments_total earned_before approved_at paid returned computed_at lines adjustments
    part parts steps closed corrections changed of approved now amount causes causes_total
    records rule reason condition resource transaction_type eventname count
    rules counted min until signup_day link states link_id url landing_page pass_query share_url disabled
    disabled_by created_at clicks group_by columns unconverted notes
    statement reference entered_on value_on paid_on statements returned_on
    level signups active_customers
    payment step rate carried_in carried_out capped recouped deficit dropped_in occurrence field change
    action customers terms rates converted by_amount_usd each quantity record conditions qualified_on
    qualified_at sources conversions sum before after steps.customer steps.affiliate over window
    earlier own network covered rate_is rounded digits
    position paid_once deficit_in deficit_out trigger missing refused_by waits_for type metric
    detail met_on met_at fails records_total times value currencies times qualify limits
    about asked_at messages messages.text
    postback first_deposit sub1 sub2 sub3 sub4 sub5 event time method events secret disabled_reason
    title paragraphs
    failing_since event_id timestamp attempts attempted_at response_status error body next_attempt_at replayed`,
  whole: 'plans affiliate_view landing_pages metrics groups condition term unit by',
  customer: 'customer customer_id',
  line: 'line line_id',
  hash: 'hash',
  scope: 'scope',
  amount: `
    base units sums amounts reached holds.sum measure fence fx step.part conditions.missing
    before_signup fenced paid_back first_deposit.amount first_deposit.currency causes.before causes.after`,
  country: 'country country_code',
  affiliate: 'affiliate_id',
  never: 'actor author note kyc_status_id sales_status_id delivery_id audit_id',
}

/** The members of modifiers are terms of a plan, which its affiliates read: open unless the table names them. */
const OF_MODIFIERS = ALL_MODIFIERS.flatMap(({ members }) => Object.keys(members))

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ...OF_MODIFIERS.map((name): [string, Kind] => [name, 'open']),
  ...Object.entries(MEMBERS).flatMap(([kind, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name): [string, Kind] => [name, kind as Kind]),
  ),
])

/** Returns what the member `name` of the object `parent` is; undefined if nobody has decided. */
export const kindOf = (parent: string, name: string): Kind | undefined =>
  KINDS.get(`${parent}.${name}`) ?? KINDS.get(name)
