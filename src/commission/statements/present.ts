import type {
  ChangedDraft,
  DueSum,
  FoundStatement,
  ListedStatement,
  PeriodSums,
  SummedStatements,
} from '../../db/commission/statements.ts'
import { fromUnits, moneyText } from '../books/money.ts'
import { presentBooks } from '../books/present.ts'
import { parsePeriod } from '../engine/calendar.ts'
import { decimal } from '../engine/decimal.ts'
import type { Adjustment, Draft, StatementHead, StatementLine } from './draft.ts'
import { PART_LIMITS } from './limits.ts'

export type { ChangedDraft } from '../../db/commission/statements.ts'

/** Returns a stored statement as lists show it. */
export function presentStatement(row: ListedStatement) {
  const head: StatementHead = JSON.parse(row.statement)
  return { ...head, ...presentBooks(row), hash: row.hash, computed_at: row.computed_at }
}

/** Returns a stored statement with one part of its lines and adjustments. */
export const presentWhole = (found: FoundStatement, part: number) => ({
  ...presentStatement(found),
  ...splitItems(JSON.parse(found.lines)),
  part,
  parts: found.parts,
})

/** Returns a statement that was computed and is not stored, with its first lines and adjustments. */
export const presentDraft = ({ head, lines, adjustments, hash }: Draft, computedAt: string) => ({
  ...head,
  ...presentBooks({
    status: 'draft',
    approved_at: null,
    payment: null,
    paid_on: null,
    payment_return: null,
  }),
  hash,
  computed_at: computedAt,
  ...splitItems([...lines, ...adjustments].slice(0, PART_LIMITS.lines)),
})

/** Tells the lines of a part from its adjustments. */
export function splitItems(items: readonly (StatementLine | Adjustment)[]) {
  const isAdjustment = (item: StatementLine | Adjustment): item is Adjustment => 'of' in item
  const isLine = (item: StatementLine | Adjustment): item is StatementLine => !isAdjustment(item)
  return { lines: items.filter(isLine), adjustments: items.filter(isAdjustment) }
}

/** Returns a change with the minor digits of its currency: where there is no statement, the store has `0`. */
export const presentChange = ({ total, before, ...draft }: ChangedDraft): ChangedDraft => ({
  ...draft,
  total: moneyText(decimal(total), draft.currency),
  before: moneyText(decimal(before), draft.currency),
})

const moneyOf = (units: string, currency: string) => moneyText(fromUnits(units, currency), currency)

/**
 * Returns the sums of statements with the minor digits of their currency. An opening and a closing are balances:
 * those of several periods have no sum, so they are null unless all statements are of one period.
 */
export function presentSums(
  { opening, total, payable, closing, ...group }: SummedStatements,
  isOnePeriod: boolean,
) {
  const { currency } = group
  const money = (units: string): string => moneyOf(units, currency)
  return {
    ...group,
    opening: isOnePeriod ? money(opening) : null,
    total: money(total),
    payable: money(payable),
    closing: isOnePeriod ? money(closing) : null,
  }
}

const lastDay = ({ period }: PeriodSums) => parsePeriod(period)?.last ?? 0

/** Returns sums of periods, the latest first, with the minor digits of their currency. */
export const presentPeriods = (sums: readonly PeriodSums[]) =>
  sums
    .toSorted((a, b) => lastDay(b) - lastDay(a))
    .map((one) => ({ ...one, total: moneyOf(one.total, one.currency) }))

/** Returns what is payable with the minor digits of its currency. */
export const presentDueSums = (sums: readonly DueSum[]) =>
  sums.map((one) => ({ ...one, amount: moneyOf(one.amount, one.currency) }))
