import * as v from 'valibot'
import { ENTRY_WORDS } from '../../books/entry-words.ts'
import { by, currency, refuseFuture } from '../../books/operations/ledger.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { DAYS, type LedgerEntry, listLedger } from '../../ledger/db/entries.ts'
import { ApiError } from '../../platform/errors.ts'
import { list } from '../../platform/http/operation.ts'
import { readDayRange } from '../../platform/http/query.ts'
import { asCsv, csvWords } from '../../platform/money/csv-list.ts'
import {
  type Decimal,
  decimal,
  isNegative,
  isZero,
  negate,
  subtract,
  ZERO,
} from '../../platform/money/decimal.ts'
import { moneyText } from '../../platform/money/money.ts'
import { day, daysNeeded, money } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { quoteAll } from '../../platform/validation/quote.ts'
import { type Fee, readFees } from '../db/movements.ts'
import { type JournalAccount, journalAccountsOf, missingAccounts } from '../journal-accounts.ts'

// The journal for the bookkeeping: each entry of the ledger, booked between two accounts of the firm.

const COLUMNS = [
  'entry',
  'day',
  'account',
  'debit',
  'credit',
  'currency',
  'affiliate_id',
  'text',
  'reference',
]

const row = component('JournalRow', () => ({
  entry: member(v.string(), 'The id of the entry of the ledger.'),
  day: member(day, 'The day of the entry.'),
  account: member(v.string(), 'The account, as `journal_accounts` names it.'),
  debit: nullable(money, 'The amount on the left side, or null.'),
  credit: nullable(money, 'The amount on the right side, or null.'),
  currency,
  affiliate_id: member(v.string(), 'The affiliate.'),
  text: member(v.string(), 'What was booked.'),
  reference: member(v.string(), 'The reference of the payment or return; else the statement.'),
}))

export const listJournal = list({
  topic: 'statements',
  path: '/journal',
  id: 'listJournal',
  shows: 'account',
  params: { ...daysNeeded, by },
  words: described(() => ({
    description:
      'Lists what was booked on some days, at most 366, as the bookkeeping takes it: two or more rows for each entry, whose debits and credits are equal. `journal_accounts` of the account names the accounts; without all of them it is refused with `conflict`. `per_page` and `total` count entries: a page never divides one. The credits of `payable` less its debits are what the balances have changed by.',
    answer: row,
    files: csvWords(COLUMNS),
    errors: ['conflict'],
    command: { name: 'journal', columns: COLUMNS },
  })),
  async list({ session, grant, account }, { by = 'value', ...days }, page) {
    const range = readDayRange(days)
    refuseFuture('to', range.to, grant)
    const accounts = allAccounts(journalAccountsOf(account))
    const filter = { by, ...range }
    const found = await listLedger(session, account.id, filter, false, page)
    const references = new Set(found.data.flatMap(({ reference }) => reference ?? []))
    const fees = await readFees(session, account.id, [...references])
    const feeOf = (entry: LedgerEntry) => {
      const fee = fees.find((one) => isFeeOf(one, entry))
      return fee ? feeIn(fee) : ZERO
    }
    const data = found.data.flatMap((entry) => rowsOf(entry, feeOf(entry), by, accounts))
    return { ...found, data }
  },
  files: asCsv('journal', COLUMNS),
})

type Accounts = Readonly<Record<JournalAccount, string>>

/**
 * Returns the accounts if all are set.
 *
 * @throws ApiError `conflict` with the names of those that are missing.
 */
function allAccounts(set: Partial<Accounts>): Accounts {
  const missing = missingAccounts(set)
  if (missing.length === 0) return set as Accounts
  throw new ApiError('conflict', {
    detail: `The journal needs an account for each kind of entry. These are missing in \`journal_accounts\`: ${quoteAll(missing)}.`,
  })
}

/** Returns the account on the other side of what affiliates are owed. */
const counterOf = (kind: LedgerEntry['kind']): JournalAccount =>
  kind === 'paid' || kind === 'returned' ? 'bank' : kind

/** Returns whether a fee stands at an entry: at that of the first statement of its payment or return. */
const isFeeOf = (fee: Fee, { kind, reference, statement }: LedgerEntry): boolean =>
  fee.direction === kind && fee.reference === reference && fee.statement === statement

/** Returns by how much the account of the bank lost more than was settled, or got less back. */
function feeIn({ direction, moved, settled }: Fee): Decimal {
  const more = subtract(decimal(moved), decimal(settled))
  return direction === 'paid' ? more : negate(more)
}

/** Returns the rows of an entry: what is owed to the affiliate grows on the right side, and by the same others on the left. */
function rowsOf(entry: LedgerEntry, fee: Decimal, by: keyof typeof DAYS, accounts: Accounts) {
  const { id, kind, plan, period, statement, currency, amount, affiliate_id, reference } = entry
  const sum = decimal(amount)
  const sideOf = (account: JournalAccount, debit: Decimal) => ({
    entry: id,
    day: entry[DAYS[by]],
    account: accounts[account],
    debit: isNegative(debit) ? null : moneyText(debit, currency),
    credit: isNegative(debit) ? moneyText(negate(debit), currency) : null,
    currency,
    affiliate_id,
    text: `${ENTRY_WORDS[kind]} ${ENGLISH.period(period)}, plan ${plan}`,
    reference: kind === 'transferred' ? statement : (reference ?? statement),
  })
  const sides = [
    sideOf('payable', negate(sum)),
    sideOf(counterOf(kind), subtract(sum, fee)),
    ...(isZero(fee) ? [] : [sideOf('fees', fee)]),
  ]
  return sides.toSorted((a, b) => Number(a.debit === null) - Number(b.debit === null))
}
