import type { Child } from 'hono/jsx'
import { dayNumber, dayText, latestPeriods, type Period } from '../../commission/engine/calendar.ts'
import { counted, figure, money } from '../../commission/engine/reasons.ts'
import { DAY_MS } from '../../durations.ts'
import type { PresentedEvidence } from '../../fraud/case-evidence.ts'
import type { Figure, LeftOut } from '../../fraud/kind.ts'
import { KINDS } from '../../fraud/kinds.ts'
import { kindNamed } from '../../fraud/words.ts'
import { getReport } from '../../reports/operations.ts'
import { metricsOf, type Row } from '../../reports/report.ts'
import type { Visit } from '../page.ts'
import type { FraudCase } from './cases.tsx'
import { titleOf } from './data.tsx'
import { AccountLink } from './fields.tsx'
import { nullIfTooLarge } from './report.tsx'
import { metricTitle } from './report-words.ts'
import { Table } from './table.tsx'

// The figures of a case beside their thresholds, and the affiliate's own past.

/** Units that are counted, in their singular. */
const COUNTED: Readonly<Record<string, string>> = {
  customers: 'customer',
  bets: 'bet',
  days: 'day',
  fees: 'fee',
  hours: 'hour',
  records: 'record',
  seconds: 'second',
  signups: 'signup',
  transactions: 'transaction',
}

/** Writes a value of a figure with its unit: `80 %`, `1,200.00 EUR`, `3 days`. */
export function figureText(value: string, unit: string): string {
  if (unit === 'percent') return `${figure(value)} %`
  if (unit === 'points') return `${figure(value)} percentage points`
  if (/^[A-Z]{3}$/.test(unit)) return money(value, unit)
  const one = Object.hasOwn(COUNTED, unit) ? COUNTED[unit] : undefined
  return one && /^\d+$/.test(value)
    ? counted(Number(value), one)
    : `${figure(value)} ${unit}`.trim()
}

/** What a value is, compared with its threshold. */
const COMPARISONS: Readonly<Record<Figure['comparison'], string>> = {
  at_least: 'at least',
  at_most: 'at most',
  more_than: 'more than',
  less_than: 'less than',
}

/** The titles of figures whose name does not say it well. */
const TITLES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...KINDS.map(({ titles }) => titles),
)

const figureTitle = (name: string): string =>
  Object.hasOwn(TITLES, name) ? (TITLES[name] ?? name) : titleOf(name)

/** Writes the days of records: `5 Aug – 2 Nov 2026`. */
const daysText = (from: string, to: string): string =>
  DAYS_TEXT.formatRange(Date.parse(from), Date.parse(to))

const DAYS_TEXT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})

/** Says which amounts a figure leaves out: `2 amounts in XOF are left out: there is no rate.` */
function leftOutText({ currency, amounts }: LeftOut): string {
  const verb = amounts === 1 ? 'is' : 'are'
  return currency === null
    ? `${counted(amounts, 'amount')} without a currency ${verb} left out.`
    : `${counted(amounts, 'amount')} in ${currency} ${verb} left out, because there is no rate.`
}

/** Renders the numbers of which a figure is made, each run of days once, and what it leaves out. */
const MadeOf = ({ made_of = [], left_out = [] }: Figure) => {
  if (made_of.length + left_out.length === 0) return <span class="none">–</span>
  return (
    <>
      {made_of.map(({ name, value, unit, from, to }, i) => (
        <div>
          {from !== undefined && to !== undefined && made_of[i - 1]?.from !== from && (
            <small>{daysText(from, to)}</small>
          )}
          {`${figureTitle(name)}: ${figureText(value, unit)}`}
        </div>
      ))}
      {left_out.map((one) => (
        <small class="line">{leftOutText(one)}</small>
      ))}
    </>
  )
}

/** A value that is compared with one threshold or several. */
interface Compared {
  readonly figure: Figure
  readonly thresholds: readonly string[]
}

/** Units that are measured, although they are written with a plural. */
const MEASURED: ReadonlySet<string> = new Set(['days', 'hours', 'seconds'])

const thresholdText = ({ comparison, threshold, unit }: Figure): string => {
  const isFewer = comparison === 'less_than' && Object.hasOwn(COUNTED, unit) && !MEASURED.has(unit)
  return `${isFewer ? 'fewer than' : COMPARISONS[comparison]} ${figureText(threshold, unit)}`
}

/** Joins figures of the same value: it is shown once. */
const joinSame = (figures: readonly Figure[]): Compared[] =>
  [
    ...Map.groupBy(figures, ({ name, value, unit }) =>
      JSON.stringify([name, value, unit]),
    ).values(),
  ].flatMap((same): Compared[] => {
    const [first, ...others] = same
    if (!first) return []
    return [{ figure: { ...others[0], ...first }, thresholds: same.map(thresholdText) }]
  })

/** Renders what a rule compared, each beside its threshold. */
export const Figures = ({ figures }: Pick<FraudCase, 'figures'>) => (
  <Table
    caption="What was compared"
    rows={joinSame(figures)}
    columns={{
      Figure: ({ figure: { name } }) => figureTitle(name),
      Found: {
        number: ({ figure: { value, unit } }) => <strong>{figureText(value, unit)}</strong>,
      },
      Threshold: { number: ({ thresholds }) => thresholds.join(', ') },
      'Made of':
        figures.some(({ made_of, left_out }) => made_of ?? left_out) &&
        (({ figure: one }) => <MadeOf {...one} />),
    }}
  />
)

/**
 * Renders what the records of a case are compared with, by its days: numbers that the records themselves do not
 * have, such as what is usual or the net revenue. Nothing if there are none.
 */
