import * as v from 'valibot'
import { type Customer, NO_FIELDS, valueOn } from '../commission/engine/facts.ts'
import { reportOnce } from '../commission/engine/once-report.ts'
import type { OpenAccount } from '../commission/run/account.ts'
import { NARROW, withinLimit } from '../commission/run/on-request.ts'
import { qualification } from '../commission/shapes/explanations.ts'
import { readPeriod, STATUSES } from '../commission/why/operations.ts'
import { periodIn } from '../commission/why/period.ts'
import { onceQueries } from '../commission/why/record-queries.ts'
import { evaluatedCustomers } from '../commission/why/unearned.ts'
import { compareText } from '../platform/compare-text.ts'
import { list } from '../platform/http/operation.ts'
import { pageOfAll } from '../platform/http/pagination.ts'
import {
  dayNumber,
  dayText,
  type Period,
  periodOf,
  periodUntil,
} from '../platform/money/calendar.ts'
import { asCsv, csvWords, objectsIn } from '../platform/money/csv-list.ts'
import { day } from '../platform/validation/answer-fields.ts'
import { component, described } from '../platform/validation/described.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { todayOf } from '../platform/zone.ts'
import { type OwnCustomer, statesOf, withAmounts } from './customer-states.ts'

/** A customer as the list has them. */
interface ListedCustomer extends OwnCustomer {
  readonly signup_day: string
  readonly link: string | null
  readonly country_code: string | null
}

/** The last day on which an affiliate had a customer; null if never. */
function lastOwnDay({ affiliates, signupDay }: Customer, own: string, last: number): number | null {
  for (let i = affiliates.length - 1; i >= 0; i--) {
    const { from, value } = affiliates[i] ?? { from: null, value: null }
    if (value !== own || (from !== null && from > last)) continue
    const next = affiliates[i + 1]?.from
    return Math.max(signupDay, Math.min(last, next == null ? last : next - 1))
  }
  return null
}

/**
 * Returns the customers of an affiliate as of the end of a period, the latest signups first, each with its states. In
 * the order of ids, a known id would tell something of those beside it.
 */
async function listCustomers(
  account: OpenAccount,
  { last }: Period,
  own: string,
): Promise<readonly ListedCustomer[]> {
  const found: ListedCustomer[] = []
  const filter = { affiliate_id: own }
  const queries = onceQueries(account, account.range.days)
  for await (const evaluated of evaluatedCustomers(account, filter, queries)) {
    const { customer } = evaluated
    const day = customer.signupDay > last ? null : lastOwnDay(customer, own, last)
    const reports = reportOnce(account, evaluated, last)
    const states = statesOf(account, customer, reports, { own, day })
    if (day === null && states.length === 0) continue
    const { link, country_code } = valueOn(customer.fields, day ?? last) ?? NO_FIELDS
    const signup_day = dayText(customer.signupDay)
    found.push({ customer: customer.customer_id, signup_day, link, country_code, states })
  }
  return found.sort(
    (a, b) => compareText(b.signup_day, a.signup_day) || compareText(a.customer, b.customer),
  )
}

/** The states by which customers can be listed. */
const STATES = [...STATUSES, 'already_counted'] as const

const COLUMNS = [
  'customer',
  'signup_day',
  'link',
  'country_code',
  'plan',
  'version',
  'rule',
  'status',
  'qualified_on',
  'amount',
  'currency',
  'missing',
  'until',
  'refused_by',
  'closed',
]

const state = described(() => {
  const { customer_id: _, affiliate_id: __, ...members } = qualification.entries
  return component('CustomerState', () => ({
    ...members,
    status: member(
      v.picklist(STATES),
      '`waiting`: something is `missing`. `failed`: a window closed. `refused`: a condition does not hold, or the trigger was reversed. `already_counted`: the rule has paid for the customer before the affiliate had them.',
    ),
    amount: nullable(
      v.string(),
      'What a statement pays for it. Null unless it is `qualified` and a statement has it that the affiliate may see.',
    ),
    currency: nullable(v.string(), 'The currency of the amount.'),
  }))
})

const customer = component('AffiliateCustomer', () => ({
  customer: member(v.string(), 'The customer, by the name that the account shows.'),
  signup_day: member(day, 'The day of the signup.'),
  link: nullable(v.string(), 'The link that they followed. Null if none is known.'),
  country_code: nullable(v.string(), 'The country. Null if it is not known.'),
  states: member(v.array(state), 'What has become of them under each rule that pays once.'),
}))

export const listAffiliateCustomers = list({
  of: 'affiliate',
  topic: 'affiliate-api',
  id: 'listAffiliateCustomers',
  path: '/customers',
  params: {
    period: optional(
      v.string(),
      said('The period: a month `2026-10` or a week `2026-W41`.', '2026-10'),
    ),
    status: optional(
      v.picklist(STATES),
      said('Returns only customers with this state.', 'waiting'),
    ),
  },
  // A row for each state of a customer; one without a state for a customer who has none.
  files: asCsv('customers', COLUMNS, ({ states, ...rest }) => {
    const all = objectsIn(states)
    return all.length === 0 ? [rest] : all.map((state) => ({ ...rest, ...state }))
  }),
  words: described(() => ({
    description:
      'Returns one row for each customer, the latest signups first, as of the end of a period, or as of today if it has not ended, the current month unless set, with what has become of them under each rule that pays once.',
    answer: customer,
    errors: ['validation_failed'],
    files: csvWords(COLUMNS),
  })),
  async list(call, { period: text, status }, page) {
    const { session, grant, affiliate } = call
    const today = dayNumber(todayOf(affiliate.account))
    const period = text === undefined ? periodOf(today, 'month') : readPeriod(text)
    const all = await withinLimit(grant, NARROW, async () =>
      listCustomers(await periodIn(call, period), periodUntil(period, today), affiliate.id),
    )
    const wanted =
      status === undefined
        ? all
        : all.filter(({ states }) => states.some((state) => state.status === status))
    const found = pageOfAll(wanted, page)
    const computation = await periodIn(call, period)
    return { ...found, data: await withAmounts(session, computation, affiliate, found.data) }
  },
})
