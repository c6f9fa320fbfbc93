import type { Connection } from '../../platform/db/database.ts'
import { type FoundPage, isBeyondCursor, type Page, paginate } from '../../platform/db/paginate.ts'
import { all } from '../../platform/db/query.ts'
import type { ledger } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
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
  'entered_on',
  'value_on',
]

/** Returns the statement that books the entries of a query, which has the members of `LedgerEntry` in their order. */
export const bookEntries = (query: string): Statement =>
  compileStatement(
    `insert into ledger (account, ${COLUMNS.join()}) select :account, * from (${query})`,
  )

/** By which of its days an entry counts: by the day of its value, or by that on which it was entered. */
export const DAYS = { value: 'value_on', entry: 'entered_on' } as const

/** Which entries a list has; null does not narrow it. */
export interface LedgerFilter {
  readonly by: keyof typeof DAYS
  readonly affiliate_id: string | null
  readonly from: string | null
  readonly to: string | null
}

/** What SQLite calls the primary key of the ledger, which has the entries of an affiliate side by side. */
const PRIMARY_KEY = 'sqlite_autoindex_ledger_1'

/** All entries, by the day on which they were entered. */
const ALL: LedgerFilter = { by: 'entry', affiliate_id: null, from: null, to: null }

/** Returns the SQL of the entries of a filter, without its days, and of its days. */
function entriesOf({ by, affiliate_id, from, to }: LedgerFilter) {
  // One affiliate has few entries: they are found by the primary key, and sorted.
  const entries =
    affiliate_id === null
      ? 'ledger where account = :account'
      : `ledger indexed by ${PRIMARY_KEY} where account = :account and affiliate_id = :affiliate_id`
  const first = from === null ? '' : ` and ${DAYS[by]} >= :from`
  const last = to === null ? '' : ` and ${DAYS[by]} <= :to`
  return { entries, first, last }
}

/** Reads one page of the entries of an account in the order of their days, the oldest first unless `isLatestFirst`. */
export function listLedger(
  db: Parameters<typeof paginate>[0],
  account: string,
  sent: Partial<LedgerFilter>,
  isLatestFirst: boolean,
  page: Page,
): Promise<FoundPage<LedgerEntry>> {
  const { by, ...filter } = { ...ALL, ...sent }
  const key = [DAYS[by], 'id', 'affiliate_id']
  const { entries, first, last } = entriesOf({ by, ...filter })
  return paginate(
    db,
    {
      columns: COLUMNS,
      from: `${entries}${first}${last}`,
      // A search has one lower and one upper bound: the cursor stands for one of them.
      fromCursor: `${entries}${isLatestFirst ? first : last} and ${isBeyondCursor(key, isLatestFirst)}`,
      key,
      descending: isLatestFirst,
      values: { account, ...filter },
    },
    page,
  )
}

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

/** Whether no transfer of a batch is under way for a statement `s`: another payment of it would be a second one. */
export const IS_NOT_UNDER_WAY = `(s.transfer is null or not exists (select 1 from transfers t
    where t.account = s.account and t.id = s.transfer and t.state in ('created', 'exported', 'accepted')))`

/** Whether a statement `s` that is due can be paid: it does not wait for its invoice, and no transfer is under way for it. */
export const IS_FREE = `(s.awaits_invoice = 0 and ${IS_NOT_UNDER_WAY})`

/** Until which day sums count, by which of the days of entries. */
export interface Until extends Pick<LedgerFilter, 'by'> {
  readonly on: string
}

/** A sum of entries in a currency, as `sumOf` returns it. */
interface CurrencySum {
  readonly currency: string
  readonly units: string
}

/** What is booked of an affiliate in a currency. */
export type BookedSum = CurrencySum & Pick<LedgerEntry, 'affiliate_id'>

/** Reads one page of the sums until a day of all affiliates, by currency. */
export function listBooked(
  db: Parameters<typeof paginate>[0],
  account: string,
  { on, by }: Until,
  page: Page,
): Promise<FoundPage<BookedSum>> {
  return paginate(
    db,
    {
      columns: ['affiliate_id', 'currency', 'units'],
      from: `(
        select affiliate_id, currency, ${sumOf('amount')} as units from ledger
        where account = :account and ${DAYS[by]} <= :on group by affiliate_id, currency) where true`,
      key: ['affiliate_id', 'currency'],
      values: { account, on },
    },
    page,
  )
}

const sumUntil = (day: string) =>
  compileStatement(`
  select currency, ${sumOf('amount')} as units from ledger
  where account = :account and ${day} <= :on group by currency order by currency`)

const SUM_UNTIL = { value: sumUntil(DAYS.value), entry: sumUntil(DAYS.entry) }

/** Returns the sums of all entries of an account until a day, by currency. */
export const sumBooked = (
  db: Connection,
  account: string,
  { on, by }: Until,
): Promise<CurrencySum[]> => all(db, SUM_UNTIL[by], { account, on })

/** Returns the sums of what was paid and of what came back on some days, by currency: what was paid is negative. */
export function sumMoved(
  db: Connection,
  account: string,
  filter: Omit<LedgerFilter, 'by'>,
): Promise<(CurrencySum & Pick<LedgerEntry, 'kind'>)[]> {
  const { entries, first, last } = entriesOf({ by: 'value', ...filter })
  const statement = compileStatement(`
    select currency, kind, ${sumOf('amount')} as units from ${entries}${first}${last}
      and kind in ('paid', 'returned') group by currency, kind`)
  return all(db, statement, { account, ...filter })
}

const SUM_BEFORE = compileStatement(`
  select l.affiliate_id, l.currency, ${sumOf('l.amount')} as units
  from ${JSON_EACH}(:affiliates) a
  cross join ledger l indexed by ${PRIMARY_KEY} on l.account = :account and l.affiliate_id = a.value
    and (l.entered_on, l.id) < (:entered_on, :id)
  group by l.affiliate_id, l.currency`)

/** Returns the sums of the entries of some affiliates that come before an entry, by currency. */
export const sumBefore = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
  { entered_on, id }: Pick<LedgerEntry, 'entered_on' | 'id'>,
): Promise<BookedSum[]> =>
  all(db, SUM_BEFORE, { account, affiliates: JSON.stringify(affiliates), entered_on, id })
