import type { Context } from 'hono'
import { getAffiliateSelf } from '../affiliates/me.ts'
import { listPostbacks } from '../affiliates/postbacks.ts'
import { dayBefore } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Chart, type ChartRow } from '../pages/parts/chart.tsx'
import { Data } from '../pages/parts/data.tsx'
import { FigureCard } from '../pages/parts/figures.tsx'
import { readCurrent } from '../payouts/db/payees.ts'
import { getAffiliateOverview } from '../payouts/own/overview.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, SentenceList } from './member-page.tsx'
import {
  ASKING,
  briefly,
  groupMoney,
  groupText,
  type MoneyGroup,
  placeText,
  ToDo,
  unapprovedSentences,
} from './money.tsx'
import { UNEARNED } from './unearned.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

type Overview = AnswerOf<typeof getAffiliateOverview>
type Counted = Overview['totals']

/** The days of the figures. */
const DAYS = 30

/** What is counted, by its title. */
const COUNTS = {
  clicks: ({ metrics }: Counted) => metrics.clicks ?? 0,
  signups: ({ metrics }: Counted) => metrics.signups ?? 0,
  qualified: ({ qualified }: Counted) => qualified,
} as const

const NAMES = ['clicks', 'signups', 'qualified'] as const

/** Renders what is booked for the affiliate and not paid. */
const Balance = ({ balances }: Overview, { words, speech } = useMemberVisit()) => (
  <FigureCard title={words.balance}>
    {balances.length === 0 && <p class="big quiet">{words.nothing}</p>}
    {balances.map(({ balance, currency }) => (
      <p class="big">{speech.money(balance, currency)}</p>
    ))}
  </FigureCard>
)

/** Renders the payment that comes next. */
const NextPayment = ({ next }: { next: MoneyGroup | undefined }, visit = useMemberVisit()) => (
  <FigureCard title={visit.words.next_payment}>
    {next ? (
      <>
        <p class="big">{visit.speech.money(next.amount, next.currency)}</p>
        <p class="note">{placeText(briefly(next), visit)}</p>
      </>
    ) : (
      <p class="big quiet">{visit.words.nothing}</p>
    )}
  </FigureCard>
)

/** Renders what the latest period has earned, and what the one before it earned. */
const Earned = ({ earned }: Overview, { words, speech } = useMemberVisit()) => {
  const periods = [...new Set(earned.map(({ period }) => period))].sort()
  const last = periods.at(-1)
  if (last === undefined) return null
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

/** Responds with the overview of the affiliate: the last 30 days, what is pending and why, and the plans. */
export async function showOverview(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, today, account, db, session } = visit
  const id = session.affiliate_id
  const range = { from: dayBefore(today, DAYS - 1), to: dayBefore(today, 0) }
  const [me, overview, postbacks, payees] = await Promise.all([
    visit.call(getAffiliateSelf, {}),
    visit.call(getAffiliateOverview, range),
    visit.call(listPostbacks, {}),
    readCurrent(db, { account: account.id, party: 'payee' }, [id]),
  ])
  const { state = 'missing' } = payees.get(id) ?? {}
  const isUnpayable = state !== 'missing' && state !== 'approved'
  const isComing = (from: string) => from > range.to
  const [nextDay] = me.plans.flatMap(({ from }) => (isComing(from) ? [from] : [])).sort()
  const isStopped = postbacks.data.some(({ disabled_reason: why }) =>
    ['gone', 'failing'].includes(why ?? ''),
  )
  const written = (value: number) => visit.speech.figure(String(value))
  const { waiting } = overview.pending
  const customers = visit.speech.text('count.customers', { count: waiting })
  const groups = groupMoney(overview.pending.money)
  const [next] = groups
  const sentences = [
    ...groups
      .filter((one) => one !== next && !ASKING.includes(one.state))
      .map((one) => groupText(one, visit)),
    ...unapprovedSentences(overview.pending, visit),
    ...(waiting > 0 ? [fill(words.pending_waiting, { customers })] : []),
    ...(isUnpayable ? [fill(words[`payee_${state}`], { account: account.name })] : []),
  ]
  const rows = Array.from({ length: DAYS }, (_, i): ChartRow => {
    const day = dayBefore(visit.today, DAYS - 1 - i)
    const found = new Map(overview.days.map((one) => [one.day, one])).get(day)
    return [visit.speech.day(day), ...NAMES.map((name) => (found ? COUNTS[name](found) : 0))]
  })
  return respond(
    c,
    <MemberPage visit={visit} here="overview" title={words.overview}>
      <div class="figure-cards">
        <Balance {...overview} />
        <NextPayment next={next} />
        <Earned {...overview} />
      </div>
      <ToDo groups={groups} />
      {isStopped && (
        <p class="notice bad">
          {words.postback_stopped}{' '}
          <a href={portalPath(account.id, '/postbacks')}>{words.postbacks}</a>
        </p>
      )}
      <h2>{words.pending}</h2>
      {sentences.length === 0 ? (
        <p>{visit.words.pending_none}</p>
      ) : (
        <SentenceList sentences={sentences} />
      )}
      <p>
        {isUnpayable && (
          <>
            <a href={portalPath(account.id, '/getting-paid')}>{words.getting_paid}</a>,{' '}
          </>
        )}
        <a href={portalPath(account.id, UNEARNED)}>{words.unearned_link}</a>
      </p>
      <h2>{words.last_days}</h2>
      <div class="figure-cards">
        {NAMES.map((name) => (
          <FigureCard title={words[name]}>
            <p class="big">{written(COUNTS[name](overview.totals))}</p>
          </FigureCard>
        ))}
      </div>
      {!rows.every(([, ...values]) => values.every((value) => value === 0)) && (
        <Chart
          caption={visit.words.by_day}
          label={visit.words.day}
          series={NAMES.map((name) => visit.words[name])}
          rows={rows}
          summary={visit.words.chart_numbers}
          numberOf={written}
        />
      )}
      <h2 id="plans">{words.plans}</h2>
      {nextDay !== undefined && (
        <p class="notice">{fill(words.terms_change, { day: visit.speech.day(nextDay) })}</p>
      )}
      {me.plans.length === 0 ? (
        <p>{fill(visit.words.no_plan, { account: visit.account.name })}</p>
      ) : (
        me.plans.map(({ name, from, customers, rules, in_words }) => (
          <section>
            <h3>
              <Data
                text={fill(words[`plan_${isComing(from) ? 'next' : 'from'}_${customers}`], {
                  plan: name,
                  day: visit.speech.day(from),
                })}
              />
            </h3>
            {[...rules.map(({ pays, limits }) => [pays, ...limits]), in_words].map((sentences) => (
              <SentenceList sentences={sentences} />
            ))}
          </section>
        ))
      )}
    </MemberPage>,
  )
}
