import type { Context } from 'hono'
import type { FactOutcome } from '../commission/engine/records.ts'
import { listUnearnedRecords } from '../commission/why/operations.ts'
import { outcomeSentences } from '../commission/why/sentences.ts'
import { isMessageName } from '../commission/words/words.ts'
import { dayBefore } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { dayNumber, dayText, latestPeriods, parsePeriod } from '../platform/money/calendar.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage, Sentence, titleText } from './member-page.tsx'
import { readPlans } from './plans.ts'
import { CustomerName } from './questions.tsx'
import type { MemberVisit } from './visit.ts'

/** A record as the account shows it: without amounts, if these are hidden. */
type Seen = AnswerOf<typeof listUnearnedRecords>['data'][number]

/** The path of the page, below that of the account. */
export const UNEARNED = '/unearned'

/** The reasons that records of an affiliate can have, in the order of the plan: what is certain comes first. */
const REASONS = [
  'pending',
  'declined',
  'reversed',
  'refused',
  'no_plan',
  'no_rule',
  'excluded',
  'expired',
  'not_qualified',
  'already_counted',
  'fx_pending',
  'fx_missing',
  'no_currency',
  'unmapped',
  'implausible_time',
] as const

type SeenReason = (typeof REASONS)[number]

const isSeenReason = (text: string | undefined): text is SeenReason =>
  REASONS.some((one) => one === text)

/** How many months can be chosen, the present one included. */
const MONTHS = 13

/** Names a record, with its amount if that is shown. */
function recordText(
  { resource, transaction_type, eventname, currency, amounts }: Seen,
  { words, speech }: MemberVisit,
): string {
  const amount = amounts?.amount_currency ?? amounts?.Value
  const name = `transaction.${transaction_type}`
  const record =
    resource === 'customers'
      ? words.record_signup
      : resource === 'trading-activity'
        ? words.record_trading
        : isMessageName(name)
          ? speech.text(name, { count: 1 })
          : titleText(eventname ?? transaction_type ?? words.record)
  const titled = record.charAt(0).toUpperCase() + record.slice(1)
  if (amount === undefined || currency === null) return titled
  return fill(words.record_of, { record: titled, amount: speech.money(amount, currency) })
}

/** Returns the outcomes of a record that are listed: those with the reason that is chosen, or the first. */
const outcomesOf = ({ rules, ...record }: Seen, reason: SeenReason | undefined): FactOutcome[] => {
  const wanted = rules.filter((one) => one.reason === reason)
  return record.reason === 'counted' || (record.reason === reason && wanted.length > 0)
    ? wanted
    : [record]
}

/** Responds with the records of a month for which no rule pays, each with its reason. */
export async function showUnearned(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech } = visit
  const query = c.req.query()
  const today = dayBefore(visit.today, 0)
  const months = latestPeriods(dayNumber(today), 'month', MONTHS).map(({ id }) => id)
  const sent = parsePeriod(query.period ?? '')
  const period = sent?.id ?? months[0] ?? ''
  // What can still count comes first: other reasons are mostly of records that no rule is about.
  const chosen = query.reason ?? 'not_qualified'
  const reason = isSeenReason(chosen) ? chosen : undefined
  const { data, meta } = await visit.call(listUnearnedRecords, {
    period,
    reason,
    cursor: query.cursor,
    per_page: 25,
  })
  const found = data.flatMap(({ plan, rules }) => [plan, ...rules.map((one) => one.plan)])
  const plans = await readPlans(
    visit,
    found.flatMap((plan) => plan ?? []),
  )
  const last = parsePeriod(period)?.last ?? dayNumber(today)
  const asOf = dayText(Math.min(last, dayNumber(today)))
  return respond(
    c,
    <MemberPage visit={visit} here="customers" title={words.unearned}>
      <p class="lead">{fill(words.unearned_lead, { period: speech.period(period) })}</p>
      <form method="get" action={portalPath(visit.account.id, UNEARNED)} class="filters">
        <div>
          <label for="period">{visit.words.period}</label>
          <select id="period" name="period">
            {(months.includes(period) ? months : [period, ...months]).map((month) => (
              <option value={month} selected={month === period}>
                {visit.speech.period(month)}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="reason">{visit.words.reason}</label>
          <select id="reason" name="reason">
            <option value="">{visit.words.all_reasons}</option>
            {REASONS.map((one) => (
              <option value={one} selected={one === reason}>
                {visit.words[`reason_${one}`]}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">{visit.words.show}</button>
      </form>
      <Table
        caption={words.unearned}
        rows={data}
        columns={{
          [words.customer]: ({ customer_id = null }) => <CustomerName name={customer_id} />,
          [words.day]: ({ day }) => speech.day(day),
          [words.record]: (one) => <Data text={recordText(one, visit)} />,
          [words.reason]: {
            prose: (one) =>
              outcomesOf(one, reason).map((outcome) => (
                <>
                  <Sentence
                    text={
                      isSeenReason(outcome.reason)
                        ? words[`reason_${outcome.reason}`]
                        : words.reason_other
                    }
                  />{' '}
                  {outcome.rule !== null && (
                    <small>
                      <Data text={titleText(outcome.rule)} />
                    </small>
                  )}
                  {outcomeSentences(
                    outcome,
                    outcome.plan === null || outcome.version === null
                      ? undefined
                      : plans.termsOf(outcome.plan, outcome.version),
                    asOf,
                    speech,
                  ).map((sentence) => (
                    <p class="note">
                      <Sentence text={sentence} />
                    </p>
                  ))}
                </>
              )),
          },
        }}
        empty={
          <p class="note">
            {reason === undefined ? words.unearned_none : words.unearned_none_of_reason}
          </p>
        }
      />
      <NextPage at={UNEARNED} cursor={meta.next_cursor} query={{ period, reason: reason ?? '' }} />
    </MemberPage>,
  )
}
