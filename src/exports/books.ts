import { listStatements, readParts } from '../commission/db/statements.ts'
import { presentStatement, splitItems } from '../commission/operations/present-statement.ts'
import type { Adjustment, StatementLine } from '../commission/run/draft.ts'
import { dayText } from '../platform/db/column-types.ts'
import type { KeyValue } from '../platform/db/paginate.ts'
import { parsePeriod } from '../platform/money/calendar.ts'
import { column, type ExportColumn, jsonColumn } from './columns.ts'
import {
  type Dataset,
  type DatasetMonth,
  type MonthsScope,
  type RowsScope,
  withTextPlaces,
} from './dataset.ts'
import {
  type BookTable,
  readBookPage,
  signLedger,
  signPayments,
  signPeriods,
} from './db/book-rows.ts'
import type { ExportPage } from './db/record-rows.ts'

const texts = (...names: string[]) => names.map((name) => column(name))
const amounts = (...names: string[]) => names.map((name) => column(name, 'decimal'))

const STATEMENT_COLUMNS: readonly ExportColumn[] = [
  ...texts('id', 'affiliate_id', 'plan', 'period', 'status', 'currency'),
  ...amounts('opening', 'lines_sum', 'adjustments_sum', 'earned', 'manual_sum', 'total'),
  ...amounts('payable', 'closing', 'dropped', 'transferred'),
  ...texts('transferred_to'),
  ...['received', 'holds'].map(jsonColumn),
  ...['lines_total', 'adjustments_total'].map((name) => column(name, 'integer')),
  column('payable_on', 'date'),
  column('approved_at', 'instant'),
  ...texts('paid_reference'),
  column('paid_on', 'date'),
  column('returned_on', 'date'),
  column('computed_at', 'instant'),
  ...texts('hash'),
]

const LINE_COLUMNS: readonly ExportColumn[] = [
  ...texts('statement_id', 'affiliate_id', 'plan', 'period', 'currency', 'kind', 'id', 'rule'),
  column('version', 'integer'),
  // Measures have any number of places, so they are the decimal text of the API.
  ...texts('rule_kind', 'scope', 'base', 'units', 'measure', 'step', 'rate'),
  ...amounts('carried_in', 'carried_out', 'capped', 'recouped', 'deficit', 'amount'),
  ...['fence', 'fx'].map(jsonColumn),
  ...texts('of_period', 'of_line'),
  column('causes', 'integer'),
  ...texts('reason', 'reference'),
  column('at', 'instant'),
]

const TABLE_COLUMNS: Record<BookTable, readonly ExportColumn[]> = {
  ledger: [
    ...texts('affiliate_id', 'id', 'kind', 'plan', 'period', 'statement', 'currency'),
    ...amounts('amount'),
    ...texts('reference', 'actor'),
    column('at', 'instant'),
    column('entered_on', 'date'),
    column('value_on', 'date'),
  ],
  payments: [
    ...texts('reference', 'affiliate_id', 'currency'),
    ...amounts('amount'),
    column('paid_on', 'date'),
    ...texts('statements', 'actor'),
    column('at', 'instant'),
    column('returned_on', 'date'),
    ...texts('return_reason'),
  ],
  affiliates: texts('affiliate_id', 'parent', 'status', 'language'),
}

/** The columns of affiliates that may name a person. */
const AFFILIATE_NAMES = texts('display_name', 'contact_email')

/** Returns the month to which a period belongs: that of its last day. */
function monthOf(period: string): string {
  const found = parsePeriod(period)
  return found ? dayText(found.last).slice(0, 7) : ''
}

/** Returns the months of periods. */
const statementMonths = async ({ db, account }: MonthsScope): Promise<DatasetMonth[]> =>
  [...Map.groupBy(await signPeriods(db, account), ({ month }) => monthOf(month))].map(
    ([month, periods]) => ({
      month,
      sign: JSON.stringify(periods.map(({ month: period, sign }) => [period, sign])),
    }),
  )

/** The statements of a page, and those whose lines are read together. */
const PAGE_STATEMENTS = { heads: 200, lines: 20 }

/** Where a page of statements begins: behind a statement, in a period. */
interface StatementPlace {
  readonly period: string
  readonly after: readonly KeyValue[] | null
}

/** Reads the next statements of a month. */
async function readStatements(
  { db, account, month }: RowsScope,
  place: StatementPlace | null,
  size: number,
) {
  const periods = (await signPeriods(db, account))
    .map((one) => one.month)
    .filter((period) => monthOf(period) === month)
  const period = place?.period ?? periods[0]
  if (period === undefined) return { statements: [], next: null }
  const session = db.withSession('first-primary')
  const filter = { period }
  const counted = { total: 0, isLimited: false }
  const read = (rows: number) =>
    listStatements(session, account, filter, {
      number: 1,
      size: rows,
      after: place?.after ?? null,
      counted,
    })
  let found = await read(size)
  if (found.excess) found = await read(found.excess.suggestedSize)
  const following = periods[periods.indexOf(period) + 1]
  const next: StatementPlace | null = found.last
    ? { period, after: found.last }
    : following === undefined
      ? null
      : { period: following, after: null }
  return { statements: found.data.map(presentStatement), next }
}

