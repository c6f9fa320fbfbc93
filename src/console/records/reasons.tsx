import type { FactOutcome } from '../../commission/engine/records.ts'
import { getPlan } from '../../commission/operations/plans.ts'
import type { PlanTerms } from '../../commission/plans/types.ts'
import type { Verdict } from '../../commission/shapes/reasons.ts'
import { outcomeSentences } from '../../commission/why/sentences.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { accountPath, dayBefore, useVisit, type Visit, withQuery } from '../../pages/base/page.ts'
import { Data } from '../../pages/parts/data.tsx'

// Why records earned nothing, in sentences with a link to the next step.

/** A record or a group that earned nothing, with what the links of its next step need. */
export interface Unearned extends FactOutcome {
  readonly affiliate_id?: string | null
  readonly customer_id?: string
}

/** The version of a plan that decided about records; null if none did. */
type Decided = Pick<FactOutcome, 'plan' | 'version'>

/** Returns the terms of a version; null if they are not known. */
export type TermsOf = (decided: Decided) => PlanTerms | null

/** Reads the terms of the plans that decided about records. */
export async function readTerms(
  { api, account }: Visit,
  decided: readonly Pick<Decided, 'plan'>[],
): Promise<TermsOf> {
  const plans = new Set(decided.flatMap(({ plan }) => plan ?? []))
  const read = await Promise.all(
    [...plans].map((plan) => api.call(getPlan, { account, plan }).catch(nullIfNotFound)),
  )
  const versions = read.flatMap((found) =>
    (found?.versions ?? []).map((one) => ({ ...one, plan: found?.plan })),
  )
  return ({ plan, version }) =>
    versions.find((one) => one.plan === plan && one.version === version)?.terms ?? null
}

/** Returns the name of a plan, or its id if its terms are not known. */
export const planName = (terms: PlanTerms | null, plan: string): string => terms?.name ?? plan

/** Returns the address of a page of the account by the parts of its path. */
type PageAt = (...parts: string[]) => string

/** Returns the address where the next step is done; null if it needs an id that is not known. */
type Address = (at: PageAt, unearned: Unearned) => string | null

/** The next step, and where it is done; null if outside of the service. */
type Next = readonly [text: string, address: Address | null]

const customer: Address = (at, { customer_id }) =>
  customer_id ? at('customers', customer_id) : null
const affiliate: Address = (at, { affiliate_id }) =>
  affiliate_id ? at('affiliates', affiliate_id) : at('affiliates')
const planOfAffiliate: Address = (at, { affiliate_id }) =>
  affiliate_id ? at('affiliates', affiliate_id) : at('plans')

const rates: Address = (at) => at('rates')

const SEE_PLAN: Next = [
  'See what the plan pays for',
  (at, { plan }) => (plan ? at('plans', plan) : at('plans')),
]
const SEE_CUSTOMER: Next = ['See what the customer has done', customer]
const UPLOAD_RATES: Next = ['Upload the rates', rates]
const SENT_AGAIN: Next = ['It counts only if it is sent again as approved', null]

/** Each reason, and the next step. `{rule}` is the rule that decided. */
const REASONS: Readonly<Record<Verdict, readonly [reason: string, next: Next]>> = {
  counted: ['A line of a statement counts it', ['See the line', null]],
  held: [
    'The customer has not arrived yet',
    ['Have the sender send the customer. What is held then counts by itself', (at) => at('held')],
  ],
  implausible_time: [
    'The time cannot be right: it is before the year 2000, or more than 36 hours ahead',
    ['Have the sender correct the time. A day that is still to come counts when it has come', null],
  ],
  organic: [
    'The customer had no affiliate on that day',
    ['See where the customer came from', customer],
  ],
  unknown_affiliate: [
    'The affiliate of the customer is not set up',
    [
      'Set up the affiliate',
      (at, { affiliate_id }) => withQuery(at('affiliates'), { add: affiliate_id ?? undefined }),
    ],
  ],
  refused: [
    'The customer was refused on that day',
    ['See why, and end the refusal if it is wrong', customer],
  ],
  no_plan: [
    'No plan was in force for the affiliate on that day',
    ['Assign a plan to the affiliate', affiliate],
  ],
  pending: ['The sender says that it is pending', ['It counts once it is sent as approved', null]],
  unmapped: [
    'Its status has no meaning yet',
    ['Say what the status means', (at) => at('mappings')],
  ],
  declined: ['The sender says that it was declined', SENT_AGAIN],
  reversed: ['The sender says that it was reversed', SENT_AGAIN],
  no_rule: ['No rule of the plan pays for it', [SEE_PLAN[0], planOfAffiliate]],
  excluded: ['A condition of {rule} leaves it out', SEE_PLAN],
  expired: ['The time after the signup in which {rule} pays was over', SEE_PLAN],
  no_currency: [
    'No currency was sent with the amount',
    ['Have the sender send the currency', null],
  ],
  fx_pending: [
    'It waits for an exchange rate',
    ['Upload the rates if they do not come by themselves', rates],
  ],
  fx_missing: ['There is no exchange rate of its day or of the days before', UPLOAD_RATES],
  already_counted: ['By {rule} the customer has been paid for already', SEE_CUSTOMER],
  not_qualified: ['The customer has not qualified by {rule}', SEE_CUSTOMER],
}

/** Returns a reason in words, without a full stop. */
export const reasonText = (reason: Verdict, rule: string | null = null): string =>
  REASONS[reason][0].replace('{rule}', rule === null ? 'the rule' : `the rule “${rule}”`)

function nextOf({ reason, condition }: Unearned): Next {
  if (reason === 'not_qualified' && condition === 'rate') return UPLOAD_RATES
  return reason === 'not_qualified' && condition === 'min' ? SEE_PLAN : REASONS[reason][1]
}

/** Returns why something earned nothing, in sentences. */
export const sentenceOf = (visit: Visit, unearned: Unearned, termsOf: TermsOf): string =>
  [
    `${reasonText(unearned.reason, unearned.rule)}.`,
    ...outcomeSentences(unearned, termsOf(unearned), dayBefore(visit.today, 0), ENGLISH),
  ].join(' ')

/** Renders the next step after a reason: a link where a page helps. */
export function NextStep({ unearned }: { unearned: Unearned }, visit = useVisit()) {
  const [text, address] = nextOf(unearned)
  if (address === null) return `${text}.`
  const to = address((...parts) => accountPath(visit.account, ...parts), unearned)
  // Several records have several customers: their list leads to each.
  return to && <a href={to}>{text}</a>
}

/** Renders why something earned nothing: a sentence and the next step. */
export function Reason(props: { unearned: Unearned; termsOf: TermsOf }, visit = useVisit()) {
  const { unearned, termsOf } = props
  return (
    <>
      <Data text={sentenceOf(visit, unearned, termsOf)} /> <NextStep unearned={unearned} />
    </>
  )
}
