import type { Child } from 'hono/jsx'
import { moneyText } from '../../commission/books/money.ts'
import { dayText, nextPeriod, periodOf } from '../../commission/engine/calendar.ts'
import { add, type Decimal, decimal, ZERO } from '../../commission/engine/decimal.ts'
import { listAccountQualifications } from '../../commission/why/operations.ts'
import { DAY_MS } from '../../durations.ts'
import { ApiError } from '../../errors.ts'
import { getReport } from '../../reports/operations.ts'
import type { Figures, Report, Row } from '../../reports/report.ts'
import type { Visit } from '../page.ts'
import { count, dayWords } from './data.tsx'
import { AccountLink } from './fields.tsx'
import { ChangeText, FigureCard, Moneys, Sparkline } from './figures.tsx'
import { type Amounts, changeOf, moneyOf } from './owed.ts'

// The revenue and the new customers of the current month, beside the same days of the month before.

/** What a vertical's firm earns, and the steps of a new customer, by the names of their metrics. */
interface Meaning {
  readonly title: string
  readonly note: string
  /** Returns the metrics whose sum is the revenue. */
  readonly revenue: (report: Report) => readonly string[]
  readonly metrics: readonly string[]
  readonly steps: readonly (readonly [metric: string, title: string])[]
}

const SIGNUPS = [
  ['signups', 'Signups'],
  ['attributed', 'With an affiliate'],
] as const

/** Returns the metric of a KPI of some event: the net gaming revenue if there is one, else the gross one. */
function gamingRevenue({ columns }: Report): string[] {
  const names = columns.map(({ name }) => name)
  const net = names.filter((name) => /\.NGR$/i.test(name))
  return net.length > 0 ? net : names.filter((name) => /\.GGR$/i.test(name))
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  forex: {
    title: 'Revenue',
    note: 'Spread and commission of trades',
    revenue: () => ['spread_cost', 'commission_charged'],
    metrics: ['signups', 'attributed', 'first_deposit_count', 'spread_cost', 'commission_charged'],
    steps: [...SIGNUPS, ['first_deposit_count', 'First deposits']],
  },
  'prop-trading': {
    title: 'Net revenue',
    note: 'Fees less payouts and refunds',
    revenue: () => ['net_revenue'],
    metrics: ['signups', 'attributed', 'challenge_fee_count', 'net_revenue'],
    steps: [...SIGNUPS, ['challenge_fee_count', 'Challenge fees']],
  },
  igaming: {
    title: 'Gaming revenue',
    note: 'NGR, or GGR where no NGR is sent',
    revenue: gamingRevenue,
    metrics: ['signups', 'attributed', 'events'],
    steps: SIGNUPS,
  },
}

/** Returns the revenue of rows by currency. What has no exchange rate stays in its own currency. */
function revenueOf(rows: readonly Figures[], names: readonly string[], currency: string): Amounts {
  const sums = new Map<string, Decimal>()
  const addTo = (key: string, amount: string) =>
    sums.set(key, add(sums.get(key) ?? ZERO, decimal(amount)))
  for (const { metrics, unconverted } of rows) {
    for (const name of names) {
      const value = metrics[name]
      if (value !== null && value !== undefined) addTo(currency, String(value))
    }
    for (const rest of unconverted) {
      if (rest.currency && names.includes(rest.metric)) addTo(rest.currency, rest.amount)
    }
  }
  return sums
}

const countOf = (rows: readonly Figures[], name: string) =>
  rows.reduce((sum, { metrics }) => sum + Number(metrics[name] ?? 0), 0)

/** The days that are compared, in days since 1970-01-01: those of this month, and of the one before. */
interface Days {
  readonly first: number
  readonly today: number
  readonly firstBefore: number
  readonly lastBefore: number
}

function daysUntil(now: number): Days {
  const today = Math.floor(now / DAY_MS)
  const month = periodOf(today, 'month')
  const before = nextPeriod(month, -1)
  const lastBefore = Math.min(before.first + today - month.first, before.last)
  return { first: month.first, today, firstBefore: before.first, lastBefore }
}

/** Returns the rows of days. */
const between = (rows: readonly Row[], first: number, last: number) =>
  rows.filter(
    ({ groups: { day } }) => dayText(first) <= String(day) && String(day) <= dayText(last),
  )

/** Returns the revenue of each day of this month in a currency, as numbers for a drawing. */
const daily = (
  rows: readonly Row[],
  { first, today }: Days,
  names: readonly string[],
  of: string,
) =>
  Array.from({ length: today - first + 1 }, (_, i) => {
    const sums = revenueOf(between(rows, first + i, first + i), names, of)
    return Number(moneyText(sums.get(of) ?? ZERO, of))
  })

