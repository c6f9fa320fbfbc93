import { maskNumbers } from '../../platform/validation/mask-numbers.ts'
import { allAt, type Element, textAt } from './xml.ts'

/**
 * The codes of ISO 20022 that say that an account cannot be paid: a person has to look at the payee.
 *
 * @see [External code sets](https://www.iso20022.org/catalogue-messages/additional-content-messages/external-code-sets)
 */
const OF_ACCOUNT: Readonly<Record<string, string>> = {
  AC01: 'The number of the account is wrong',
  AC03: 'The number of the payee’s account is wrong',
  AC04: 'The account is closed',
  AC06: 'The account is blocked',
  AC07: 'The payee’s account is closed',
  AG01: 'Transfers to this account are not allowed',
  BE01: 'The name does not belong to the account',
  MD07: 'The owner of the account has died',
  RC01: 'The code of the bank (BIC) is wrong',
}

/** The codes that are frequent. Of others, only the words of the bank are shown. */
const REASONS: Readonly<Record<string, string>> = {
  ...OF_ACCOUNT,
  AM04: 'The balance is too low',
  AM05: 'It was sent twice',
  MS03: 'The bank gives no reason',
}

/** Returns whether a code says that the account cannot be paid. */
export const namesAccount = (code: string | null): boolean =>
  code !== null && Object.hasOwn(OF_ACCOUNT, code)

/** The longest text that is read: enough for what is kept of it after its numbers are masked. */
const MAX_READ = 1000

/** Returns what is read of the words of a bank. */
export const readWords = (text = ''): string => text.trim().slice(0, MAX_READ)

/** Returns what is kept of the words of a bank: at most 140 characters, without the numbers of accounts. */
export const keptWords = (words: string | null, own: readonly string[]): string | null =>
  words && maskNumbers(words, own).slice(0, 140)

/** Returns the code of a reason, and the reason in words: ours, and those of the bank. */
export function reasonOf(element: Element, name: 'RtrInf' | 'StsRsnInf') {
  const written = textAt(element, `${name}/Rsn/Cd`, `${name}/Rsn/Prtry`) ?? ''
  // What is longer are words, whose numbers are masked, and which an erasure takes.
  const code = /^[A-Z\d]{1,4}$/.test(written) ? written : null
  const known = code === null ? written : Object.hasOwn(REASONS, code) && REASONS[code]
  const words = allAt(element, `${name}/AddtlInf`).map(({ text }) => text.trim())
  const reason = readWords([known, ...words].filter(Boolean).join('. '))
  return { code, reason: reason || code }
}
