import { writeCsv } from '../commission/csv.ts'
import type { Figures, Report, Unconverted } from './report.ts'

/** The first group of the row of totals. */
const TOTAL = 'total'

const restText = ({ metric, amount, currency, reason }: Unconverted): string =>
  `${metric}: ${amount} ${currency ?? '-'} (${reason})`

const cellText = (value: string | number | null | undefined): string => String(value ?? '')

/**
 * Writes a report as CSV: a column that tells rows from totals, the groups, the metrics, and what could
 * not be converted. A value that is unknown is empty.
 */
export function reportCsv({ columns, group_by, data, totals }: Report): string {
  const names = columns.flatMap(({ name, type }) => (type === 'group' ? [] : [name]))
  const cells = ({ metrics, unconverted }: Figures) => [
    ...names.map((name) => cellText(metrics[name])),
    unconverted.map(restText).join('; '),
  ]
  return writeCsv([
    ['row', ...group_by, ...names, 'unconverted'],
    ...data.map((row) => [
      'data',
      ...group_by.map((name) => cellText(row.groups[name])),
      ...cells(row),
    ]),
    [TOTAL, ...group_by.map(() => ''), ...cells(totals)],
  ])
}
