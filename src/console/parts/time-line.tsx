import type { Child } from 'hono/jsx'
import type { getAffiliations } from '../../admin/histories.ts'
import type { PlanTerms } from '../../commission/engine/plan.ts'
import { getStatement } from '../../commission/statements/operations.ts'
import { listAccountQualifications, listCustomerLines } from '../../commission/why/operations.ts'
import { stateWords } from '../../commission/why/sentences.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { nullIfNotFound } from '../api-errors.ts'
import { dayBefore, type Visit } from '../page.ts'
import type { Attribution } from './customers.tsx'
import { amountText, Badge, Data, Day, isolated } from './data.tsx'
import { AccountLink } from './fields.tsx'
import { AffiliateLink } from './names.tsx'
import { planName, readTerms, type TermsOf } from './reasons.tsx'
import { Amounts, nounOf } from './record-fields.tsx'
import type { StoredRecord } from './record-lookup.ts'
import { pathOfRecord } from './records.tsx'
import type { WholeStatement } from './statement.tsx'
import { StatusBadge } from './statement-lists.tsx'

// The time line of a customer: click, signup, records, qualification and payment.

type Line = AnswerOf<typeof listCustomerLines>['data'][number]
type QualificationReport = AnswerOf<typeof listAccountQualifications>['data'][number]

/** What happened on a day; without a day it stands first. */
interface Event {
  readonly day: string | null
  readonly text: Child
}

/** A part of the history of a customer: their affiliate from a day on. */
export type Affiliation = AnswerOf<typeof getAffiliations>['affiliations'][number]

/** What the time line is made from, beside what is computed. */
export interface CustomerHistory extends AnswerOf<typeof getAffiliations> {
  /** The day of the signup; null if the customer is not stored. */
  readonly signup: string | null
  readonly attribution: Attribution | null
  readonly lists: readonly { readonly resource: string; readonly data: readonly StoredRecord[] }[]
}

/** What a customer qualified for, with the statement that pays it. */
interface Qualified {
  readonly report: QualificationReport
  readonly line: Line | undefined
  readonly statement: WholeStatement | null
}

const dayOf = (value: unknown): string | null =>
  /^\d{4}-\d\d-\d\d/.exec(typeof value === 'string' ? value : '')?.[0] ?? null

/** Returns the events that need no computation. */
function ownEvents(visit: Visit, history: CustomerHistory): Event[] {
  const { signup, attribution, affiliations, refusal, lists } = history
  return [
    ...(attribution?.link_id
      ? [{ day: signup, text: <>Followed the link “{isolated(attribution.link_id)}”</> }]
      : []),
    ...(signup === null ? [] : [{ day: signup, text: 'Signed up' }]),
    ...affiliations.slice(1).map(({ from, affiliate_id }) => ({
      day: from,
      text: (
        <>
          Affiliate from then on: <AffiliateLink id={affiliate_id} />
        </>
      ),
    })),
    ...(refusal ? [{ day: refusal.from, text: <>Refused: {isolated(refusal.reason)}</> }] : []),
    ...lists.flatMap(({ resource, data }) =>
      // Trading goes on every day: the first day is what counts.
      (resource === 'trading-activity' ? data.slice(0, 1) : data).map((record) =>
        recordEvent(visit.account, resource, record),
      ),
    ),
  ]
}

function recordEvent(account: string, resource: string, record: StoredRecord): Event {
  const { transaction_date, createtime, date, status } = record
  const path = pathOfRecord(account, resource, record)
  const noun = resource === 'trading-activity' ? 'First trade' : nounOf(resource, record)
  const amount = record.amount_currency ?? record.Value
  const currency = record.currency ?? record.Currency
  const isOdd = typeof status === 'string' && status.toLowerCase() !== 'approved'
  return {
    day: dayOf(transaction_date ?? createtime ?? date),
    text: (
      <>
        {path ? <a href={path}>{<Data text={noun} />}</a> : <Data text={noun} />}
        {amount !== undefined && ' of '}
        {amount !== undefined && (
          <Amounts
            amounts={{ amount_currency: String(amount) }}
            currency={currency === undefined ? null : String(currency)}
          />
        )}{' '}
        {isOdd && <Badge tone="quiet">{isolated(status)}</Badge>}
      </>
    ),
  }
}

