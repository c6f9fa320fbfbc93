import { type Decimal, decimal, fixedText } from './decimal.ts'
import { minorDigits } from './minor-digits.ts'

/** The digits of a limb. Nine million amounts of this length have a sum of less than 2^63. */
export const LIMB_DIGITS = 12

const LIMB = 10n ** BigInt(LIMB_DIGITS)

/** Returns the decimal of a sum of `sumOf`, whose limbs are in the minor unit of a currency. */
export const fromUnits = (limbs: string, currency: string): Decimal => ({
  units: limbs.split(' ').reduce((units, limb) => units * LIMB + BigInt(limb), 0n),
  scale: minorDigits(currency),
})

/** Writes a decimal with the minor digits of a currency. */
export const moneyText = (value: Decimal, currency: string): string =>
  fixedText(value, minorDigits(currency))

/** Writes a decimal text with the minor digits of a currency; null if it has more. */
export function normalizeMoney(text: string, currency: string): string | null {
  const value = decimal(text)
  const places = text.split('.')[1]?.length ?? 0
  return places > minorDigits(currency) ? null : moneyText(value, currency)
}
