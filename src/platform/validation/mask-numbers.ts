import { getCountrySpecifications, isValidIBAN } from 'ibantools'
import { isWallet } from './wallets.ts'

// Numbers of accounts in what people and banks write.

/** Returns a number with only its last four characters, at most half of them, and of an IBAN its country. */
export const maskNumber = (number: string): string =>
  `${/^[A-Z]{2}\d\d/.test(number) ? number.slice(0, 2) : ''}…${number.slice(Math.max(-4, -(number.length >> 1)))}`

/** What the IBANs of each country have after the check digits, and their length. */
const FORMS = new Map(
  Object.entries(getCountrySpecifications()).flatMap(([country, { chars, bban_regexp }]) =>
    chars && bban_regexp ? [[country, { chars, bban: new RegExp(bban_regexp) }] as const] : [],
  ),
)

/** Returns whether a text has the form of an IBAN. Of letters, words have it too: then its check digits have to fit. */
const isIban = (text: string, bban: RegExp): boolean =>
  /^\d\d/.test(text.slice(2)) &&
  bban.test(text.slice(4)) &&
  (text.replaceAll(/\D/g, '').length > text.length / 2 || isValidIBAN(text))

/** How many characters of an account's own number are recognized in a text, and its shortest number that is. */
const RECOGNIZED = { most: 6, least: 4 }

const WORD = /(?<!\w)\w{32,44}(?!\w)/g

/**
 * Returns a text with its numbers of accounts masked: addresses of wallets, IBANs of all countries, and parts of `own`
 * numbers. Their case, width and whatever stands between their characters do not count, nor do letters that touch them.
 */
export function maskNumbers(written: string, own: readonly string[] = []): string {
  const text = written.replaceAll(WORD, (word) => (isWallet(word) ? maskNumber(word) : word))
  const letters = [...text].flatMap((letter, at) => {
    const plain = letter.normalize('NFKC').toUpperCase()
    return /^[A-Z\d]$/.test(plain) ? [{ plain, at }] : []
  })
  const plain = letters.map((one) => one.plain).join('')
  const isMasked = new Set<number>()
  const mask = (from: number, length: number) => {
    for (let i = from; i < from + length; i++) isMasked.add(i)
  }
  for (let i = 0; i < plain.length; i++) {
    const form = FORMS.get(plain.slice(i, i + 2))
    if (form && isIban(plain.slice(i, i + form.chars), form.bban)) mask(i, form.chars)
    for (const number of own) {
      const size = Math.min(RECOGNIZED.most, number.length)
      const part = plain.slice(i, i + size)
      if (size >= RECOGNIZED.least && part.length === size && number.includes(part)) mask(i, size)
    }
  }
  const shown = [...text]
  for (let i = plain.length - 1; i >= 0; i--) {
    if (!isMasked.has(i)) continue
    const end = i + 1
    while (isMasked.has(i - 1)) i -= 1
    const [first = 0, last = 0] = [letters[i]?.at, letters[end - 1]?.at]
    shown.splice(first, last - first + 1, maskNumber(plain.slice(i, end)))
  }
  return shown.join('')
}
