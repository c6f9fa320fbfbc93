import UPlot from './uplot.js'

/** The properties of page.css that color the series. */
const COLORS = ['--link', '--put', '--post', '--delete']
const HEIGHT = 260
/** The distances between labels. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500]

/** Returns a value of the style sheet. */
const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Returns the cells of each row of the chart's table. */
const rowsOf = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells])

function numberIn(cell) {
  const data = cell.querySelector('data')
  return data ? Number(data.value) : null
}

function optionsOf(plot, titles, labels, paths) {
  const axis = { stroke: colorOf('--quiet'), grid: { stroke: colorOf('--line'), width: 1 } }
  return {
    width: plot.clientWidth,
    height: HEIGHT,
    // The label below the last point would be cut off.
    padding: [null, 40, null, null],
    scales: { x: { time: false, ...(paths && { range: [-0.5, labels.length - 0.5] }) } },
    axes: [
      { ...axis, space: 90, incrs: STEPS, values: (_, ticks) => ticks.map((i) => labels[i] ?? '') },
      axis,
    ],
    series: [
      { label: titles[0], value: (_, i) => labels[i] ?? '' },
      ...titles.slice(1).map((label, i) => ({
        label,
        stroke: colorOf(COLORS[i % COLORS.length]),
        width: 2,
        ...(paths && {
          paths,
          points: { show: false },
          fill: `${colorOf(COLORS[i % COLORS.length])}99`,
        }),
      })),
    ],
  }
}

/** Draws the chart of a figure from its table, and draws it again if the width or the colors change. */
export function drawChart(figure) {
  const table = figure.querySelector('table')
  const plot = figure.querySelector('.plot')
  if (!table || !plot || table.tBodies[0].rows.length === 0) return
  const link = document.createElement('link')
  Object.assign(link, { rel: 'stylesheet', href: '/assets/uplot.css' })
  document.head.append(link)
  const isBars = figure.dataset.chart === 'bars'
  const paths = isBars ? UPlot.paths.bars({ size: [0.6, 80] }) : null
  // Bars stand for the last column.
  const shown = (cells) => (isBars ? [cells[0], cells.at(-1)] : cells)
  const rows = rowsOf(table).map(shown)
  const labels = rows.map(([first]) => first.textContent)
  const titles = shown([...table.tHead.rows[0].cells]).map((cell) => cell.textContent)
  const data = [
    labels.map((_, i) => i),
    ...titles.slice(1).map((_, i) => rows.map((cells) => numberIn(cells[i + 1]))),
  ]
  let chart
  const draw = () => {
    chart?.destroy()
    chart = new UPlot(optionsOf(plot, titles, labels, paths), data, plot)
  }
  draw()
  figure.querySelector('details').open = isBars
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  addEventListener('resize', () => chart.setSize({ width: plot.clientWidth, height: HEIGHT }))
}
