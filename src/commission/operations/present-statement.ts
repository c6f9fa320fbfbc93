import type { ReturnedPayment } from '../../ledger/db/booked.ts'
import { parsePeriod } from '../../platform/money/calendar.ts'
import { decimal } from '../../platform/money/decimal.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import type { FoundStatement, ListedStatement, PeriodSums } from '../db/statements.ts'
import type { Adjustment, StatementHead, StatementLine } from '../run/draft.ts'

/** Returns a stored statement as lists show it. */
export function presentStatement(row: ListedStatement) {
  const { status, approved_at, payment, paid_on, payment_return } = row
  const head: StatementHead = JSON.parse(row.statement)
  return {
    ...head,
    status,
    approved_at: approved_at === null ? null : new Date(approved_at).toISOString(),
    paid: payment === null || paid_on === null ? null : { reference: payment, paid_on },
    returned: payment_return === null ? null : (JSON.parse(payment_return) as ReturnedPayment),
    hash: row.hash,
    computed_at: row.computed_at,
    ...(row.earned_before && {
      earned_before: moneyText(decimal(row.earned_before), head.currency),
    }),
  }
}

/** Returns a stored statement with one part of its lines and adjustments. */
export const presentWhole = (found: FoundStatement, part: number) => ({
  ...presentStatement(found),
  ...splitItems(JSON.parse(found.lines)),
  part,
  parts: found.parts,
})

/** Tells the lines of a part from its adjustments. */
export function splitItems(items: readonly (StatementLine | Adjustment)[]) {
  const isAdjustment = (item: StatementLine | Adjustment): item is Adjustment => 'of' in item
  const isLine = (item: StatementLine | Adjustment): item is StatementLine => !isAdjustment(item)
  return { lines: items.filter(isLine), adjustments: items.filter(isAdjustment) }
}

/** Returns sums with the minor digits of their currency. */
export const presentSums = <S extends { readonly currency: string }>(
  sums: readonly S[],
  names: readonly (keyof S & string)[],
): S[] =>
  sums.map((one) => {
    const textOf = (name: keyof S) =>
      moneyText(fromUnits(String(one[name]), one.currency), one.currency)
    return { ...one, ...Object.fromEntries(names.map((name) => [name, textOf(name)])) }
  })

const lastDay = ({ period }: PeriodSums) => parsePeriod(period)?.last ?? 0

/** Returns sums of periods, the latest first, with the minor digits of their currency. */
export const presentPeriods = (sums: readonly PeriodSums[]) =>
  presentSums(sums, ['earned', 'total']).toSorted((a, b) => lastDay(b) - lastDay(a))
