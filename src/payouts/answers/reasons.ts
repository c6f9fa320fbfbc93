import { allAt, type Element, textAt } from './xml.ts'

/**
 * The reasons of ISO 20022 why a transfer was rejected or came back, in words.
 *
 * @see [External code sets](https://www.iso20022.org/catalogue-messages/additional-content-messages/external-code-sets)
 */
const REASONS: Readonly<Record<string, string>> = {
  AC01: 'The number of the account is wrong',
  AC03: 'The number of the payee’s account is wrong',
  AC04: 'The account is closed',
  AC06: 'The account is blocked',
  AC07: 'The payee’s account is closed',
  AG01: 'Transfers to this account are not allowed',
  AM04: 'The balance is too low',
  AM05: 'It was sent twice',
  BE01: 'The name does not belong to the account',
  BE04: 'The address of the payee is missing or wrong',
  CUST: 'The payer has asked for it',
  DT01: 'The day is wrong',
  FF01: 'The file has a wrong format',
  FOCR: 'The transfer was recalled',
  MD07: 'The owner of the account has died',
  MS02: 'The payee has refused it',
  MS03: 'The bank gives no reason',
  RC01: 'The code of the bank (BIC) is wrong',
  RR03: 'The name or address of the payee is missing',
  RR04: 'The authorities require it',
}

/** The codes that say that an account cannot be paid: a person has to look at the payee. */
const NAMES_ACCOUNT = 'AC01 AC03 AC04 AC06 AC07 AG01 BE01 MD07 RC01'.split(' ')

/** Returns whether a code says that the account cannot be paid. */
export const namesAccount = (code: string | null): boolean =>
  code !== null && NAMES_ACCOUNT.includes(code)

/** The longest text of a bank that is kept. */
const MAX_WORDS = 140

/** Returns the code of a reason, and the reason in words: ours, and those of the bank. */
export function reasonOf(element: Element | undefined, name: 'RtrInf' | 'StsRsnInf') {
  const all = allAt(element, name)
  const code = all.flatMap((one) => textAt(one, 'Rsn/Cd', 'Rsn/Prtry') ?? [])[0] ?? null
  const known = code !== null && Object.hasOwn(REASONS, code) ? REASONS[code] : undefined
  const words = all.flatMap((one) => allAt(one, 'AddtlInf').map(({ text }) => text.trim()))
  const reason = [known, ...words].filter(Boolean).join('. ').slice(0, MAX_WORDS)
  return { code, reason: reason || code }
}
