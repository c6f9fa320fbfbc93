import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { dayBefore } from '../console/page.ts'
import { Data } from '../console/parts/data.tsx'
import { FigureCard } from '../console/parts/figures.tsx'
import { Sentences } from '../console/parts/plan-words.tsx'
import { respond } from '../console/respond.ts'
import { dayText, MemberPage, moneyIn, periodText } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

/** What `GET /affiliate/v1/me` says of plans. */
interface Me {
  readonly plans: readonly {
    readonly name: string
    readonly from: string
    readonly rules: readonly { readonly pays: string; readonly limits: readonly string[] }[]
    readonly in_words: readonly string[]
  }[]
}

/** Renders the plans of an affiliate in sentences. */
const Plans = ({ visit, plans }: { visit: MemberVisit; plans: Me['plans'] }) => {
  const { words, account, language } = visit
  if (plans.length === 0) return <p>{fill(words.no_plan, { account: account.name })}</p>
  return (
    <>
      {plans.map(({ name, from, rules, in_words }) => (
        <section>
          <h3>
            <Data text={fill(words.plan_from, { plan: name, day: dayText(from, language) })} />
          </h3>
          {[...rules.map(({ pays, limits }) => [pays, ...limits]), in_words].map((sentences) => (
            <Sentences now={sentences} before={null} />
          ))}
        </section>
      ))}
    </>
  )
}

/** What `GET /affiliate/v1/overview` says of some days. */
interface Overview {
  readonly totals: {
    readonly metrics: { readonly clicks: number | null; readonly signups: number }
    readonly qualified: number
  }
  readonly earned: readonly (Money & { readonly period: string; readonly total: string })[]
  readonly pending: {
    readonly waiting: number
    readonly hold_period: readonly Pending[]
    readonly below_minimum: readonly Pending[]
    readonly under_review: readonly (Money & { readonly amount: string })[]
  }
}

interface Money {
  readonly currency: string
}

type Pending = Money & {
  readonly amount: string
  readonly period: string
  readonly payable_on: string
}

/** The days of the figures, and of those that they are compared with. */
const DAYS = 30

const Figures = (props: { visit: MemberVisit; now: Overview; before: Overview }) => {
  const { words, language } = props.visit
  const number = new Intl.NumberFormat(language)
  const cardOf = (title: string, countOf: (one: Overview) => number | null) => (
    <FigureCard title={title}>
      <p class="big">{number.format(countOf(props.now) ?? 0)}</p>
      <p class="note">{fill(words.before, { count: number.format(countOf(props.before) ?? 0) })}</p>
    </FigureCard>
  )
  const last = props.now.earned
    .map(({ period }) => period)
    .toSorted()
    .at(-1)
  return (
    <div class="figure-cards">
      {cardOf(words.clicks, ({ totals }) => totals.metrics.clicks)}
      {cardOf(words.signups, ({ totals }) => totals.metrics.signups)}
      {cardOf(words.qualified, ({ totals }) => totals.qualified)}
      {last === undefined ? (
        <FigureCard title={words.balance}>
          <p class="big quiet">{words.nothing}</p>
        </FigureCard>
      ) : (
        <FigureCard title={fill(words.earned, { period: periodText(last, language) })}>
          {props.now.earned
            .filter(({ period }) => period === last)
            .map(({ total, currency }) => (
              <p class="big">{moneyIn(total, currency, language)}</p>
            ))}
        </FigureCard>
      )}
    </div>
  )
}

const PendingWords = ({ visit, pending }: { visit: MemberVisit; pending: Overview['pending'] }) => {
  const { words, language } = visit
  const amountOf = (one: Money & { readonly amount: string }) =>
    moneyIn(one.amount, one.currency, language)
  const sentences = [
    ...(pending.waiting > 0
      ? [fill(words.pending_waiting, { count: String(pending.waiting) })]
      : []),
    ...pending.hold_period.map((one) =>
      fill(words.pending_hold, {
        amount: amountOf(one),
        period: periodText(one.period, language),
        day: dayText(one.payable_on, language),
      }),
    ),
    ...pending.below_minimum.map((one) => fill(words.pending_minimum, { amount: amountOf(one) })),
    ...pending.under_review.map((one) => fill(words.pending_review, { amount: amountOf(one) })),
  ]
  if (sentences.length === 0) return <p>{words.pending_none}</p>
  return (
    <ul>
      {sentences.map((sentence) => (
        <li>{sentence}</li>
      ))}
    </ul>
  )
}

/** Responds with the overview of the affiliate: the last 30 days, what is pending and why, and the plans. */
export async function showOverview(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, now } = visit
  const read = (first: number, last: number) =>
    visit.get<Overview>('/overview', { from: dayBefore(now, first), to: dayBefore(now, last) })
  const [me, latest, before] = await Promise.all([
    visit.get<Me>('/me'),
    read(DAYS - 1, 0),
    read(2 * DAYS - 1, DAYS),
  ])
  return respond(
    c,
    <MemberPage visit={visit} here="overview" title={words.overview}>
      <h2>{words.last_days}</h2>
      <Figures visit={visit} now={latest} before={before} />
      <h2>{words.pending}</h2>
      <PendingWords visit={visit} pending={latest.pending} />
      <h2>{words.plans}</h2>
      <Plans visit={visit} plans={me.plans} />
    </MemberPage>,
  )
}
