import type { Child } from 'hono/jsx'
import {
  Amount,
  amountText,
  Data,
  dayWords,
  EmptyState,
  NOTHING,
  Sentence,
} from '../../pages/parts/data.tsx'
import { Pairs } from '../../pages/parts/fields.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { plainWords } from '../../pages/parts/plain-words.ts'
import { type Cell, type Columns, Table } from '../../pages/parts/table.tsx'
import { decimal } from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import type { Figure, Figures, GroupValue, Report, Row, Unconverted } from '../../reports/report.ts'
import { groupText, groupTitle, metricTitle, REST_WORDS } from './report-words.ts'

// The part of the reports page that shows a report.

/** The maximum number of rows that the page shows; the CSV has all. */
const SHOWN_ROWS = 500

interface ReportProps {
  readonly report: Report
  /** The address of the same report as CSV. */
  readonly csv: string
  /** Returns the address of the report of one day. */
  readonly toDay: (day: string) => string
}

/** A row of the table; the row of the totals has no groups. */
type Shown = Figures & Partial<Pick<Row, 'groups'>>

/** Returns the days of a report in words. */
const daysText = ({ from, to }: Report): string =>
  from === to ? dayWords(from) : `${dayWords(from)} to ${dayWords(to)}`

const typeOf = (report: Report, metric: string) =>
  report.columns.find(({ name }) => name === metric)?.type

/** Returns what of a metric has no rate. */
const restOf = (row: Figures, metric: string): readonly Unconverted[] =>
  row.unconverted.filter((one) => one.metric === metric)

const isZero = (value: Figure | undefined): boolean =>
  value === null || value === undefined || Number(value) === 0

const Rest = ({ rest }: { rest: readonly Unconverted[] }) => (
  <>
    {rest.map(({ amount, currency, reason }) => (
      <span class="no-rate">
        <Amount value={amount} {...(currency && { currency })} />{' '}
        <small>{REST_WORDS[reason] ?? 'not converted'}</small>
      </span>
    ))}
  </>
)

interface FigureProps {
  readonly report: Report
  readonly row: Figures
  readonly metric: string
  /** Whether the currency is beside the amount. */
  readonly hasCurrency?: boolean
}

/** Renders the value of a metric. What has no rate is shown in its own currency, and never as 0. */
function FigureText({ report, row, metric, hasCurrency = false }: FigureProps) {
  const value = row.metrics[metric]
  const rest = restOf(row, metric)
  if (value === null || value === undefined) return NOTHING
  if (isZero(value) && rest.length > 0) return <Rest rest={rest} />
  const isMoney = typeOf(report, metric) === 'amount'
  const text = isMoney ? moneyText(decimal(String(value)), report.currency) : String(value)
  return (
    <>
      <data value={String(value)} class={text.startsWith('-') ? 'amount negative' : 'amount'}>
        {amountText(text, isMoney && hasCurrency ? report.currency : undefined)}
      </data>
      {rest.length > 0 && <Rest rest={rest} />}
    </>
  )
}

const GroupLink = ({
  toDay,
  name,
  value,
}: Pick<ReportProps, 'toDay'> & { name: string; value: GroupValue }) => {
  if (value === null) return <span class="quiet">none</span>
  if (name === 'affiliate_id') return <AffiliateLink id={String(value)} />
  if (name === 'day')
    return (
      <a href={toDay(String(value))}>
        <time datetime={String(value)}>{groupText(name, value)}</time>
      </a>
    )
  return <Data text={groupText(name, value)} />
}

/** Renders a value of a group; in the row of the totals, what the row is. */
function Group({ name, row, ...props }: ReportProps & { name: string; row: Shown }): Child {
  if (row.groups) return <GroupLink {...props} name={name} value={row.groups[name] ?? null} />
  return name === props.report.group_by[0] ? 'Total' : ''
}

/** Returns the metrics that are neither 0 nor unknown everywhere, in the order of their columns; all if each is. */
function shownMetrics({ columns, data, totals }: Report): string[] {
  const metrics = columns.filter(({ type }) => type !== 'group').map(({ name }) => name)
  const found = metrics.filter((name) =>
    [...data, totals].some((row) => !isZero(row.metrics[name]) || restOf(row, name).length > 0),
  )
  return found.length > 0 ? found : metrics
}

/** What notes say, by their reasons. The others are sentences of the API. */
const NOTES: Readonly<Record<string, string>> = {
  partial_period:
    'Statements are for whole months or weeks. Choose days that begin and end with one to see the commission.',
}

const Notes = ({ report }: { report: Report }): Child =>
  report.notes.map(({ metric, reason, detail }) => (
    <p class="note">
      <Data text={metricTitle(metric)} />: <Sentence text={NOTES[reason] ?? plainWords(detail)} />
    </p>
  ))

/** Renders a report without figures that are 0 or unknown everywhere, and what it does not include. */
export function ReportView(props: ReportProps) {
  const { report, csv } = props
  const { data, totals, group_by, currency } = report
  const hasGroups = group_by.length > 0
  const rows: Shown[] = [...data.slice(0, SHOWN_ROWS), totals]
  const metrics = shownMetrics(report)
  const columns: Columns<Shown> = [
    ...group_by.map((name): [string, Cell<Shown>] => [
      groupTitle(name),
      (row) => <Group {...props} name={name} row={row} />,
    ]),
    ...metrics.map((name): [string, Cell<Shown>] => [
      metricTitle(name),
      { number: (row) => <FigureText report={report} row={row} metric={name} /> },
    ]),
  ]
  const hidden = data.length - SHOWN_ROWS
  if (hasGroups && data.length === 0) {
    const [first] = report.notes
    return (
      <>
        <EmptyState
          title={
            first
              ? `Nothing to show from ${daysText(report)}.`
              : `No records from ${daysText(report)}.`
          }
        />
        <Notes report={report} />
      </>
    )
  }
  return (
    <>
      <p>
        <a href={csv} download>
          Download as CSV
        </a>{' '}
        {hidden > 0 && `It also has the ${hidden.toLocaleString('en')} rows that are not shown.`}
      </p>
      {hasGroups ? (
        <Table caption={`${daysText(report)}, in ${currency}`} rows={rows} columns={columns} />
      ) : (
        <Pairs
          pairs={metrics.map((name) => [
            metricTitle(name),
            <FigureText report={report} row={totals} metric={name} hasCurrency />,
          ])}
        />
      )}
      <Notes report={report} />
    </>
  )
}
