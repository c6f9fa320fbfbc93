import type { ReturnedPayment } from '../../ledger/db/booked.ts'
import { parsePeriod } from '../../platform/money/calendar.ts'
import { decimal } from '../../platform/money/decimal.ts'
import { fromUnits, moneyText } from '../../platform/money/money.ts'
import type {
  DueSum,
  FoundStatement,
  ListedStatement,
  PeriodSums,
  SummedStatements,
} from '../db/statements.ts'
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

const moneyOf = (units: string, currency: string) => moneyText(fromUnits(units, currency), currency)

/** Returns sums with the minor digits of their currency. */
export const presentSums = ({ earned, payable, ...group }: SummedStatements) => ({
  ...group,
  earned: moneyOf(earned, group.currency),
  payable: moneyOf(payable, group.currency),
})

const lastDay = ({ period }: PeriodSums) => parsePeriod(period)?.last ?? 0

/** Returns sums of periods, the latest first, with the minor digits of their currency. */
export const presentPeriods = (sums: readonly PeriodSums[]) =>
  sums
    .toSorted((a, b) => lastDay(b) - lastDay(a))
    .map((one) => ({
      ...one,
      earned: moneyOf(one.earned, one.currency),
      total: moneyOf(one.total, one.currency),
    }))

/** Returns what is payable with the minor digits of its currency. */
export const presentDueSums = (sums: readonly DueSum[]) =>
  sums.map((one) => ({ ...one, amount: moneyOf(one.amount, one.currency) }))
