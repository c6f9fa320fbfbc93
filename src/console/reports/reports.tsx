import { getAccount } from '../../accounts/accounts.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import {
  dayBefore,
  type Page,
  useVisit,
  type Visit,
  VisitContext,
  withQuery,
} from '../../pages/page.ts'
import { EmptyState } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { usualCurrency } from '../../pages/parts/owed.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { readDays } from '../../platform/http/query.ts'
import { REPORT_LIMITS } from '../../reports/limits.ts'
import { getReport } from '../../reports/operations.ts'
import { EVENTS, groupsOf, metricsIn, metricsOf, parseReport } from '../../reports/report.ts'
import { ReportView } from './report.tsx'
import { groupTitle, metricTitle } from './report-words.ts'

const REPORT_QUERY = ['from', 'to', 'group_by', 'currency', 'metrics', 'affiliate_id'] as const

/** The days of a report if nobody chose others. */
const usualDays = (now: number) => ({ from: dayBefore(now, 29), to: dayBefore(now, 0) })

/** Returns the query of the report. Its days are the last 30 until its last day unless the query has others. */
function reportQuery({
  query,
  today: now,
}: Visit): Visit['query'] & { readonly from: string; readonly to: string } {
  const { format: _, ...filters } = readDays(query)
  const today = dayBefore(now, 0)
  const to = query.to ?? (query.from && query.from > today ? query.from : today)
  return { ...filters, from: query.from ?? dayBefore(Date.parse(to), 29), to }
}

interface ChoiceProps {
  /** The parameter, whose value is a list of names. */
  readonly name: 'group_by' | 'metrics'
  readonly label: string
  readonly known: readonly string[]
  readonly titleOf: (name: string) => string
  /** How many names can be chosen. */
  readonly max: number
}

/** Renders names that a click adds to a list in the address, or removes from it. */
const Choice = ({ name, label, known, titleOf, max }: ChoiceProps, visit = useVisit()) => {
  const query = reportQuery(visit)
  const chosen = query[name]?.split(',') ?? []
  const isFull = chosen.length >= max
  return (
    <nav class="quick choice" aria-label={label}>
      <span>{label}</span>
      {known.map((one) => {
        const isChosen = chosen.includes(one)
        if (isFull && !isChosen) return <span class="quiet">{titleOf(one)}</span>
        const next = isChosen ? chosen.filter((other) => other !== one) : [...chosen, one]
        return (
          <a
            href={withQuery(visit.path, { ...query, [name]: next.join() })}
            aria-current={isChosen ? 'true' : undefined}
          >
            {titleOf(one)}
          </a>
        )
      })}
    </nav>
  )
}

/** Returns the first and the last day (UTC) of the month before a time, in milliseconds. */
function lastMonth(now: number): { from: string; to: string } {
  const at = new Date(now)
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 0))
  const to = last.toISOString().slice(0, 10)
  return { from: `${to.slice(0, 8)}01`, to }
}

/** Returns reports that managers often ask for, with their addresses. */
function presets(
  { path, today: now }: Visit,
  vertical: string,
  currency: string,
): [string, string][] {
  const metrics = metricsIn(vertical, 'presets').map(({ name }) => name)
  const today = dayBefore(now, 0)
  const year = { from: `${today.slice(0, 4)}-01-01`, to: today }
  const to = (query: Visit['query']) => withQuery(path, { currency, ...query })
  return [
    [
      'By affiliate, last month, with commission',
      to({
        ...lastMonth(now),
        group_by: 'affiliate_id',
        metrics: [...metrics, 'commission_owed'].join(),
      }),
    ],
    ['By day, last 30 days', to({ ...usualDays(now), group_by: 'day', metrics: metrics.join() })],
    ['By country, this year', to({ ...year, group_by: 'country_code', metrics: metrics.join() })],
  ]
}

/** Returns as many days before those of a report. */
function daysBefore({ from, to }: { readonly from: string; readonly to: string }) {
  const [first, last] = [Date.parse(from), Date.parse(to)]
  const length = (last - first) / DAY_MS + 1
  return { from: dayBefore(first, length), to: dayBefore(first, 1) }
}

/** Computes and renders the report of the query, and the totals of the days before. */
async function renderReport(visit: Visit, currency: string) {
  const { api, account, path } = visit
  const query = { currency, ...reportQuery(visit) }
  const [report, before] = await Promise.all([
    api.call(getReport, { account, ...query }),
    api.call(getReport, { account, ...query, ...daysBefore(query), group_by: undefined }),
  ])
  return (
    <ReportView
      report={report}
      before={before}
      beforeWords="as many days before"
      csv={withQuery(path, { ...query, format: 'csv' })}
      toDay={(day) => {
        const others = report.group_by.filter((name) => name !== 'day').join()
        return withQuery(path, { ...query, from: day, to: day, group_by: others })
      }}
    />
  )
}

async function render(visit: Visit) {
  const { api, account, query } = visit
  const hasReport = REPORT_QUERY.some((name) => query[name])
  const [{ vertical }, plans] = await Promise.all([
    api.call(getAccount, { account }),
    api.call(listPlans, { account }),
  ])
  const currency = usualCurrency(plans.data)
  // Wrong values are refused before the page is shown, so that it says so beside their fields.
  if (hasReport) parseReport(vertical, { currency, ...reportQuery(visit) })
  const names = metricsOf(vertical).map(({ name }) => name)
  const metrics = vertical === 'igaming' ? [...names, EVENTS] : names
  const links = presets(visit, vertical, currency)
  const body = (
    <>
      <nav class="quick" aria-label="Reports that managers often ask for">
        {links.map(([title, href]) => (
          <a href={href}>{title}</a>
        ))}
      </nav>
      <VisitContext.Provider value={{ ...visit, query: reportQuery(visit) }}>
        <Filters
          fields={[
            { name: 'from', label: 'From', type: 'date' },
            { name: 'to', label: 'To', type: 'date' },
            { name: 'currency', label: 'Currency', value: query.currency ?? currency },
            { name: 'affiliate_id' },
            { name: 'group_by', label: 'Groups', type: 'hidden' },
            { name: 'metrics', label: 'Figures', type: 'hidden' },
          ]}
        />
      </VisitContext.Provider>
      <Choice
        name="group_by"
        label="Group by"
        known={groupsOf(vertical)}
        titleOf={groupTitle}
        max={REPORT_LIMITS.groupBy}
      />
      <details>
        <summary>Figures: {query.metrics?.split(',').map(metricTitle).join(', ') ?? 'all'}</summary>
        <Choice
          name="metrics"
          label="Only these"
          known={metrics}
          titleOf={metricTitle}
          max={metrics.length}
        />
      </details>
      {hasReport ? (
        <DeferredPart />
      ) : (
        <EmptyState title="Begin with a report above, or choose days and groups." />
      )}
    </>
  )
  return {
    title: 'Reports',
    body,
    computeDeferred: hasReport ? () => renderReport(visit, currency) : undefined,
  }
}

/** Reports of an account: any metrics by any groups, as a table and CSV. */
export const reportsPage: Page = {
  path: '/accounts/:account/reports',
  section: 'Reports',
  query: [...REPORT_QUERY, 'format'],
  file: (visit) =>
    visit.query.format === 'csv'
      ? visit.api.file(getReport, { account: visit.account, ...reportQuery(visit) }, 'text/csv')
      : null,
  render,
}