const Revenue = (props: { meaning: Meaning; report: Report; days: Days; than: Child }) => {
  const { meaning, report, days, than } = props
  const names = meaning.revenue(report)
  const now = revenueOf(between(report.data, days.first, days.today), names, report.currency)
  const before = revenueOf(
    between(report.data, days.firstBefore, days.lastBefore),
    names,
    report.currency,
  )
  const amounts = moneyOf(now).filter(({ amount }) => /[1-9]/.test(amount))
  const shown = amounts.length > 0 ? amounts : moneyOf(now).slice(0, 1)
  return (
    <FigureCard title={`${meaning.title} this month`}>
      <Moneys amounts={shown} none="None yet" />
      {shown.map(({ currency }) => (
        <p class="change">
          <ChangeText change={changeOf(now, before, currency)} than={than} />
        </p>
      ))}
      <Sparkline
        values={daily(report.data, days, names, report.currency)}
        label={`${report.currency} by day of this month`}
      />
      <p class="note">{meaning.note}</p>
    </FigureCard>
  )
}

/** A step of the funnel: how many customers made it this month, and on the same days of the month before. */
interface Step {
  readonly title: string
  readonly now: number
  readonly before: number
}

/** The maximum number of qualifications that are read, which is that of a page. */
const MAX_QUALIFICATIONS = 500

/**
 * Counts the customers for whom a rule that pays once pays. Returns nothing if there are none, too many, or too
 * many records to find out.
 */
async function readQualified({ api, account }: Visit, days: Days): Promise<Step[]> {
  const { data, meta } = await api
    .call(listAccountQualifications, {
      account,
      period: periodOf(days.today, 'month').id,
      status: 'qualified',
      qualified_from: dayText(days.firstBefore),
      per_page: MAX_QUALIFICATIONS,
    })
    .catch(insteadOfRefusal(NO_QUALIFICATIONS))
  if (meta.total === 0 || meta.total > data.length) return []
  const countBetween = (first: number, last: number) => {
    const found = data.filter(
      ({ qualified_on: day }) => day !== null && dayText(first) <= day && day <= dayText(last),
    )
    return new Set(found.map(({ customer_id }) => customer_id)).size
  }
  const now = countBetween(days.first, days.today)
  return [{ title: 'Qualified', now, before: countBetween(days.firstBefore, days.lastBefore) }]
}

const NO_QUALIFICATIONS = { data: [], meta: { total: 0 } }

/** Returns a function that replaces an answer that the API refuses to compute, and throws other errors. */
const insteadOfRefusal =
  <T,>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof ApiError && error.status < 500) return instead
    throw error
  }

const NewCustomers = (props: {
  meaning: Meaning
  report: Report
  days: Days
  than: Child
  qualified: readonly Step[]
}) => {
  const { meaning, report, days, than, qualified } = props
  const now = between(report.data, days.first, days.today)
  const before = between(report.data, days.firstBefore, days.lastBefore)
  const steps: readonly Step[] = [
    ...meaning.steps.map(([metric, title]) => ({
      title,
      now: countOf(now, metric),
      before: countOf(before, metric),
    })),
    ...qualified,
  ]
  const highest = Math.max(1, ...steps.map((step) => step.now))
  return (
    <FigureCard title="New customers">
      <ol class="funnel">
        {steps.map((step) => (
          <li>
            <span>{step.title}</span> <strong>{count(step.now)}</strong>{' '}
            <small>{count(step.before)} before</small>
            <meter min={0} max={highest} value={step.now} aria-label={step.title} />
          </li>
        ))}
      </ol>
      <p class="note">
        This month; “before” is {than}.
        {qualified.length > 0 && ' Qualified: a plan pays once for them.'}
      </p>
    </FigureCard>
  )
}

/** Returns the currency in which a report is converted: the one that most statements have. */
export const mainCurrency = (sums: readonly { currency: string; statements: number }[]): string => {
  const counts = new Map<string, number>()
  for (const { currency, statements } of sums) {
    counts.set(currency, (counts.get(currency) ?? 0) + statements)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? 'USD'
}

/** Renders the revenue and the new customers of the current month, which are computed from records. */
export async function renderThisMonth(visit: Visit, vertical: string, currency: string) {
  const meaning = MEANINGS[vertical]
  if (!meaning) return null
  const days = daysUntil(visit.today)
  const query = {
    from: dayText(days.firstBefore),
    to: dayText(days.today),
    group_by: 'day',
    currency,
    metrics: meaning.metrics.join(),
  }
  const [report, qualified] = await Promise.all([
    visit.api.call(getReport, { account: visit.account, ...query }).catch(insteadOfRefusal(null)),
    readQualified(visit, days),
  ])
  if (!report) {
    return (
      <p class="note">
        This month has too many records to add them up here.{' '}
        <AccountLink visit={visit} at={['reports']}>
          Ask for a report
        </AccountLink>
      </p>
    )
  }
  const [last, ...month] = dayWords(dayText(days.lastBefore)).split(' ')
  const than = <span class="id">{`1–${last} ${month.join(' ')}`}</span>
  const props = { meaning, report, days, than, qualified }
  return (
    <div class="figure-cards">
      <Revenue {...props} />
      <NewCustomers {...props} />
    </div>
  )
}
