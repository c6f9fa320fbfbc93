import type { Child } from 'hono/jsx'
import { type Column, Table } from './data.tsx'

/** A point of a chart: its label, and its number in each series; null if there is none. */
export type ChartRow = readonly [label: string, ...values: (number | null)[]]

/**
 * Renders a table, and a chart that a script draws from it: the first column names the points, and the
 * `data` elements of each other column are a series. With `bars`, it draws only the last column.
 */
export const Plot = ({ kind, children }: { kind?: 'bars'; children?: Child }) => (
  <figure class="chart" data-chart={kind ?? ''}>
    <div class="plot" aria-hidden="true" />
    <details open={kind === 'bars'}>
      <summary>The numbers of this chart</summary>
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
}) {
  const { caption, label, series, rows } = props
  const columns: Column<ChartRow>[] = [
    { title: label, cell: ([name]) => name },
    ...series.map((title, i) => ({
      title,
      isNumeric: true,
      cell: (row: ChartRow) => {
        const value = row[i + 1]
        return typeof value === 'number' ? (
          <data value={String(value)}>{value.toLocaleString('en')}</data>
        ) : (
          '–'
        )
      },
    })),
  ]
  return (
    <Plot>
      <Table isNarrow caption={caption} columns={columns} rows={rows} />
    </Plot>
  )
}