export const ComparedWith = ({ figures }: Pick<FraudCase, 'figures'>) => {
  const parts = figures.flatMap(({ name, made_of = [] }) => {
    const others = made_of.filter((part) => part.name !== name)
    return others.flatMap(({ from, to, ...part }) =>
      from === undefined || to === undefined ? [] : [{ ...part, from, to }],
    )
  })
  const byDays = [...Map.groupBy(parts, ({ from, to }) => daysText(from, to))]
  if (byDays.length === 0) return null
  return (
    <>
      <p>The records are compared with:</p>
      <ul class="compared-with">
        {byDays.map(([days, own]) => (
          <li>
            {days}:{' '}
            {own
              .map(({ name, value, unit }) => `${figureTitle(name)} ${figureText(value, unit)}`)
              .join(', ')}
            .{' '}
            <AccountLink
              at={['reports']}
              query={{ from: own[0]?.from, to: own[0]?.to, group_by: 'affiliate_id' }}
            >
              Report of these days
            </AccountLink>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The weeks of the past that are shown, those of the case included. */
const WEEKS = 12

/** The most charts of a case. */
const MOST = 2

/** Returns the metrics that show the pattern of a case in a vertical. */
function metricsOfCase({ kind }: FraudCase, vertical: string): string[] {
  const own = new Set(metricsOf(vertical).map(({ name }) => name))
  return (kindNamed(kind)?.metrics ?? []).filter((name) => own.has(name)).slice(0, MOST)
}

/** Returns the weeks that end with the last record of a case, the earliest first. */
const weeksOf = ({ last_evidence_for }: FraudCase): readonly Period[] =>
  latestPeriods(dayNumber(last_evidence_for), 'week', WEEKS).toReversed()

/** Returns a week in words, such as `2–8 Nov`. */
const weekText = ({ first, last }: Period): string =>
  WEEK_TEXT.formatRange(first * DAY_MS, last * DAY_MS)

const WEEK_TEXT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
})

/** Writes the value of a metric in a report. */
function valueText(value: string | number, isAmount: boolean, currency: string): string {
  return isAmount ? money(String(value), currency) : figure(String(value))
}

/** A bar: its name, its value as it is written, and its size. */
interface Bar {
  readonly name: Child
  readonly text: string
  readonly value: number
}

/** Renders values as bars that begin at 0. The bar of a negative value is left of the zero line. */
function BarList({ title, bars }: { title: string; bars: readonly Bar[] }) {
  const values = bars.map(({ value }) => value)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const percent = (value: number) => `${(value / (high - low || 1)) * 100}%`
  return (
    <section class="bar-list" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {bars.map(({ name, text, value }) => (
          <li>
            <span>{name}</span>
            <span class="number">{text}</span>
            <svg aria-hidden="true" width="100%" height="8">
              {value !== 0 && (
                <rect
                  x={percent(Math.min(0, value) - low)}
                  width={percent(Math.abs(value))}
                  height="8"
                  rx="2"
                  class={value < 0 ? 'below' : undefined}
                />
              )}
            </svg>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What a case's past is read for. */
interface PastOf {
  readonly vertical: string
  /** The records that the page shows: the amounts are in their currency. */
  readonly records: readonly PresentedEvidence[]
}

/** Returns the currency of a case: that of its records, else that of its figures. */
const currencyOf = ({ figures }: FraudCase, records: readonly PresentedEvidence[]) =>
  records.map(({ values }) => values?.currency).find((one) => typeof one === 'string') ??
  figures.find(({ unit }) => /^[A-Z]{3}$/.test(unit))?.unit

/**
 * Reads and renders the weeks of the affiliate before and during a case, as bars; nothing if all are 0, or if records
 * of one are archived.
 */
export async function renderPast(visit: Visit, found: FraudCase, { vertical, records }: PastOf) {
  const { affiliate_id, opened_for } = found
  const metrics = metricsOfCase(found, vertical)
  const weeks = weeksOf(found)
  const [first, last] = [weeks[0], weeks.at(-1)]
  if (metrics.length === 0 || !first || !last) return null
  const report = await visit.api
    .call(getReport, {
      ...{ account: visit.account, from: dayText(first.first), to: dayText(last.last) },
      ...{ currency: currencyOf(found, records) },
      ...{ affiliate_id, group_by: 'week', metrics: metrics.join() },
    })
    .catch(nullIfTooLarge)
  const own = report?.data ?? []
  const ofWeek = new Map(own.map((row): [string, Row] => [String(row.groups.week), row]))
  const shown = metrics.filter((name) => own.some(({ metrics: of }) => Number(of[name] ?? 0) !== 0))
  if (!report || shown.length === 0) return null
  const begin = records.reduce((least, { day }) => (day < least ? day : least), opened_for)
  const isOfCase = (week: Period) => dayText(week.last) >= begin
  return (
    <>
      <h2 id="past">The weeks until then</h2>
      <p class="note">
        What all customers of the affiliate did, by week. The weeks of the case are bold.
      </p>
      <div class="bar-lists">
        {shown.map((name) => {
          const isAmount = report.columns.some((one) => one.name === name && one.type === 'amount')
          return (
            <BarList
              title={`${metricTitle(name)} by week`}
              bars={weeks.map((week) => {
                const value = ofWeek.get(week.id)?.metrics[name] ?? 0
                return {
                  name: isOfCase(week) ? <strong>{weekText(week)}</strong> : weekText(week),
                  text: valueText(value, isAmount, report.currency),
                  value: Number(value),
                }
              })}
            />
          )
        })}
      </div>
    </>
  )
}
