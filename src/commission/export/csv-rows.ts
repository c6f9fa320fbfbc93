import { writeCsv } from '../csv.ts'
import type { Adjustment, StatementLine } from '../drafts/draft.ts'
import { decimal, fixedText, sum } from '../engine/decimal.ts'
import type { Part, Presented } from './read.ts'

/** The columns of a list of statements. */
export const STATEMENT_COLUMNS = [
  'id',
  'affiliate_id',
  'plan',
  'period',
  'status',
  'currency',
  'opening',
  'lines_sum',
  'adjustments_sum',
  'manual_sum',
  'total',
  'payable',
  'closing',
  'dropped',
  'transferred',
  'transferred_to',
  'received',
  'held_records',
  'lines_total',
  'adjustments_total',
  'payable_on',
  'approved_at',
  'paid_reference',
  'paid_on',
  'computed_at',
  'hash',
  'returned_on',
] as const

/** The columns of the lines, adjustments and manual entries of a statement. */
export const ENTRY_COLUMNS = [
  'statement_id',
  'affiliate_id',
  'plan',
  'period',
  'currency',
  'kind',
  'id',
  'rule',
  'version',
  'rule_kind',
  'scope',
  'base',
  'units',
  'measure',
  'step',
  'rate',
  'carried_in',
  'carried_out',
  'capped',
  'recouped',
  'deficit',
  'amount',
  'of_period',
  'of_line',
  'causes',
  'reason',
  'reference',
  'at',
] as const

type Value = string | number | null | undefined

/** Returns the cells of a row in the order of the columns; those without a value are empty. */
const toRow = <T extends string>(
  columns: readonly T[],
  values: Readonly<Partial<Record<T, Value>>>,
): string[] => columns.map((name) => String(values[name] ?? ''))

/** Adds up amounts of one currency. */
function sumText(amounts: readonly string[]): string {
  const total = sum(amounts.map(decimal))
  return amounts.length === 0 ? '' : fixedText(total, total.scale)
}

/** Returns the row of a statement in a list. */
export function statementRow(statement: Presented): string[] {
  const { transferred, received, holds, approved_at, paid, returned, ...sums } = statement
  return toRow(STATEMENT_COLUMNS, {
    ...sums,
    transferred: transferred?.amount,
    transferred_to: transferred?.to,
    received: sumText(received.map(({ amount }) => amount)),
    held_records: holds.reduce((count, hold) => count + hold.count, 0),
    approved_at,
    paid_reference: paid?.reference,
    paid_on: paid?.paid_on,
    returned_on: returned?.returned_on,
  })
}

const stepText = (step: StatementLine['step']): string =>
  step === null || typeof step === 'string' ? (step ?? '') : JSON.stringify(step)

function lineValues({ kind, step, fence: _fence, fx: _fx, ...line }: StatementLine) {
  return { ...line, kind: 'line', rule_kind: kind, step: stepText(step) }
}

function adjustmentValues({ of, causes_total, id, rule, version, scope, amount }: Adjustment) {
  return {
    kind: 'adjustment',
    id,
    rule,
    version,
    scope,
    amount,
    of_period: of.period,
    of_line: of.line,
    causes: causes_total,
    reason: of.line === null ? 'dropped' : null,
  }
}

/** The rows that become one piece of text. */
const ROWS = 100

/** Yields the lines, adjustments and manual entries of a statement as CSV; the latter after all parts. */
export async function* entriesCsv(
  statement: Presented,
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void> {
  const { id: statement_id, affiliate_id, plan, period, currency } = statement
  const own = { statement_id, affiliate_id, plan, period, currency }
  const textOf = (entries: readonly Partial<Record<(typeof ENTRY_COLUMNS)[number], Value>>[]) =>
    writeCsv(entries.map((entry) => toRow(ENTRY_COLUMNS, { ...entry, ...own })))
  yield writeCsv([ENTRY_COLUMNS])
  for await (const { lines, adjustments, part, parts: all } of parts) {
    const entries = [...lines.map(lineValues), ...adjustments.map(adjustmentValues)]
    for (let at = 0; at < entries.length; at += ROWS) yield textOf(entries.slice(at, at + ROWS))
    if (part < all) continue
    const manual = statement.manual.map((entry) => ({ ...entry, kind: 'manual' }))
    for (let at = 0; at < manual.length; at += ROWS) yield textOf(manual.slice(at, at + ROWS))
  }
}
