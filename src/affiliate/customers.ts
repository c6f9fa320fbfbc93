import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { dayNumber, dayText, type Period, periodOf } from '../commission/engine/calendar.ts'
import { type Customer, compareText, NO_FIELDS, valueOn } from '../commission/engine/facts.ts'
import { type QualificationReport, reportOnce } from '../commission/engine/once-report.ts'
import type { Computation } from '../commission/statements/compute.ts'
import { onceQueries } from '../commission/why/record-queries.ts'
import { periodFor, readPeriod, readStatus, respondWithList } from '../commission/why/routes.ts'
import { evaluatedCustomers } from '../commission/why/unearned.ts'
import { PAGE_PARAMETERS } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { bookZoneOf, dayInZone } from '../zone.ts'
import { callerOf } from './me.ts'

/** What has become of a customer under one rule of a plan that pays once. */
type State = Omit<QualificationReport, 'customer_id' | 'affiliate_id'>

const stateOf = ({ customer_id: _, affiliate_id: __, ...state }: QualificationReport): State =>
  state

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

/** Returns the customers of an affiliate as of the end of a period, by id, each with its states. */
async function listCustomers(
  computation: Computation,
  { last }: Period,
  own: string,
): Promise<readonly object[]> {
  const found = []
  const filter = { affiliate_id: own }
  for await (const evaluated of evaluatedCustomers(computation, filter, onceQueries(computation))) {
    const { customer } = evaluated
    const day = customer.signupDay > last ? null : lastOwnDay(customer, own, last)
    const states = reportOnce(computation.context, evaluated, last)
      .filter(({ affiliate_id }) => affiliate_id === own)
      .map(stateOf)
    if (day === null && states.length === 0) continue
    const { link, country_code } = valueOn(customer.fields, day ?? last) ?? NO_FIELDS
    const signup_day = dayText(customer.signupDay)
    found.push({ customer: customer.customer_id, signup_day, link, country_code, states })
  }
  return found.sort((a, b) => compareText(a.customer, b.customer))
}

/** Responds with one page of the affiliate's customers: one row each, with what is missing under each rule. */
export async function respondWithCustomers(c: Context<AppEnv>): Promise<Response> {
  const {
    period: text,
    status,
    ...page
  } = readQuery(c.req.url, ...PAGE_PARAMETERS, 'period', 'status')
  const wanted = readStatus(status)
  const { account, id } = await callerOf(c)
  const today = dayNumber(dayInZone(bookZoneOf(account), Date.now()))
  const period = text === undefined ? periodOf(today, 'month') : readPeriod(text)
  return respondWithList(c, ['customers', id, period.id, wanted], page, async (reader) => {
    const all = await listCustomers(await periodFor(c, reader, period), period, id)
    return wanted === undefined ? all : all.filter((one) => hasState(one, wanted))
  })
}

const hasState = (one: object, status: State['status']): boolean =>
  'states' in one &&
  Array.isArray(one.states) &&
  one.states.some((state: State) => state.status === status)
