import type { Figure, Figures, Report, Row, Unconverted } from '../../reports/report.ts'
import { Chart, type ChartRow } from './chart.tsx'
import { AffiliateLink } from './customers.tsx'
import { Amount, type Column, Data, Sentence, Table, visible } from './data.tsx'

// The part of the reports page that shows a report.

/** The maximum number of lines of a chart, and of rows of a report that a chart shows. */
const [CHART_LINES, CHART_ROWS] = [3, 400]

/** The maximum number of rows that the page shows; the CSV has all. */
const SHOWN_ROWS = 500

interface ReportProps {
  readonly account: string
  readonly report: Report
  /** The address of the same report as CSV. */
  readonly csv: string
  /** Returns the address of the report of one day. */
  readonly toDay: (day: string) => string
}

/** A row of the table; the row of the totals has no groups. */
type Shown = Figures & Partial<Pick<Row, 'groups'>>

const FigureText = ({ value }: { value: Figure | undefined }) => {
  if (value === null || value === undefined) return <span class="quiet">–</span>
  return <Amount value={String(value)} />
}

const Group = ({ name, row, ...props }: ReportProps & { name: string; row: Shown }) => {
  const value = row.groups?.[name] ?? null
  if (!row.groups) return <>{name === props.report.group_by[0] ? 'Total' : ''}</>
  if (value === null) return <span class="quiet">none</span>
  if (name === 'affiliate_id') return <AffiliateLink account={props.account} id={String(value)} />
  if (name === 'day') return <a href={props.toDay(String(value))}>{value}</a>
  return <Data text={value} />
}

/** Returns the metrics that the chart shows: the first of one type. */
function chartMetrics(report: Report): string[] {
  const empty = emptyMetrics(report)
  const metrics = report.columns.filter(({ type, name }) => type !== 'group' && !empty.has(name))
  const [first] = metrics
  return metrics
    .filter(({ type }) => type === first?.type)
    .slice(0, CHART_LINES)
    .map(({ name }) => name)
}

const numberOf = (value: Figure | undefined): number | null =>
  value === null || value === undefined ? null : Number(value)

const ReportChart = ({ report }: { report: Report }) => {
  const series = chartMetrics(report)
  const rows = report.data.map(({ groups, metrics }): ChartRow => {
    const label = report.group_by.map((name) => visible(String(groups[name] ?? 'none'))).join(', ')
    return [label, ...series.map((name) => numberOf(metrics[name]))]
  })
  return (
    <Chart
      caption={`${series.join(', ')} by ${report.group_by.join(', ')}`}
      label={report.group_by.join(', ')}
      series={series}
      rows={rows}
    />
  )
}

const Rest = ({ rows }: { rows: readonly Unconverted[] }) => (
  <Table
    caption="Not in the figures, because it cannot be converted"
    rows={rows}
    columns={[
      { title: 'Metric', cell: ({ metric }) => <Data text={metric} /> },
      {
        title: 'Amount',
        isNumeric: true,
        cell: ({ amount, currency }) => <Amount value={amount} currency={currency ?? '?'} />,
      },
      { title: 'Reason', cell: ({ reason }) => <code>{reason}</code> },
    ]}
  />
)

/** Returns the metrics that are 0 or unknown everywhere. */
function emptyMetrics({ columns, data, totals }: Report): ReadonlySet<string> {
  const metrics = columns.filter(({ type }) => type !== 'group').map(({ name }) => name)
  const isEmpty = (name: string) =>
    [...data, totals].every((row) => Number(row.metrics[name] ?? 0) === 0)
  const empty = metrics.filter(isEmpty)
  return new Set(empty.length === metrics.length ? [] : empty)
}

/** Renders a report: a chart if it has groups, its table, and what it does not include. */
export function ReportView(props: ReportProps) {
  const { report, csv } = props
  const { data, totals, columns, group_by, from, to, currency, notes } = report
  const hasGroups = group_by.length > 0
  const rows: Shown[] = hasGroups ? [...data.slice(0, SHOWN_ROWS), totals] : [totals]
  const empty = emptyMetrics(report)
  const shown: Column<Shown>[] = columns
    .filter(({ name }) => !empty.has(name))
    .map(({ name, type }) => ({
      title: visible(name),
      isNumeric: type !== 'group',
      cell: (row) =>
        type === 'group' ? (
          <Group {...props} name={name} row={row} />
        ) : (
          <FigureText value={row.metrics[name]} />
        ),
    }))
  const hidden = data.length - SHOWN_ROWS
  return (
    <>
      {hasGroups && data.length > 0 && data.length <= CHART_ROWS && <ReportChart report={report} />}
      <p>
        <a href={csv} download>
          Download as CSV
        </a>{' '}
        {hidden > 0 && `It also has the ${hidden.toLocaleString('en')} rows that are not shown.`}
      </p>
      {hasGroups ? (
        <Table caption={`${from} to ${to}, in ${currency}`} rows={rows} columns={shown} />
      ) : (
        <Totals {...props} empty={empty} />
      )}
      {empty.size > 0 && (
        <details>
          <summary>{empty.size} metrics are not shown, because they are 0 or unknown</summary>
          <p class="note">{visible([...empty].join(', '))}</p>
        </details>
      )}
      {notes.map(({ metric, detail }) => (
        <p class="note">
          <Data text={metric} />: <Sentence text={detail} />
        </p>
      ))}
      {totals.unconverted.length > 0 && <Rest rows={totals.unconverted} />}
    </>
  )
}

/** Renders a report without groups: a row for each metric. */
const Totals = ({ report, empty }: ReportProps & { empty: ReadonlySet<string> }) => (
  <Table
    caption={`${report.from} to ${report.to}, in ${report.currency}`}
    rows={report.columns.filter(({ name }) => !empty.has(name))}
    columns={[
      { title: 'Metric', cell: ({ name }) => <Data text={name} /> },
      {
        title: 'Total',
        isNumeric: true,
        cell: ({ name }) => <FigureText value={report.totals.metrics[name]} />,
      },
    ]}
  />
)
