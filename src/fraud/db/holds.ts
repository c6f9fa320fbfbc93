import { IS_DUE, IS_FREE } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { first } from '../../platform/db/query.ts'
import type { fraudCases } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'
import type { Money } from '../../platform/money/sums.ts'

/** Whether a case `h` holds payouts: the condition of the partial index `fraud_cases_holding`. */
const HOLDS = `(h.action = 'hold' and h.status = 'open' or h.keep_hold = 1)`

/** A case that holds payouts of its affiliate. */
export type HoldingCase = Pick<typeof fraudCases.$inferSelect, 'id' | 'affiliate_id'>

/** What has to be paid of a statement. */
export interface HeldStatement extends Money {
  readonly affiliate_id: string
}

/** The cases `h` that hold payouts of some affiliates. */
const HOLDING = `${JSON_EACH}(:affiliates) a
  cross join fraud_cases h indexed by fraud_cases_holding
    on h.account = :account and h.affiliate_id = a.value and ${HOLDS}`

const READ_CASES = compileStatement(`select h.id, h.affiliate_id from ${HOLDING} order by h.id`)

const READ_DUE = compileStatement(`
  select s.affiliate_id, s.statement ->> 'currency' as currency, s.payable as amount
  from (select distinct h.affiliate_id from ${HOLDING}) n
  cross join statements s indexed by statements_due on s.account = :account
    and s.affiliate_id = n.affiliate_id and ${IS_DUE} and ${IS_FREE}`)

/** Reads the cases that hold payouts of some affiliates, in order of id, and what has to be paid to the affiliates of these. */
export function readStoredHolds(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<readonly [HoldingCase[], HeldStatement[]]> {
  const values = { account, affiliates: JSON.stringify(affiliates) }
  return readBatch<[HoldingCase[], HeldStatement[]]>(db, [
    bindStatement(db, READ_CASES, values),
    bindStatement(db, READ_DUE, values),
  ])
}

/** Returns the condition that a case holds the payouts of an affiliate. */
export const isHeld = (affiliate: string) =>
  `exists (select 1 from fraud_cases h indexed by fraud_cases_holding
    where h.account = :account and h.affiliate_id = ${affiliate} and ${HOLDS})`

const FIND_ANY = compileStatement(`
  select exists (select 1 from fraud_cases h indexed by fraud_cases_holding
    where h.account = :account and ${HOLDS}) as is_held`)

/** Returns whether any payouts of an account are held, or will be once something is payable. */
export const holdsAny = async (db: Connection, account: string): Promise<boolean> =>
  (await first<{ is_held: number }>(db, FIND_ANY, { account }))?.is_held === 1

/** The name of the rule that found a case last, as SQL; `c` is the case. */
export const CASE_NAME = `(select v.terms ->> 'name' from fraud_rule_versions v
  where v.account = c.account and v.rule = c.rule and v.version = c.version) as name`
