import type { Connection } from '../database.ts'
import { LIST_LIMITS } from '../paginate.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'
import { sumOf } from './books/ledger.ts'
import type { StatementFilter } from './statements.ts'

/** The statements of a plan with the same status, added up. Sums are as `sumOf` returns them. */
export interface SummedStatements {
  readonly plan: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly currency: string
  readonly statements: number
  /** The statements with records that wait for a rate or a currency. */
  readonly with_holds: number
  readonly total: string
  readonly payable: string
  readonly closing: string
}

/** Adds up the statements that a filter matches: at most 100,000, the first by period. */
export const SUM_STATEMENTS = compileStatement(`
  with chosen as (
    select plan, status, statement ->> 'currency' as currency, statement ->> 'total' as total,
      statement ->> 'payable' as payable, statement ->> 'closing' as closing,
      json_array_length(statement, '$.holds') > 0 as has_holds
    from statements
    where account = :account and statement is not null
      and period between ifnull(:period, '') and ifnull(:period, '~')
      and (:affiliate_id is null or affiliate_id = :affiliate_id)
      and (:plan is null or plan = :plan) and (:status is null or status = :status)
    order by period, affiliate_id, plan limit :limit
  )
  select plan, status, currency, count(*) as statements, sum(has_holds) as with_holds,
    ${sumOf('total')} as total, ${sumOf('payable')} as payable, ${sumOf('closing')} as closing
  from chosen group by plan, status, currency
  order by plan, case status when 'draft' then 1 when 'approved' then 2 else 3 end, currency`)

/** Adds up the statements that a filter matches, by plan and status. */
export async function sumStatements(
  db: Connection,
  account: string,
  filter: StatementFilter,
): Promise<SummedStatements[]> {
  const nothing = { affiliate_id: null, period: null, plan: null, status: null }
  const values = { account, ...nothing, ...filter, limit: LIST_LIMITS.total }
  return all<SummedStatements>(db, SUM_STATEMENTS, values)
}
