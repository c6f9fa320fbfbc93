import { REPORT_LIMITS } from '../../reports/limits.ts'
import { EVENTS, groupsOf, metricsOf, type Report } from '../../reports/report.ts'
import { apiPath, dayBefore, type Page, type Visit, withQuery } from '../page.ts'
import { EmptyState } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { Filters } from '../parts/forms.tsx'
import { ReportView } from '../parts/report.tsx'

const REPORT_QUERY = ['from', 'to', 'group_by', 'currency', 'metrics'] as const

/** The days of a report if nobody chose others. */
const usualDays = (now: number) => ({ from: dayBefore(now, 29), to: dayBefore(now, 0) })

/** Returns the query of the report. Its days are the last 30 unless the query has others. */
function reportQuery({ query, now }: Visit): Visit['query'] {
  const { format: _, ...filters } = query
  return { ...usualDays(now), ...filters }
}

interface ChoiceProps {
  readonly visit: Visit
  /** The parameter, whose value is a list of names. */
  readonly name: 'group_by' | 'metrics'
  readonly label: string
  readonly known: readonly string[]
  /** How many names can be chosen. */
  readonly max: number
}

/** Renders names that a click adds to a list in the address, or removes from it. */
const Choice = ({ visit, name, label, known, max }: ChoiceProps) => {
  const query = reportQuery(visit)
  const chosen = query[name]?.split(',') ?? []
  const isFull = chosen.length >= max
  return (
    <nav class="quick choice" aria-label={label}>
      <span>{label}</span>
      {known.map((one) => {
        const isChosen = chosen.includes(one)
        if (isFull && !isChosen) return <span class="quiet">{one}</span>
        const next = isChosen ? chosen.filter((other) => other !== one) : [...chosen, one]
        return (
          <a
            href={withQuery(visit.path, { ...query, [name]: next.join() })}
            aria-current={isChosen ? 'true' : undefined}
          >
            {one}
          </a>
        )
      })}
    </nav>
  )
}

const Usual = (visit: Visit) => {
  const to = (query: Visit['query']) => withQuery(visit.path, { ...usualDays(visit.now), ...query })
  return (
    <EmptyState title="Choose days and groups, or begin with one of these:">
      <ul>
        <li>
          <a href={to({ group_by: 'day', metrics: 'signups,active_customers' })}>Signups by day</a>
        </li>
        <li>
          <a href={to({ group_by: 'affiliate_id' })}>Everything by affiliate</a>
        </li>
        <li>
          <a href={to({ group_by: 'country_code', metrics: 'signups,attributed' })}>
            Signups by country
          </a>
        </li>
      </ul>
    </EmptyState>
  )
}

/** Computes and renders the report of the query. */
async function renderReport(visit: Visit) {
  const { api, account, path } = visit
  const query = reportQuery(visit)
  const report = await api.get<Report>(apiPath(account, 'reports'), query)
  return (
    <ReportView
      account={account}
      report={report}
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
  const { vertical } = await api.get<{ vertical: string }>(apiPath(account))
  const names = metricsOf(vertical).map(({ name }) => name)
  const metrics = vertical === 'igaming' ? [...names, EVENTS] : names
  const body = (
    <>
      <Filters
        visit={{ ...visit, query: reportQuery(visit) }}
        fields={[
          { name: 'from', label: 'From', type: 'date' },
          { name: 'to', label: 'To', type: 'date' },
          { name: 'currency', label: 'Currency', value: query.currency ?? 'USD' },
          { name: 'group_by', label: 'Groups', type: 'hidden' },
          { name: 'metrics', label: 'Metrics', type: 'hidden' },
        ]}
      />
      <Choice
        visit={visit}
        name="group_by"
        label="Group by"
        known={groupsOf(vertical)}
        max={REPORT_LIMITS.groupBy}
      />
      <details open={query.metrics !== undefined}>
        <summary>Metrics: {query.metrics?.replaceAll(',', ', ') ?? 'all'}</summary>
        <Choice
          visit={visit}
          name="metrics"
          label="Only these"
          known={metrics}
          max={metrics.length}
        />
      </details>
      {hasReport ? <DeferredPart /> : <Usual {...visit} />}
    </>
  )
  return {
    title: 'Reports',
    body,
    computeDeferred: hasReport ? () => renderReport(visit) : undefined,
  }
}

/** Reports of an account: any metrics by any groups, as a chart, a table and CSV. */
export const reportsPage: Page = {
  path: '/accounts/:account/reports',
  section: 'Reports',
  query: [...REPORT_QUERY, 'format'],
  file: (visit) =>
    visit.query.format === 'csv'
      ? { path: apiPath(visit.account, 'reports'), query: reportQuery(visit), type: 'text/csv' }
      : null,
  render,
}
