import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import type { ledger } from '../../platform/db/schema.ts'
import { compileStatement, type Statement } from '../../platform/db/statement.ts'
import { LIMB_DIGITS } from '../../platform/money/money.ts'

/** An entry of the ledger. */
export type LedgerEntry = Omit<typeof ledger.$inferSelect, 'account'>

const COLUMNS = [
  'affiliate_id',
  'id',
  'kind',
  'plan',
  'period',
  'statement',
  'currency',
  'amount',
  'reference',
  'actor',
  'at',
]

/** Returns the statement that books the entries of a query, which has the members of `LedgerEntry` in their order. */
export const bookEntries = (query: string): Statement =>
  compileStatement(
    `insert into ledger (account, ${COLUMNS.join()}) select :account, * from (${query})`,
  )

/** Reads one page of the entries of an affiliate, the oldest first unless `isLatestFirst`. */
export const listLedger = (
  db: Parameters<typeof paginate>[0],
  account: string,
  affiliate_id: string,
  isLatestFirst: boolean,
  page: Page,
): Promise<FoundPage<LedgerEntry>> =>
  paginate(
    db,
    {
      columns: COLUMNS,
      from: 'ledger where account = :account and affiliate_id = :affiliate_id',
      key: ['id'],
      descending: isLatestFirst,
      values: { account, affiliate_id },
    },
    page,
  )

/** The limbs of an amount: up to 48 digits. A sum of longer ones would not be exact. */
const LIMBS = 4

/**
 * Returns the SQL of the sum of decimal texts of one currency, which all have the same number of decimal
 * places. SQLite's integers have 64 bits, so the SQL sums each limb of the amounts and returns the sums
 * as one text, the lowest limb last. `fromUnits` reads this text.
 */
export function sumOf(amount: string): string {
  const digits = `replace(replace(${amount}, '-', ''), '.', '')`
  const limbs = Array.from({ length: LIMBS }, (_, i) => {
    const limb = `substr(${digits}, ${(i - LIMBS) * LIMB_DIGITS}, ${LIMB_DIGITS})`
    return `sum(iif(${amount} glob '-*', -1, 1) * cast(${limb} as integer))`
  })
  return limbs.join(" || ' ' || ")
}

/** Whether a row of `statements` is to be paid: the condition of the partial index `statements_due`. */
export const IS_DUE = `status = 'approved' and payable glob '*[1-9]*'`

/**
 * Whether no transfer of a batch is under way for a statement `s`: another payment of it would be a second one.
 */
export const IS_FREE = `(s.transfer is null or not exists (select 1 from transfers t
    where t.account = s.account and t.id = s.transfer and t.state in ('created', 'exported', 'accepted')))`

/** A statement that has to be paid. */
export interface DueStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly payable: string
}

/** A statement that has to be paid, and the day from which it is. */
export interface PayableStatement extends DueStatement {
  readonly payable_on: string
}

/** What is booked of an affiliate until a time. */
export interface BookedSums {
  readonly affiliate_id: string
  /** A JSON array of each currency with its sum as `sumOf` returns it. */
  readonly sums: string
}

/** Reads one page of the sums of all affiliates with entries before a time, an ISO instant. */
export function listBooked(
  db: Parameters<typeof paginate>[0],
  account: string,
  end: string,
  page: Page,
): Promise<FoundPage<BookedSums>> {
  const entries = `from ledger l
    where l.account = :account and l.affiliate_id = a.affiliate_id and l.at < :end`
  const affiliates = (from: string) => `(
      select distinct affiliate_id from ledger where account = :account ${from}
    ) a where exists (select 1 ${entries})`
  return paginate(
    db,
    {
      columns: [
        'affiliate_id',
        `(select json_group_array(json_array(currency, units)) from (
          select l.currency, ${sumOf('l.amount')} as units ${entries} group by l.currency)) as sums`,
      ],
      from: affiliates(''),
      fromCursor: affiliates('and affiliate_id > :after_0'),
      key: ['affiliate_id'],
      values: { account, end },
    },
    page,
  )
}
