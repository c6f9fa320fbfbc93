import { getPlanVersion } from '../../admin/plans.ts'
import type { PlanTerms } from '../../commission/engine/plan.ts'
import {
  type ReasonWords,
  reasonWords,
  type StepPlace,
  type Unpaid,
} from '../../commission/engine/reason-words.ts'
import { type Decided, readTermsOf, type TermsOf } from '../../commission/why/found-record.ts'
import { nullIfNotFound } from '../api-errors.ts'
import { accountPath, dayBefore, useVisit, type Visit, withQuery } from '../page.ts'
import { Data } from './data.tsx'

// Why records earned nothing, in sentences with a link to the next step.

/** A record or a group that earned nothing, with what the links of its next step need. */
export type Unearned = Unpaid & Decided & { readonly customer_id?: string; readonly day?: string }

/** Reads the terms of the versions that decided about records, each once. */
export const readTerms = ({ api, account }: Visit, decided: readonly Decided[]): Promise<TermsOf> =>
  readTermsOf(decided, async (plan, version) => {
    const found = await api.call(getPlanVersion, { account, plan, version }).catch(nullIfNotFound)
    return found?.terms ?? null
  })

/** Returns the name of a plan, or its id if its terms are not known. */
export const planName = (terms: PlanTerms | null, plan: string): string => terms?.name ?? plan

/** Returns the page of the next step; null if it needs an id that is not known. */
function stepPath(
  visit: Visit,
  { affiliate_id, customer_id, plan, currency, ...one }: Unearned,
  at: StepPlace | null,
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

/** Returns why something earned nothing, in words. */
export const wordsOf = (visit: Visit, unearned: Unearned, termsOf: TermsOf): ReasonWords =>
  reasonWords(unearned, termsOf(unearned), dayBefore(visit.today, 0))

/** Renders the next step after a reason: a link where a page helps. */
export function NextStep(
  props: { unearned: Unearned; next: ReasonWords['next'] },
  visit = useVisit(),
) {
  const { unearned, next } = props
  const path = stepPath(visit, unearned, next.at)
  // Several records have several customers: their list leads to each.
  if (path === null && next.at !== null) return null
  const text = <Data text={next.text.replace(/\.$/, path ? '' : '.')} />
  return path ? <a href={path}>{text}</a> : text
}

/** Renders why something earned nothing: a sentence and the next step. */
export function Reason(props: { unearned: Unearned; termsOf: TermsOf }, visit = useVisit()) {
  const { unearned, termsOf } = props
  const { sentence, next } = wordsOf(visit, unearned, termsOf)
  return (
    <>
      <Data text={sentence} /> <NextStep unearned={unearned} next={next} />
    </>
  )
}
