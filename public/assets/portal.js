// The pages of the portal work without it, but for passkeys and copying. It also draws charts from their tables.

import './copy.js'
import './passkeys.js'

const figures = [...document.querySelectorAll('[data-chart]')]
if (figures.length > 0) {
  const { drawChart } = await import('./console-chart.js')
  for (const figure of figures) drawChart(figure)
}
