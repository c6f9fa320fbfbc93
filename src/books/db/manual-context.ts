import { type ManualEntry, OPEN_ENTRIES } from '../../ledger/db/manual-entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { only } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** Reads what is needed to check a new entry. */
const READ_MANUAL_CONTEXT = compileStatement(`
  select (select v.terms ->> 'currency' from plan_versions v
      where v.account = :account and v.plan = :plan and v.withdrawn_at is null limit 1) as currency,
    exists (select 1 from affiliates f
      where f.account = :account and f.affiliate_id = :affiliate_id) as configured,
    exists (select 1 from assignments s where s.account = :account and s.plan = :plan
      and s.affiliate_id in (:affiliate_id, '*')) as assigned,
    ${OPEN_ENTRIES} as open`)

/** What is needed to check a new entry. */
export interface ManualContext {
  /** The currency of the plan; null if there is no such plan. */
  readonly currency: string | null
  readonly configured: 0 | 1
  readonly assigned: 0 | 1
  /** The entries of the affiliate that no approved statement has. */
  readonly open: number
}

/** Reads what is needed to check a new entry of an affiliate and plan. */
export const readManualContext = (
  db: Connection,
  account: string,
  { affiliate_id, plan }: Pick<ManualEntry, 'affiliate_id' | 'plan'>,
): Promise<ManualContext> => only(db, READ_MANUAL_CONTEXT, { account, affiliate_id, plan })
