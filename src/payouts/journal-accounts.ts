import * as v from 'valibot'
import type { Account } from '../platform/db/schema.ts'
import * as f from '../platform/validation/fields.ts'
import { member, said } from '../platform/validation/fields.ts'

/** An account of the bookkeeping of a firm, by its number or name there. */
const account = (meaning: string, example: string) =>
  v.exactOptional(member(f.labelOf(40), said(meaning, example)))

/** The accounts between which the journal books. */
export const journalAccountFields = {
  payable: account('What affiliates are owed: a liability.', '3300'),
  earned: account('What affiliates earn: an expense.', '6770'),
  adjusted: account('Corrections of earlier periods.', '6770'),
  manual: account('Amounts that were entered by hand.', '6775'),
  dropped: account('Negative balances that were written off.', '6780'),
  transferred: account('Balances that move from one plan to another. Their sum is 0.', '1360'),
  bank: account('The bank account: what was paid, and what came back.', '1200'),
  fees: account('The fees that banks keep.', '6855'),
  vat: account('The VAT of self-billed invoices.', '1406'),
}

/** The name of an account of the journal. */
export type JournalAccount = keyof typeof journalAccountFields

/** The accounts that were set. */
type SetAccounts = { readonly [Name in JournalAccount]?: string }

/** Returns the accounts that were set. */
export const journalAccountsOf = (account: Pick<Account, 'journal_accounts'>): SetAccounts =>
  JSON.parse(account.journal_accounts)

/** Returns the names of the accounts that were not set. */
export const missingAccounts = (set: SetAccounts): JournalAccount[] =>
  (Object.keys(journalAccountFields) as JournalAccount[]).filter((name) => set[name] === undefined)
