/** The ids of what `statementRows` stores. */
export const STATEMENT_ID = 'stm_000000000000000000000001'
export const RUN_ID = 'run_01M7W0R4W8E3V15G8XPED3Z94X'

/** Returns the statements that store a statement of an affiliate, and a run, of an account. */
export function statementRows(db: D1Database, account: string, affiliate = 'aff-7') {
  const zero = '0.00'
  const head = {
    ...{ id: STATEMENT_ID, affiliate_id: affiliate, plan: 'standard-ib', period: '2026-10' },
    ...{ currency: 'EUR', opening: zero, lines_sum: zero, adjustments_sum: zero, manual_sum: zero },
    ...{ total: zero, payable: zero, closing: zero },
    ...{
      dropped: zero,
      transferred: null,
      received: [],
      holds: [],
      manual: [],
      lines_total: 0,
      adjustments_total: 0,
    },
    payable_on: '2026-11-14',
  }
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
        `insert into statement_runs (account, id, period, status, affiliates, steps, changed,
           started_at, ended_at)
         values (?1, ?2, '2026-10', 'done', 1, 1, 1, ?3, ?3)`,
      )
      .bind(account, RUN_ID, time),
  ]
}
