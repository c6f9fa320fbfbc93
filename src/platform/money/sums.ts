import { compareText } from '../compare-text.ts'
import { add, type Decimal, decimal, sum, ZERO } from './decimal.ts'
import { moneyText } from './money.ts'

// Sums of money. Amounts of different currencies are never added.

/** An exact amount of a currency, with its minor digits. */
export interface Money {
  readonly amount: string
  readonly currency: string
}

/** Amounts by currency. */
export type Amounts = ReadonlyMap<string, Decimal>

/** Returns the sum of amounts of a currency. */
export const sumOfMoney = (parts: readonly Pick<Money, 'amount'>[], currency: string): string =>
  moneyText(sum(parts.map(({ amount }) => decimal(amount))), currency)

/** Adds up amounts by currency. */
export function sumByCurrency(amounts: readonly Money[]): Amounts {
  const sums = new Map<string, Decimal>()
  for (const { amount, currency } of amounts) {
    sums.set(currency, add(sums.get(currency) ?? ZERO, decimal(amount)))
  }
  return sums
}

/** Returns amounts as texts, in the order of their currencies. */
export const moneyOf = (amounts: Amounts): Money[] =>
  [...amounts]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([currency, value]) => ({ currency, amount: moneyText(value, currency) }))
