import { moneyText } from '../../../src/commission/books/money.ts'
import { decimal } from '../../../src/commission/engine/decimal.ts'
import type { Report, Row } from '../../../src/reports/report.ts'
import { list } from '../format.ts'
import type { Operation } from '../operation.ts'
import type { TextPage } from '../request.ts'
import { DAYS } from './parts.ts'

/** Rounds a converted amount to the minor unit of its currency. CSV and JSON have all its places. */
const money = (amount: string, currency: string) => moneyText(decimal(amount), currency)

/** Returns a row as the table shows it: groups and metrics side by side. */
function rowOf({ groups, metrics }: Pick<Row, 'groups' | 'metrics'>, report: Report) {
  const amounts = report.columns.filter(({ type }) => type === 'amount').map(({ name }) => name)
  const shown = Object.entries(metrics).map(([name, value]) => [
    name,
    typeof value === 'string' && amounts.includes(name) ? money(value, report.currency) : value,
  ])
  return { ...groups, ...Object.fromEntries(shown) }
}

/** Formats a report as a table; the last row has the totals. */
const table: Operation['format'] = (body, input) => {
  if ('text' in (body as object)) return (body as TextPage).text.trimEnd()
  const { group_by, data, totals } = body as Report
  const [first] = group_by
  const total = { groups: first === undefined ? {} : { [first]: 'total' }, ...totals }
  const rows = first === undefined ? [total] : [...data, total]
  return list()({ data: rows.map((row) => rowOf(row, body as Report)) }, input)
}

/** Names what the figures lack. */
function lacking(body: unknown): string | null {
  if ('text' in (body as object)) return null
  const { totals, notes } = body as Report
  const amounts = totals.unconverted.map(
    ({ metric, amount, currency, reason }) =>
      `${metric} lacks ${currency ? `${money(amount, currency)} ${currency}` : `${amount} without a currency`} (${reason}).`,
  )
  const reasons = notes.map(({ metric, detail }) => `${metric}: ${detail}`)
  return [...amounts, ...reasons].join(' ') || null
}

/** Reports. */
export const REPORTS: readonly Operation[] = [
  {
    noun: 'reports',
    summary: 'Shows metrics of some days by groups, in one currency.',
    example: 'acme --from 2026-10-01 --to 2026-10-31 --by affiliate_id,month --currency EUR',
    method: 'GET',
    path: 'accounts/{account}/reports',
    options: {
      ...DAYS,
      by: {
        value: 'groups',
        description: 'Up to three groups, separated by commas, such as day,affiliate_id.',
        member: 'group_by',
      },
      currency: {
        value: 'code',
        description: 'The currency of all amounts. (default: USD)',
        pattern: /^[A-Z]{3}$/,
      },
      metrics: {
        value: 'names',
        description: 'Metrics, separated by commas. (default: all of the vertical)',
      },
      csv: { description: 'Prints CSV.' },
    },
    run: (send, { query: { csv, ...query }, ...request }, { options }) =>
      send({ ...request, query, ...(options.csv && { accept: 'text/csv' }) }),
    format: table,
    note: lacking,
  },
]
