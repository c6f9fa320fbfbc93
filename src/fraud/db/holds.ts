import { IS_DUE, IS_FREE, type PayableStatement } from '../../ledger/db/entries.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, first } from '../../platform/db/query.ts'
import type { fraudCases } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, readBatch } from '../../platform/db/statement.ts'

/** Whether a case `h` holds payouts: the condition of the partial index `fraud_cases_holding`. */
const HOLDS = `(h.action = 'hold' and h.status = 'open' or h.keep_hold = 1)`

/** A case that holds payouts of its affiliate. */
export type HoldingCase = Pick<typeof fraudCases.$inferSelect, 'id' | 'affiliate_id'>

/** The cases `h` that hold payouts of some affiliates. */
const HOLDING = `${JSON_EACH}(:affiliates) a
  cross join fraud_cases h indexed by fraud_cases_holding
    on h.account = :account and h.affiliate_id = a.value and ${HOLDS}`

const READ_CASES = compileStatement(`select h.id, h.affiliate_id from ${HOLDING} order by h.id`)

/** Returns the SQL that reads what has to be paid to the affiliates of a query with the column `affiliate_id`. */
export const selectDue = (affiliates: string) => `
  select s.id, s.affiliate_id, s.plan, s.period, s.statement ->> 'currency' as currency, s.payable,
    s.statement ->> 'payable_on' as payable_on
  from (${affiliates}) n
  cross join statements s indexed by statements_due on s.account = :account
    and s.affiliate_id = n.affiliate_id and ${IS_DUE} and ${IS_FREE}`

const READ_DUE = compileStatement(selectDue(`select distinct h.affiliate_id from ${HOLDING}`))

/** Reads the cases that hold payouts of some affiliates, in order of id, and what has to be paid to the affiliates of these. */
export function readStoredHolds(
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<readonly [HoldingCase[], PayableStatement[]]> {
  const values = { account, affiliates: JSON.stringify(affiliates) }
  return readBatch<[HoldingCase[], PayableStatement[]]>(db, [
    bindStatement(db, READ_CASES, values),
    bindStatement(db, READ_DUE, values),
  ])
}

/** Returns the condition that a case holds the payouts of an affiliate. */
export const isHeld = (affiliate: string) =>
  `exists (select 1 from fraud_cases h indexed by fraud_cases_holding
    where h.account = :account and h.affiliate_id = ${affiliate} and ${HOLDS})`

/** What a payment has seen of the holds of an affiliate: the ids of its cases, in order. */
export interface SeenHolds {
  readonly affiliate_id: string
  readonly cases: readonly string[]
}

/** Whether the cases that hold an affiliate differ from those that were seen, which the row `e` has. */
export const HOLDS_CHANGED = `(
    (select json_group_array(id) from (
      select h.id from fraud_cases h indexed by fraud_cases_holding
      where h.account = :account and h.affiliate_id = e.value ->> 0 and ${HOLDS} order by h.id
    )) is not e.value -> 1)`

/** Returns what was seen of holds as the rows of that condition. */
export const rowsOfSeen = (seen: readonly SeenHolds[]): string =>
  JSON.stringify(seen.map(({ affiliate_id, cases }) => [affiliate_id, cases]))

const FIND_ANY = compileStatement(`
  select exists (select 1 from fraud_cases h indexed by fraud_cases_holding
    where h.account = :account and ${HOLDS}) as is_held`)

/** Returns whether any payouts of an account are held, or will be once something is payable. */
export const holdsAny = async (db: Connection, account: string): Promise<boolean> =>
  (await first<{ is_held: number }>(db, FIND_ANY, { account }))?.is_held === 1

/** The name of the rule that found a case last, as SQL; `c` is the case. */
export const CASE_NAME = `(select v.terms ->> 'name' from fraud_rule_versions v
  where v.account = c.account and v.rule = c.rule and v.version = c.version) as name`

/** A case that a person should know of before they pay its affiliate. */
export interface OpenCase
  extends Pick<typeof fraudCases.$inferSelect, 'affiliate_id' | 'id' | 'severity' | 'sentence'> {
  readonly name: string
}

/** The most cases that are named of an affiliate. */
const NAMED_OPEN = 3

/** The order of severities, the greatest first. */
const BY_SEVERITY = `case severity when 'high' then 1 when 'medium' then 2 else 3 end`

const READ_OPEN = compileStatement(`
  select c.affiliate_id, c.id, c.severity, ${CASE_NAME}, c.sentence
  from ${JSON_EACH}(:affiliates) a
  cross join fraud_cases c on c.account = :account and c.id in (
    select id from fraud_cases indexed by fraud_cases_position
    where account = :account and affiliate_id = a.value and status = 'open'
    order by ${BY_SEVERITY}, opened_for desc, id desc limit ${NAMED_OPEN})
  order by c.affiliate_id, ${BY_SEVERITY}, c.opened_for desc, c.id desc`)

/** Reads the most severe open cases of some affiliates, the latest first, whether they hold payouts or not. */
export const readOpenCases = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<OpenCase[]> =>
  all<OpenCase>(db, READ_OPEN, { account, affiliates: JSON.stringify(affiliates) })
