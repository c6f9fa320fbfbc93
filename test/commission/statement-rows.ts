import { headOf } from '../books/book-rows.ts'

/** The ids of what `statementRows` stores. */
export const STATEMENT_ID = 'stm_000000000000000000000001'
export const RUN_ID = 'run_01M7W0R4W8E3V15G8XPED3Z94X'

/** Returns the statements that store a statement of an affiliate, and a run, of an account. */
export function statementRows(db: D1Database, account: string, affiliate = 'aff-7') {
  const of = { id: STATEMENT_ID, affiliate, plan: 'standard-ib', period: '2026-10' }
  const head = headOf(of, { payable_on: '2026-11-14' })
  const time = '2026-10-05T09:00:00.000Z'
  return [
    db
      .prepare(
        `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
           payable, closing, statement, lines, parts, state, read_at, computed_at)
         values (?1, '2026-10', ?2, 'standard-ib', ?3, 'draft', ?4, ?4, '0', '0', ?5, '[]', 1, '{}',
           0, ?6)`,
      )
      .bind(account, affiliate, STATEMENT_ID, 'a'.repeat(64), JSON.stringify(head), time),
    db
      .prepare(
        `insert into statement_runs (account, id, period, status, affiliates, steps,
           steps_done, started_at, active_at, ended_at)
         values (?1, ?2, '2026-10', 'done', 1, 1, 1, ?3, ?3, ?3)`,
      )
      .bind(account, RUN_ID, time),
  ]
}

/** The ids of what `bookRows` stores: a draft that can be approved, and a statement that can be paid. */
export const BOOK_DRAFT_ID = 'stm_00000000000000000000000d'
export const BOOK_APPROVED_ID = 'stm_00000000000000000000000a'
/** The hash of the draft, and the period of both. */
export const BOOK_HASH = 'd'.repeat(64)
export const BOOK_PERIOD = '2024-09'

/** Returns the statements that store books of an account, in the plan `lined`. */
export function bookRows(db: D1Database, account: string, affiliate = 'aff-7') {
  const time = '2024-10-01T09:00:00.000Z'
  const statement = (id: string, period: string, hash: string, isApproved: boolean) => {
    const sums = { lines_sum: '1.00', total: '1.00', payable: '1.00', payable_on: '2024-10-14' }
    const head = headOf({ id, affiliate, plan: 'lined', period }, sums)
    return db
      .prepare(
        `insert into statements (account, period, affiliate_id, plan, id, status, hash, digest,
           payable, closing, statement, lines, parts, state, read_at, computed_at, previous, approval,
           approved_at)
         values (?, ?, ?, 'lined', ?, ?, ?, ?, '1.00', '0', ?, '[]', 1, '{}', 4102444800000, ?, ?, ?, ?)`,
      )
      .bind(
        account,
        period,
        affiliate,
        id,
        isApproved ? 'approved' : 'draft',
        hash,
        hash,
        JSON.stringify(head),
        time,
        isApproved ? '' : 'a'.repeat(64),
        isApproved ? 'approval' : null,
        isApproved ? 1 : null,
      )
  }
  return [
    statement(BOOK_APPROVED_ID, '2024-08', 'a'.repeat(64), true),
    statement(BOOK_DRAFT_ID, BOOK_PERIOD, BOOK_HASH, false),
    db
      .prepare(
        `insert into ledger values (?1, ?2, 'earned-00001', 'earned', 'lined', '2024-08', ?3, 'EUR',
           '1.00', null, 'root-key', ?4, '2024-10-01', '2024-08-31')`,
      )
      .bind(account, affiliate, BOOK_APPROVED_ID, time),
    db
      .prepare(
        `insert into manual_entries values (?1, 'man_1', ?2, 'lined', 'EUR', '1.00', 'Bonus', ?3,
           'root-key', ?4, null, ?3)`,
      )
      .bind(account, affiliate, `of-${account}`, time),
    db
      .prepare(
        `insert into payments values (?1, ?2, ?3, 'EUR', '5.00', '2024-10-20', '[]', 'root-key', ?4)`,
      )
      .bind(account, `of-${account}`, affiliate, time),
  ]
}
