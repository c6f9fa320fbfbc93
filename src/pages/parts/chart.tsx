import { type Columns, Table } from './table.tsx'

/** A point of a chart: its label, and its number in each series; null if there is none. */
export type ChartRow = readonly [label: string, ...values: (number | null)[]]

/**
 * Renders a chart and its table. A script draws the chart from the table, so that both show the same
 * numbers, and the table is there without script.
 */
export function Chart(props: {
  caption: string
  label: string
  series: readonly string[]
  rows: readonly ChartRow[]
  /** What opens the table, and how numbers are written, in another language than English. */
  summary?: string
  numberOf?: (value: number) => string
}) {
  const { caption, label, series, rows, summary = 'The numbers of this chart' } = props
  const { numberOf = (value: number) => value.toLocaleString('en') } = props
  const figureOf = (value: ChartRow[number] | undefined) =>
    typeof value === 'number' ? <data value={String(value)}>{numberOf(value)}</data> : '–'
  const columns: Columns<ChartRow> = [
    [label, ([name]) => name],
    ...series.map(
      (title, i) => [title, { number: (row: ChartRow) => figureOf(row[i + 1]) }] as const,
    ),
  ]
  return (
    <figure class="chart" data-chart>
      <div class="plot" aria-hidden="true" />
      <details>
        <summary>{summary}</summary>
        <Table isNarrow caption={caption} columns={columns} rows={rows} />
      </details>
    </figure>
  )
}
