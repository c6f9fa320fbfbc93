import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import {
  dayNumber,
  dayText,
  type Period,
  periodOf,
  periodUntil,
} from '../commission/engine/calendar.ts'
import { type Customer, compareText, NO_FIELDS, valueOn } from '../commission/engine/facts.ts'
import { reportOnce } from '../commission/engine/once-report.ts'
import type { Computation } from '../commission/statements/compute.ts'
import { acceptKept, onceQueries } from '../commission/why/record-queries.ts'
import { periodFor, readPeriod, respondWithList, STATUSES } from '../commission/why/routes.ts'
import { evaluatedCustomers } from '../commission/why/unearned.ts'
import { PAGE_PARAMETERS } from '../http/pagination.ts'
import { readChoice, readQuery } from '../http/query.ts'
import type { Reader } from '../http/read-session.ts'
import { todayOf } from '../zone.ts'
import { type OwnCustomer, statesOf, withAmounts } from './customer-states.ts'
import { callerOf } from './me.ts'

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
  computation: Computation,
  { last }: Period,
  own: string,
): Promise<readonly OwnCustomer[]> {
  const found = []
  const filter = { affiliate_id: own }
  const queries = onceQueries(computation).map(acceptKept)
  for await (const evaluated of evaluatedCustomers(computation, filter, queries)) {
    const { customer } = evaluated
    const day = customer.signupDay > last ? null : lastOwnDay(customer, own, last)
    const { context } = computation
    const reports = reportOnce(context, evaluated, last)
    const states = statesOf(context, customer, reports, { own, day })
    if (day === null && states.length === 0) continue
    const { link, country_code } = valueOn(customer.fields, day ?? last) ?? NO_FIELDS
    const signup_day = dayText(customer.signupDay)
    found.push({ customer: customer.customer_id, signup_day, link, country_code, states })
  }
  return found.sort(
    (a, b) => compareText(b.signup_day, a.signup_day) || compareText(a.customer, b.customer),
  )
}

/** Responds with one page of the affiliate's customers: one row each, with what is missing under each rule. */
export async function respondWithCustomers(c: Context<AppEnv>): Promise<Response> {
  const {
    period: text,
    status,
    ...page
  } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'period', 'status')
  const wanted = readChoice('status', status, STATES)
  const { account, id, view } = await callerOf(c)
  const today = dayNumber(todayOf(account))
  const period = text === undefined ? periodOf(today, 'month') : readPeriod(text)
  const asOf = periodUntil(period, today)
  const list = ['customers', id, period.id, wanted]
  const compute = async (reader: Reader) => {
    const all = await listCustomers(await periodFor(c, reader, period), asOf, id)
    return wanted === undefined ? all : all.filter((one) => hasState(one, wanted))
  }
  return respondWithList(c, list, page, compute, async (reader, customers) =>
    withAmounts(reader.session, await periodFor(c, reader, period), { id, view }, customers),
  )
}

/** The states by which customers can be listed. */
const STATES = [...STATUSES, 'already_counted'] as const

const hasState = ({ states }: OwnCustomer, status: (typeof STATES)[number]): boolean =>
  states.some((state) => state.status === status)
