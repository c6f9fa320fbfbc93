import type { Account } from '../platform/db/schema.ts'
import * as f from '../platform/validation/fields.ts'
import { exactOptional, said } from '../platform/validation/fields.ts'

/** The accounts between which the journal books: what people call each, what it is for, and an example. */
export const JOURNAL_ACCOUNTS = {
  payable: ['Owed to affiliates', 'A liability: what is owed and not paid.', '3300'],
  earned: ['Earned', 'An expense: what affiliates earn.', '6770'],
  adjusted: ['Corrections', 'Corrections of earlier periods.', '6770'],
  manual: ['Entered by hand', 'What the team enters, as a bonus.', '6775'],
  dropped: ['Written off', 'Debts that are not carried on.', '6780'],
  transferred: ['Moved between plans', 'A clearing account: its sum is 0.', '1360'],
  bank: ['Bank', 'What was paid, and what came back.', '1200'],
  fees: ['Fees', 'What banks keep of payments.', '6855'],
  vat: ['VAT', 'The VAT of self-billed invoices.', '1406'],
} as const

/** The name of an account of the journal. */
export type JournalAccount = keyof typeof JOURNAL_ACCOUNTS

const nameOf = (meaning: string, example: string) =>
  exactOptional(f.labelOf(40), said(meaning, example))

/** The setting of the accounts, each by its number or name in the bookkeeping of the firm. */
export const journalAccountFields = Object.fromEntries(
  Object.entries(JOURNAL_ACCOUNTS).map(([name, [, meaning, example]]) => [
    name,
    nameOf(meaning, example),
  ]),
) as Record<JournalAccount, ReturnType<typeof nameOf>>

/** The names of all accounts of the journal. */
export const JOURNAL_NAMES = Object.keys(JOURNAL_ACCOUNTS) as JournalAccount[]

/** The accounts that were set. */
type SetAccounts = { readonly [Name in JournalAccount]?: string }

/** Returns the accounts that were set. */
export const journalAccountsOf = (account: Pick<Account, 'journal_accounts'>): SetAccounts =>
  JSON.parse(account.journal_accounts)

/** Returns the names of the accounts that were not set. */
export const missingAccounts = (set: SetAccounts): JournalAccount[] =>
  JOURNAL_NAMES.filter((name) => set[name] === undefined)
