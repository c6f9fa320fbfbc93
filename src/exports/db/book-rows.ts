import type { Connection } from '../../platform/db/database.ts'
import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import type { ExportPage } from './record-rows.ts'

/** A month or period of the books, and a text that differs if anything of it has changed. */
export interface SignedMonth {
  readonly month: string
  readonly sign: string
}

/**
 * Reads the periods with statements. A draft that is written or replaced has another `read_at`, an approval sets
 * `approved_at`, a payment adds to `payments`, and one that comes back to the table of returns.
 */
const SIGN_PERIODS = compileStatement(`
  select period as month, json_array(count(*), sum(read_at), sum(approved_at), count(payment),
    (select count(*) from payment_returns where account = :account)) as sign
  from statements where account = :account and statement is not null
  group by period order by period`)

/** Returns the periods (`2026-10`, `2026-W41`) with statements. */
export const signPeriods = (db: Connection, account: string): Promise<SignedMonth[]> =>
  all(db, SIGN_PERIODS, { account })

/** Entries are only ever added. */
const SIGN_LEDGER = compileStatement(`
  select substr(at, 1, 7) as month, cast(count(*) as text) as sign
  from ledger where account = :account group by 1 order by 1`)

/** Returns the months with entries of the ledger, by the time of the entries. */
export const signLedger = (db: Connection, account: string): Promise<SignedMonth[]> =>
  all(db, SIGN_LEDGER, { account })

/** Payments never change; their returns are added. */
const SIGN_PAYMENTS = compileStatement(`
  select substr(p.paid_on, 1, 7) as month, json_array(count(*), count(r.payment)) as sign
  from payments p left join payment_returns r on r.account = p.account and r.payment = p.reference
  where p.account = :account group by 1 order by 1`)

/** Returns the months with payments, by the day of payment. */
export const signPayments = (db: Connection, account: string): Promise<SignedMonth[]> =>
  all(db, SIGN_PAYMENTS, { account })

const READ_LEDGER = compileStatement(`
  select affiliate_id, id, kind, plan, period, statement, currency, amount, reference, actor, at,
    entered_on, value_on
  from ledger
  where account = :account and (affiliate_id, id) > (:after_0, :after_1) and substr(at, 1, 7) = :month
  order by affiliate_id, id limit :limit`)

const READ_PAYMENTS = compileStatement(`
  select p.reference, p.affiliate_id, p.currency, p.amount, p.paid_on, p.statements, p.actor, p.at,
    r.returned_on, r.reason as return_reason
  from payments p left join payment_returns r on r.account = p.account and r.payment = p.reference
  where p.account = :account and p.reference > :after_0 and substr(p.paid_on, 1, 7) = :month
  order by p.reference limit :limit`)

const READ_AFFILIATES = compileStatement(`
  select affiliate_id, parent, status, language, display_name, contact_email
  from affiliates where account = :account and affiliate_id > :after_0
  order by affiliate_id limit :limit`)

const PAGES = {
  ledger: { statement: READ_LEDGER, key: ['affiliate_id', 'id'] },
  payments: { statement: READ_PAYMENTS, key: ['reference'] },
  affiliates: { statement: READ_AFFILIATES, key: ['affiliate_id'] },
} as const

/** The rows of the books that are read from one table. */
export type BookTable = keyof typeof PAGES

/** Reads the next rows of a table of the books: those of a month, or all affiliates. */
export async function readBookPage(
  db: Connection,
  table: BookTable,
  account: string,
  { month, after, limit }: { month: string; after: readonly string[] | null; limit: number },
): Promise<ExportPage<string[]>> {
  const { statement, key } = PAGES[table]
  const place = Object.fromEntries(key.map((_, i) => [`after_${i}`, after?.[i] ?? '']))
  const values = { account, month, limit, ...place }
  const rows = await all<Record<string, unknown>>(db, statement, values)
  const last = rows.at(-1)
  const isFull = rows.length === limit && last !== undefined
  return { rows, next: isFull ? key.map((name) => String(last[name])) : null }
}
