import type { Context } from 'hono'
import { getAffiliateSelf } from '../affiliate/me.ts'
import { getAffiliateOverview } from '../affiliate/overview.ts'
import { listPostbacks } from '../affiliate/postbacks.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { dayBefore } from '../console/page.ts'
import { Chart, type ChartRow } from '../console/parts/chart.tsx'
import { Data } from '../console/parts/data.tsx'
import { FigureCard } from '../console/parts/figures.tsx'
import type { Money } from '../console/parts/owed.ts'
import { respond } from '../console/respond.ts'
import type { AnswerOf } from '../http/operation.ts'
import { portalPath } from './layout.tsx'
import { changeText, MemberPage, SentenceList } from './member-page.tsx'
import { dueText } from './payments.tsx'
import { UNEARNED } from './unearned.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

type Me = AnswerOf<typeof getAffiliateSelf>

/** Renders the plans of an affiliate in sentences. */
const Plans = ({ visit, plans }: { visit: MemberVisit; plans: Me['plans'] }) => {
  const { words, account, speech } = visit
  if (plans.length === 0) return <p>{fill(words.no_plan, { account: account.name })}</p>
  return (
    <>
      {plans.map(({ name, from, customers, rules, in_words }) => (
        <section>
          <h3>
            <Data
              text={fill(words[`plan_from_${customers}`], { plan: name, day: speech.day(from) })}
            />
          </h3>
          {[...rules.map(({ pays, limits }) => [pays, ...limits]), in_words].map((sentences) => (
            <SentenceList sentences={sentences} />
          ))}
        </section>
      ))}
    </>
  )
}

type Overview = AnswerOf<typeof getAffiliateOverview>
type Day = Overview['days'][number]
type Counted = Overview['totals']

/** The days of the figures; as many before them are those that they are compared with. */
const DAYS = 30

/** What is counted, by its title. */
const COUNTS = {
  clicks: ({ metrics }: Counted) => metrics.clicks ?? 0,
  signups: ({ metrics }: Counted) => metrics.signups ?? 0,
  qualified: ({ qualified }: Counted) => qualified,
} as const

const NAMES = ['clicks', 'signups', 'qualified'] as const

/** Renders what was counted on the last days, compared with the days before them. */
const Counts = ({ visit, overview }: { visit: MemberVisit; overview: Overview }) => {
  const { words, language, speech } = visit
  const { totals, before = totals } = overview
  const written = (value: number) => speech.figure(String(value))
  return NAMES.map((name) => {
    const [now, then] = [COUNTS[name](totals), COUNTS[name](before)]
    const change = changeText(now, then, language)
    const compared = fill(words.before, { count: written(then) })
    return (
      <FigureCard title={words[name]}>
        <p class="big">{written(now)}</p>
        <p class="note">{change === null ? compared : `${change} · ${compared}`}</p>
      </FigureCard>
    )
  })
}

/** Renders what the latest period has earned so far, and what the one before it earned. */
const Earned = ({ visit, overview }: { visit: MemberVisit; overview: Overview }) => {
  const { words, speech } = visit
  const { earned, pending } = overview
  const periods = [...new Set(earned.map(({ period }) => period))].sort()
  const last = periods.at(-1)
  if (last === undefined) {
    const { due_by_day, hold_period, below_minimum, under_review } = pending
    const isOwed = [due_by_day, hold_period, below_minimum, under_review].some(
      (list) => list.length > 0,
    )
    // What is owed for earlier periods stands below.
    if (isOwed) return null
    return (
      <FigureCard title={words.balance}>
        <p class="big quiet">{words.nothing}</p>
      </FigureCard>
    )
  }
  // Months are compared with months, and weeks with weeks.
  const previous = periods.findLast((one) => one < last && one.includes('W') === last.includes('W'))
  const of = (period: string) => earned.filter((one) => one.period === period)
  return (
    <FigureCard title={fill(words.earned, { period: speech.period(last) })}>
      {of(last).map(({ total, currency }) => (
        <p class="big">{speech.money(total, currency)}</p>
      ))}
      {previous !== undefined && (
        <p class="note">
          {fill(words.earned_before, {
            amount: speech.and(of(previous).map((one) => speech.money(one.total, one.currency))),
            period: speech.period(previous),
          })}
        </p>
      )}
    </FigureCard>
  )
}

