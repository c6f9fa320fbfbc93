import { listPlans } from '../../commission/operations/plans.ts'
import {
  dayBefore,
  type Page,
  useVisit,
  type Visit,
  VisitContext,
  withQuery,
} from '../../pages/base/page.ts'
import { EmptyState } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { usualCurrency } from '../../pages/parts/owed.ts'
import { readDays } from '../../platform/http/query.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { REPORT_LIMITS } from '../../reports/limits.ts'
import { getReport } from '../../reports/operations.ts'
import { EVENTS, groupsOf, metricsOf, parseReport } from '../../reports/report.ts'
import { ReportView } from './report.tsx'
import { groupTitle, metricTitle } from './report-words.ts'

const REPORT_QUERY = ['from', 'to', 'group_by', 'currency', 'metrics', 'affiliate_id'] as const

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

/** Computes and renders the report of the query. */
async function renderReport(visit: Visit, currency: string) {
  const { api, account, path } = visit
  const query = { currency, ...reportQuery(visit) }
  const report = await api.call(getReport, { account, ...query })
  return (
    <ReportView
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
  const [own, plans] = await Promise.all([api.account(account), api.call(listPlans, { account })])
  if (!own) throw notFound('account', account)
  const { vertical } = own
  const currency = usualCurrency(plans.data)
  // The report itself is computed later, when the form can say no more what is wrong.
  if (hasReport) parseReport(vertical, { currency, ...reportQuery(visit) })
  const filters = (
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
  )
  const names = metricsOf(vertical).map(({ name }) => name)
  const metrics = vertical === 'igaming' ? [...names, EVENTS] : names
  const body = (
    <>
      {filters}
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
        <Deferred part={() => renderReport(visit, currency)} />
      ) : (
        <EmptyState title="Choose a group or days. Without days, a report has the last 30." />
      )}
    </>
  )
  return { title: 'Reports', body }
}

/** Reports of an account: any metrics by any groups, as a table and CSV. */
export const reportsPage: Page = {
  path: '/accounts/:account/reports',
  shows: 'affiliate',
  section: 'Reports',
  query: [...REPORT_QUERY, 'format'],
  file: (visit) =>
    visit.query.format === 'csv'
      ? visit.api.file(getReport, { account: visit.account, ...reportQuery(visit) }, 'text/csv')
      : null,
  render,
}
