import UPlot from './uplot.js'

/** The properties of page.css that color the series. */
const COLORS = ['--link', '--put', '--post', '--delete']
const HEIGHT = 260
/** The distances between labels. */
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500]

/** The distances between the values of counts. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, i) =>
  STEPS.slice(0, 3).map((step) => step * 10 ** i),
).flat()

/** The most characters of a label below the chart. The legend shows the whole text. */
const MAX_LABEL = 18

const shorten = (label) =>
  label.length > MAX_LABEL ? `${[...label].slice(0, MAX_LABEL - 1).join('')}…` : label

/** Returns the width of the widest of some texts, in pixels, with a font of the chart. */
function widthOf(texts, font) {
  const context = document.createElement('canvas').getContext('2d')
  context.font = font
  return Math.max(0, ...texts.map((text) => context.measureText(text).width))
}

/** The vertical axis begins at 0, unless values are negative. */
const FROM_ZERO = {
  min: { pad: 0.1, soft: 0, mode: 1 },
  max: { pad: 0.1, soft: 0, mode: 1 },
}

const FONT = '12px system-ui, sans-serif'

/** Returns the width of the vertical axis: that of its longest label, with its tick and a gap. */
const axisWidth = (_chart, texts) => Math.ceil(widthOf(texts ?? [], FONT)) + 18

/** Returns a value of the style sheet. */
const colorOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** Returns the cells of each row of the chart's table. */
const rowsOf = (table) => [...table.tBodies[0].rows].map((row) => [...row.cells])

function numberIn(cell) {
  const data = cell.querySelector('data')
  return data ? Number(data.value) : null
}

function optionsOf(plot, titles, labels, isWhole) {
  const axis = {
    stroke: colorOf('--quiet'),
    grid: { stroke: colorOf('--line'), width: 1 },
    font: FONT,
  }
  const short = labels.map(shorten)
  const width = widthOf(short, FONT)
  // A line of one point would have no width.
  const hasMargin = labels.length === 1
  return {
    width: plot.clientWidth,
    height: HEIGHT,
    // A label is below the middle of its point: half of the last would be cut off.
    padding: [null, width / 2 + 8, null, 0],
    scales: {
      x: { time: false, ...(hasMargin && { range: [-0.5, labels.length - 0.5] }) },
      y: { range: FROM_ZERO },
    },
    hooks: {
      // Without a point, the legend has names and no values.
      setLegend: [(chart) => chart.root.classList.toggle('pointed', chart.legend.idx != null)],
    },
    axes: [
      {
        ...axis,
        space: width + 16,
        incrs: STEPS,
        values: (_, ticks) => ticks.map((i) => short[i] ?? ''),
      },
      // Half of the first label is left of the chart.
      {
        ...axis,
        size: (chart, texts) => Math.max(axisWidth(chart, texts), Math.ceil(width / 2) + 4),
        ...(isWhole && { incrs: WHOLE_STEPS }),
      },
    ],
    series: [
      { label: titles[0], value: (_, i) => labels[i] ?? '' },
      ...titles.slice(1).map((label, i) => ({
        label,
        stroke: colorOf(COLORS[i % COLORS.length]),
        width: 2,
        value: (_, number) => number?.toLocaleString(document.documentElement.lang) ?? '',
        ...(labels.length === 1 && { points: { show: true, size: 10 } }),
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
  const rows = rowsOf(table)
  const labels = rows.map(([first]) => first.textContent)
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent)
  const data = [
    labels.map((_, i) => i),
    ...titles.slice(1).map((_, i) => rows.map((cells) => numberIn(cells[i + 1]))),
  ]
  // Counts have no halves, so their axis has none.
  const isWhole = data
    .slice(1)
    .flat()
    .every((value) => value === null || Number.isInteger(value))
  let chart
  const draw = () => {
    chart?.destroy()
    chart = new UPlot(optionsOf(plot, titles, labels, isWhole), data, plot)
  }
  draw()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  addEventListener('resize', () => chart.setSize({ width: plot.clientWidth, height: HEIGHT }))
}
