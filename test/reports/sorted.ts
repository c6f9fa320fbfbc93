import type { Figures, Report } from '../../src/reports/report.ts'

const sortedFigures = ({ metrics, unconverted }: Figures) => ({
  metrics,
  unconverted: [...unconverted].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
})

/** Returns the rows and totals of a report in an order that does not depend on it. */
export const sortedReport = ({ data, totals }: Pick<Report, 'data' | 'totals'>) => ({
  data: data
    .map(({ groups, ...figures }) => ({ groups, ...sortedFigures(figures) }))
    .sort((a, b) => (JSON.stringify(a.groups) < JSON.stringify(b.groups) ? -1 : 1)),
  totals: sortedFigures(totals),
})
