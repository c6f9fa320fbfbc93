import { memoize } from '../../platform/memoize.ts'

/** Whether a text is a decimal that `Intl.NumberFormat` reads exactly. */
const isDecimal = (text: string): text is `${number}` => /^-?\d+(?:\.\d+)?$/.test(text)

/** The most digits after the point that `Intl.NumberFormat` writes. */
const MOST_DIGITS = 100

/** Returns a function that writes exact decimals with at least so many digits after the point, and a true minus sign. */
export function decimalsOf(locale: string): (text: string, digits: number) => string {
  const formatOf = memoize(
    (digits: number) =>
      new Intl.NumberFormat(locale, {
        minimumFractionDigits: digits,
        maximumFractionDigits: MOST_DIGITS,
      }),
  )
  return (text, digits) => {
    if (!isDecimal(text)) return text
    const [, fraction = ''] = text.split('.')
    return formatOf(Math.min(Math.max(digits, fraction.length), MOST_DIGITS))
      .format(text)
      .replace('-', '−')
  }
}
