import { getPlanVersion } from '../../admin/plans.ts'
import type { FactOutcome } from '../../commission/engine/fact-reports.ts'
import type { PlanTerms } from '../../commission/engine/plan.ts'
import type { Verdict } from '../../commission/engine/reasons.ts'
import { outcomeSentences } from '../../commission/why/sentences.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { nullIfNotFound } from '../api-errors.ts'
import { accountPath, dayBefore, useVisit, type Visit, withQuery } from '../page.ts'
import { Data } from './data.tsx'

// Why records earned nothing, in sentences with a link to the next step.

/** A record or a group that earned nothing, with what the links of its next step need. */
export interface Unearned extends FactOutcome {
  readonly affiliate_id?: string | null
  readonly customer_id?: string
  readonly currency?: string | null
  readonly day?: string
}

/** The version of a plan that decided about records; null if none did. */
type Decided = Pick<FactOutcome, 'plan' | 'version'>

/** Returns the terms of a version; null if they are not known. */
export type TermsOf = (decided: Decided) => PlanTerms | null

/** Reads the terms of the versions that decided about records, each once. */
export async function readTerms(
  { api, account }: Visit,
  decided: readonly Decided[],
): Promise<TermsOf> {
  const keyOf = ({ plan, version }: Decided): string => `${plan} ${version}`
  const versions = new Map(decided.map((one) => [keyOf(one), one]))
  const read = await Promise.all(
    [...versions].map(async ([key, { plan, version }]) => {
      if (plan === null || version === null) return [key, null] as const
      const at = { account, plan, version }
      const found = await api.call(getPlanVersion, at).catch(nullIfNotFound)
      return [key, found?.terms ?? null] as const
    }),
  )
  const terms = new Map(read)
  return (one) => terms.get(keyOf(one)) ?? null
}

/** Returns the name of a plan, or its id if its terms are not known. */
export const planName = (terms: PlanTerms | null, plan: string): string => terms?.name ?? plan

/** Where the next step is done; null if outside of the service. */
type StepPlace =
  | 'rates'
  | 'mappings'
  | 'held'
  | 'new affiliate'
  | 'affiliate'
  | 'customer'
  | 'plan of the affiliate'
  | 'plan'
  | null

type Next = readonly [text: string, at: StepPlace]

const SEE_PLAN: Next = ['See what the plan pays for', 'plan']
const SEE_CUSTOMER: Next = ['See what the customer has done', 'customer']
const UPLOAD_RATES: Next = ['Upload the rates', 'rates']
const SENT_AGAIN: Next = ['It counts only if it is sent again as approved', null]

/** Each reason, and the next step. `{rule}` is the rule that decided. */
const REASONS: Readonly<Record<Verdict, readonly [reason: string, next: Next]>> = {
  counted: ['A line of a statement counts it', ['See the line', null]],
  held: [
    'The customer has not arrived yet',
    ['Have the sender send the customer. What is held then counts by itself', 'held'],
  ],
  implausible_time: [
    'The time cannot be right: it is before the year 2000, or more than 36 hours ahead',
    ['Have the sender correct the time. A day that is still to come counts when it has come', null],
  ],
  organic: [
    'The customer had no affiliate on that day',
    ['See where the customer came from', 'customer'],
  ],
  unknown_affiliate: [
    'The affiliate of the customer is not set up',
    ['Set up the affiliate', 'new affiliate'],
  ],
  refused: [
    'The customer was refused on that day',
    ['See why, and end the refusal if it is wrong', 'customer'],
  ],
  no_plan: [
    'No plan was in force for the affiliate on that day',
    ['Assign a plan to the affiliate', 'affiliate'],
  ],
  pending: ['The sender says that it is pending', ['It counts once it is sent as approved', null]],
  unmapped: ['Its status has no meaning yet', ['Say what the status means', 'mappings']],
  declined: ['The sender says that it was declined', SENT_AGAIN],
  reversed: ['The sender says that it was reversed', SENT_AGAIN],
  no_rule: ['No rule of the plan pays for it', [SEE_PLAN[0], 'plan of the affiliate']],
  excluded: ['A condition of {rule} leaves it out', SEE_PLAN],
  expired: ['The time after the signup in which {rule} pays was over', SEE_PLAN],
  no_currency: [
    'No currency was sent with the amount',
    ['Have the sender send the currency', null],
  ],
  fx_pending: [
    'It waits for an exchange rate',
    ['Upload the rates if they do not come by themselves', 'rates'],
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

/** Returns the page of the next step; null if it needs an id that is not known. */
function stepPath(
  visit: Visit,
  { affiliate_id, customer_id, plan, currency, ...one }: Unearned,
  at: StepPlace,
): string | null {
  const page = (...parts: string[]) => accountPath(visit.account, ...parts)
  const pageOf = (section: string, id: string | null | undefined) =>
    id ? page(section, id) : page(section)
  switch (at) {
    case null:
      return null
    case 'new affiliate':
      return withQuery(page('affiliates'), { add: affiliate_id ?? undefined })
    case 'affiliate':
      return pageOf('affiliates', affiliate_id)
    case 'plan of the affiliate':
      return affiliate_id ? page('affiliates', affiliate_id) : page('plans')
    case 'customer':
      return customer_id ? page('customers', customer_id) : null
    case 'plan':
      return pageOf('plans', plan)
    case 'rates': {
      // The rate of another record can be missing: only that of the record itself has its day.
      const day = one.reason.startsWith('fx_') ? one.day : undefined
      const query = { currency: currency ?? undefined, rate_day: day }
      return `${withQuery(page('rates'), query)}#change-one`
    }
    default:
      return page(at)
  }
}

/** Returns why something earned nothing, in sentences. */
export const sentenceOf = (visit: Visit, unearned: Unearned, termsOf: TermsOf): string =>
  [
    `${reasonText(unearned.reason, unearned.rule)}.`,
    ...outcomeSentences(unearned, termsOf(unearned), dayBefore(visit.today, 0), ENGLISH),
  ].join(' ')

/** Renders the next step after a reason: a link where a page helps. */
export function NextStep({ unearned }: { unearned: Unearned }, visit = useVisit()) {
  const [text, at] = nextOf(unearned)
  const path = stepPath(visit, unearned, at)
  // Several records have several customers: their list leads to each.
  if (path === null && at !== null) return null
  return path ? <a href={path}>{text}</a> : `${text}.`
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
