// Whether a file is of the account of a payer: banks write its number in many ways.

/** The fewest characters of a number that name an account. */
const LEAST = 6

/** Returns the letters and digits of the number of an account, without the zeros before it. */
const keyOf = (number = ''): string =>
  number
    .toUpperCase()
    .replaceAll(/[^\dA-Z]/g, '')
    .replace(/^0+/, '')

/** The number of the account of a version of a payer: an IBAN, or another one. */
export interface PayerNumber {
  readonly payer: string
  readonly version: number
  readonly number: string
}

/** Returns whether a number ends as another one, which is long enough. */
const endsAs = (number: string, end: string) => end.length >= LEAST && number.endsWith(end)

/**
 * Returns which versions of payers a number names: the same number, else its end or the national number of its IBAN, also
 * behind the code of the bank, unless that is as well the number of another payer.
 */
export function payersNamed(given: string, numbers: readonly PayerNumber[]): PayerNumber[] {
  const whole = keyOf(given)
  const last = keyOf(given.split(/[\s/]+/).at(-1))
  const exact = numbers.filter(({ number }) => keyOf(number) === whole)
  const found = numbers.filter(({ number }) => {
    const own = keyOf(number)
    return endsAs(own, whole) || endsAs(own, last) || endsAs(whole, own)
  })
  if (exact.length > 0) return exact
  return new Set(found.map(({ payer }) => payer)).size === 1 ? found : []
}