type Statement = ReturnType<typeof presentStatement>

const statementRow = ({ transferred, paid, returned, ...statement }: Statement) => ({
  ...statement,
  transferred: transferred?.amount,
  transferred_to: transferred?.to,
  paid_reference: paid?.reference,
  paid_on: paid?.paid_on,
  returned_on: returned?.returned_on,
})

/** The statements of an account, each in the month of its period's last day. */
const statements: Dataset<StatementPlace> = {
  name: 'statements',
  columns: () => STATEMENT_COLUMNS,
  partPages: 100,
  months: statementMonths,
  async page(scope, place) {
    const found = await readStatements(scope, place, PAGE_STATEMENTS.heads)
    return { rows: found.statements.map(statementRow), next: found.next }
  },
}

const stepText = (step: StatementLine['step']): string | null =>
  step === null || typeof step === 'string' ? step : JSON.stringify(step)

const lineRow = ({ kind, step, ...line }: StatementLine) => ({
  ...line,
  kind: 'line',
  rule_kind: kind,
  step: stepText(step),
})

const adjustmentRow = ({ of, causes_total, causes: _causes, ...adjustment }: Adjustment) => ({
  ...adjustment,
  kind: 'adjustment',
  of_period: of.period,
  of_line: of.line,
  causes: causes_total,
  reason: of.line === null ? 'dropped' : null,
})

/** Where a page of lines begins: at a part of the statements that follow a place. */
interface LinePlace {
  readonly statements: StatementPlace | null
  readonly part: number
}

/** Returns the rows of a part of a statement. The manual entries come with the first. */
function partRows(statement: Statement, lines: string | null, part: number) {
  const { id: statement_id, affiliate_id, plan, period, currency, manual } = statement
  const items = splitItems(JSON.parse(lines ?? '[]'))
  const entries = part === 1 ? manual.map((entry) => ({ ...entry, kind: 'manual' })) : []
  return [...items.lines.map(lineRow), ...items.adjustments.map(adjustmentRow), ...entries].map(
    (row) => ({ ...row, statement_id, affiliate_id, plan, period, currency }),
  )
}

/** The lines, adjustments and manual entries of the statements. */
const lines: Dataset<LinePlace> = {
  name: 'statement-lines',
  columns: () => LINE_COLUMNS,
  partPages: 50,
  months: statementMonths,
  async page(scope, place): Promise<ExportPage<LinePlace>> {
    const { statements: begin, part } = place ?? { statements: null, part: 1 }
    const found = await readStatements(scope, begin, PAGE_STATEMENTS.lines)
    const ids = found.statements.map(({ id }) => id)
    const parts = new Map(
      (await readParts(scope.db, scope.account, ids, part)).map((one) => [one.id, one]),
    )
    const rows = found.statements.flatMap((statement) => {
      const one = parts.get(statement.id)
      return one && part <= one.parts ? partRows(statement, one.lines, part) : []
    })
    const most = Math.max(1, ...[...parts.values()].map((one) => one.parts))
    if (part < most) return { rows, next: { statements: begin, part: part + 1 } }
    return { rows, next: found.next && { statements: found.next, part: 1 } }
  },
}

/** The rows of a page of a table. */
const PAGE_ROWS = 2000

const tableDataset = (
  name: BookTable,
  months: (scope: MonthsScope) => Promise<DatasetMonth[]>,
): Dataset =>
  withTextPlaces<string[]>({
    name,
    columns: (withPersonalData) => [
      ...TABLE_COLUMNS[name],
      ...(name === 'affiliates' && withPersonalData ? AFFILIATE_NAMES : []),
    ],
    partPages: 50,
    months,
    page: ({ db, account, month }, after) =>
      readBookPage(db, name, account, { month, after, limit: PAGE_ROWS }),
  })

/** The resources of the books, which every account has. */
export const BOOK_DATASETS: readonly Dataset[] = [
  withTextPlaces(statements),
  withTextPlaces(lines),
  tableDataset('ledger', ({ db, account }) => signLedger(db, account)),
  tableDataset('payments', ({ db, account }) => signPayments(db, account)),
  // They are few, and nothing tells whether one has changed.
  tableDataset('affiliates', () =>
    Promise.resolve([{ month: '', sign: '', mayHaveChanged: true }]),
  ),
]