/** Says why a customer has not qualified under a rule. */
function missingText(report: QualificationReport, terms: PlanTerms | null): string {
  const rule = terms?.rules.find(({ id }) => id === report.rule)
  const trigger = rule?.kind === 'once' ? rule.trigger : undefined
  const sentences = terms ? stateWords(report, { ...terms, trigger }, ENGLISH) : []
  return sentences.join(' ') || 'The customer has not qualified.'
}

/** Reads the statement that pays what a customer qualified for. */
async function readQualified(visit: Visit, report: QualificationReport): Promise<Qualified> {
  const { api, account } = visit
  const { customer_id, qualified_on, rule, trigger } = report
  const days = [qualified_on, trigger?.day].flatMap((day) => day ?? [])
  const months = [...new Set(days.map((day) => day.slice(0, 7)))]
  const read = await Promise.all(
    months.map((period) =>
      api.call(listCustomerLines, { account, customer_id, period }).catch(nullIfNotFound),
    ),
  )
  const line = read
    .flatMap((one) => one?.data ?? [])
    .find((one) => one.kind === 'once' && one.rule === rule)
  const statement_id = line?.statement_id
  const statement = statement_id
    ? await api.call(getStatement, { account, statement_id }).catch(nullIfNotFound)
    : null
  return { report, line, statement }
}

function qualifiedEvents({ report, line, statement }: Qualified, termsOf: TermsOf) {
  const { plan, rule, qualified_on } = report
  const amount = statement?.lines.find(({ id }) => id === line?.line_id)?.amount
  const paid = statement?.paid
  const toLine = (text: string) =>
    line && statement ? <AccountLink at={['lines', line.line_id]} children={text} /> : text
  const earned = amount === undefined ? null : amountText(amount, line?.currency)
  const events: Event[] = [
    {
      day: qualified_on,
      text: (
        <>
          {toLine(earned === null ? 'Qualified' : `Qualified for ${earned}`)}{' '}
          <span class="quiet">
            by the rule “{isolated(rule)}” of <Data text={planName(termsOf(report), plan)} />
          </span>{' '}
          {statement && <StatusBadge {...statement} />}
        </>
      ),
    },
    ...(paid
      ? [{ day: paid.paid_on, text: <>Paid to the affiliate{earned !== null && `: ${earned}`}</> }]
      : []),
  ]
  return events
}

/** Computes and renders the time line of a customer, and what is missing to qualify. */
export async function renderTimeLine(visit: Visit, history: CustomerHistory) {
  const { api, account, today } = visit
  const { customer_id } = history
  const period = dayBefore(today, 0).slice(0, 7)
  const { data } = await api.call(listAccountQualifications, { account, period, customer_id })
  const [termsOf, qualified] = await Promise.all([
    readTerms(visit, data),
    Promise.all(
      data
        .filter(({ status }) => status === 'qualified')
        .map((report) => readQualified(visit, report)),
    ),
  ])
  const events = [
    ...ownEvents(visit, history),
    ...qualified.flatMap((one) => qualifiedEvents(one, termsOf)),
  ].sort((a, b) => (a.day ?? '').localeCompare(b.day ?? ''))
  const open = data.filter(({ status }) => status !== 'qualified')
  return (
    <>
      {open.length > 0 && (
        <ul class="missing">
          {open.map((report) => (
            <li>
              <Data text={missingText(report, termsOf(report))} />{' '}
              <span class="quiet">
                Rule “{isolated(report.rule)}” of{' '}
                <Data text={planName(termsOf(report), report.plan)} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <ol class="time-line">
        {events.map(({ day, text }) => (
          <li>
            <Day day={day} /> <span>{text}</span>
          </li>
        ))}
      </ol>
    </>
  )
}