const PendingWords = ({ visit, pending }: { visit: MemberVisit; pending: Overview['pending'] }) => {
  const { words, speech } = visit
  const amountOf = (one: Money & { readonly amount: string }) =>
    speech.money(one.amount, one.currency)
  const sentences = [
    // What is due later stands below, with its period.
    ...pending.due_by_day
      .filter(({ payable_on }) => payable_on === null)
      .map((one) => dueText(one, visit)),
    ...(pending.waiting > 0
      ? [
          fill(words.pending_waiting, {
            customers: speech.text('count.customers', { count: pending.waiting }),
          }),
        ]
      : []),
    ...pending.hold_period.map((one) =>
      fill(words.pending_hold, {
        amount: amountOf(one),
        period: speech.period(one.period),
        day: speech.day(one.payable_on),
      }),
    ),
    ...pending.below_minimum.map((one) => fill(words.pending_minimum, { amount: amountOf(one) })),
    ...pending.under_review.map((one) => fill(words.pending_review, { amount: amountOf(one) })),
  ]
  return sentences.length === 0 ? (
    <p>{words.pending_none}</p>
  ) : (
    <SentenceList sentences={sentences} />
  )
}

/** Renders the counts of each day as a chart, and as the table that it is drawn from. */
const Days = ({ visit, latest }: { visit: MemberVisit; latest: readonly Day[] }) => {
  const { words, speech, today } = visit
  const byDay = new Map(latest.map((one) => [one.day, one]))
  const rows = Array.from({ length: DAYS }, (_, i): ChartRow => {
    const day = dayBefore(today, DAYS - 1 - i)
    const found = byDay.get(day)
    return [speech.day(day), ...NAMES.map((name) => (found ? COUNTS[name](found) : 0))]
  })
  // A chart of nothing would only have an axis.
  if (rows.every(([, ...values]) => values.every((value) => value === 0))) return null
  return (
    <Chart
      caption={words.by_day}
      label={words.day}
      series={NAMES.map((name) => words[name])}
      rows={rows}
      summary={words.chart_numbers}
      numberOf={(value) => speech.figure(String(value))}
    />
  )
}

/** Responds with the overview of the affiliate: the last 30 days, what is pending and why, and the plans. */
export async function showOverview(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, today, account } = visit
  const range = { from: dayBefore(today, DAYS - 1), to: dayBefore(today, 0) }
  const [me, overview, postbacks] = await Promise.all([
    visit.call(getAffiliateSelf, {}),
    visit.call(getAffiliateOverview, { ...range, compare: true }),
    visit.call(listPostbacks, {}),
  ])
  const isStopped = postbacks.data.some(({ disabled_reason: why }) =>
    ['gone', 'failing'].includes(why ?? ''),
  )
  return respond(
    c,
    <MemberPage visit={visit} here="overview" title={words.overview}>
      {isStopped && (
        <p class="notice bad">
          {words.postback_stopped}{' '}
          <a href={portalPath(account.id, '/postbacks')}>{words.postbacks}</a>
        </p>
      )}
      <h2>{words.last_days}</h2>
      <div class="figure-cards">
        <Counts visit={visit} overview={overview} />
        <Earned visit={visit} overview={overview} />
      </div>
      <Days visit={visit} latest={overview.days} />
      <h2>{words.pending}</h2>
      <PendingWords visit={visit} pending={overview.pending} />
      <p>
        <a href={portalPath(account.id, UNEARNED)}>{words.unearned_link}</a>
      </p>
      <h2>{words.plans}</h2>
      <Plans visit={visit} plans={me.plans} />
    </MemberPage>,
  )
}
