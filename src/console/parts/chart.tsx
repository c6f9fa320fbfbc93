import type { Child } from 'hono/jsx'
import { type Column, Table } from './data.tsx'

/** A point of a chart: its label, and its number in each series; null if there is none. */
export type ChartRow = readonly [label: string, ...values: (number | null)[]]

interface PlotProps {
  readonly kind?: 'bars'
  /** What opens the table. */
  readonly summary?: string | undefined
  readonly children?: Child
}

/**
 * Renders a table, and a chart that a script draws from it: the first column names the points, and the
 * `data` elements of each other column are a series. With `bars`, it draws only the last column.
 */
export const Plot = ({ kind, summary = 'The numbers of this chart', children }: PlotProps) => (
  <figure class="chart" data-chart={kind ?? ''}>
    <div class="plot" aria-hidden="true" />
    <details open={kind === 'bars'}>
      <summary>{summary}</summary>
      {children}
    </details>
  </figure>
)

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
  const { caption, label, series, rows, summary } = props
  const { numberOf = (value: number) => value.toLocaleString('en') } = props
  const columns: Column<ChartRow>[] = [
    { title: label, cell: ([name]) => name },
    ...series.map((title, i) => ({
      title,
      isNumeric: true,
      cell: (row: ChartRow) => {
        const value = row[i + 1]
        return typeof value === 'number' ? (
          <data value={String(value)}>{numberOf(value)}</data>
        ) : (
          '–'
        )
      },
    })),
  ]
  return (
    <Plot summary={summary}>
      <Table isNarrow caption={caption} columns={columns} rows={rows} />
    </Plot>
  )
}
