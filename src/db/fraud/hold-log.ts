import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { ulidPrefix } from '../ulid.ts'

/** Who evaluates rules, and when. */
export interface Evaluator {
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** Adds an entry to the audit log for each case that begins to hold payouts; a batch has as many as it has cases. */
const BEGUN = compileStatement(`
  insert into audit_log (id, at, actor, account, action, details)
  select :prefix || hex(randomblob(8)), :at, :actor, :account, 'fraud-case.hold', json_object(
    'case', r.value ->> 0, 'affiliate_id', r.value ->> 1, 'rule', r.value ->> 2)
  from ${JSON_EACH}(:holds) r
  where r.value ->> 3 = 'hold' and r.value ->> 4 = 'open' and not exists (
    select 1 from fraud_cases c where c.account = :account and c.id = r.value ->> 0
      and c.status = 'open' and c.action = 'hold')`)

/** Returns the statement for the holds that begin with the cases that are stored next (§17, law 4). */
export const logBegun = (
  db: D1Database,
  account: string,
  { actor, now }: Evaluator,
  holds: string,
) =>
  bindStatement(db, BEGUN, {
    ...{ account, actor, holds, at: new Date(now).toISOString(), prefix: ulidPrefix(now) },
  })
