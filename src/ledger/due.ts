import { compareText } from '../platform/compare-text.ts'
import { add, type Decimal, decimal, ZERO } from '../platform/money/decimal.ts'
import { moneyText } from '../platform/money/money.ts'
import type { DueStatement } from './db/entries.ts'

/** Returns what statements have to pay together. */
export const sumPayable = (statements: readonly { readonly payable: string }[]): Decimal =>
  statements.reduce((sum, { payable }) => add(sum, decimal(payable)), ZERO)

/** Returns what statements have to pay by currency, in order of currency. */
export const sumByCurrency = (
  statements: readonly Pick<DueStatement, 'currency' | 'payable'>[],
): { currency: string; amount: string }[] =>
  [...Map.groupBy(statements, ({ currency }) => currency)]
    .map(([currency, own]) => ({ currency, amount: moneyText(sumPayable(own), currency) }))
    .sort((a, b) => compareText(a.currency, b.currency))
