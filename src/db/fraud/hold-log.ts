import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { ulidPrefix } from '../ulid.ts'

// Which holds of payouts an evaluation begins and ends, for the audit log (§17, law 4). A case holds while it
// is open and its rule says so; the statements compare what is stored with what is written next.

/** Who evaluates rules, and when. */
export interface Evaluator {
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** Begins the entry of a case; a batch has as many as it has cases. */
const ENTRY = `insert into audit_log (id, at, actor, account, action, details)
  select :prefix || hex(randomblob(8)), :at, :actor, :account,`

const HELD = `c.status = 'open' and c.action = 'hold'`

/** The entry of a stored case `c` whose hold ends. */
const releaseBecause = (because: string): string => `${ENTRY} 'fraud-case.release', json_object(
    'case', c.id, 'affiliate_id', c.affiliate_id, 'rule', c.rule, 'because', ${because})`

const LOG_GONE = compileStatement(`${releaseBecause(`'records'`)}
  from ${JSON_EACH}(:ids) r
  cross join fraud_cases c on c.account = :account and c.id = r.value
  where ${HELD}`)

const LOG_EXPIRED = compileStatement(`${releaseBecause(`'expired'`)}
  from fraud_cases c where c.account = :account and ${HELD} and c.last_day < :expired_before`)

/** The rows are the id, the affiliate, the rule, the action and the status of cases as they will be. */
const LOG_ENDED = compileStatement(`
  ${releaseBecause(`iif(r.value ->> 4 = 'expired', 'expired', 'rule')`)}
  from ${JSON_EACH}(:holds) r
  cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
  where ${HELD} and not (r.value ->> 3 = 'hold' and r.value ->> 4 = 'open')`)

const LOG_BEGUN = compileStatement(`${ENTRY} 'fraud-case.hold', json_object(
    'case', r.value ->> 0, 'affiliate_id', r.value ->> 1, 'rule', r.value ->> 2)
  from ${JSON_EACH}(:holds) r
  where r.value ->> 3 = 'hold' and r.value ->> 4 = 'open' and not exists (
    select 1 from fraud_cases c where c.account = :account and c.id = r.value ->> 0 and ${HELD})`)

/** Returns a function that binds the statements for an account. */
function binderFor(db: D1Database, account: string, { actor, now }: Evaluator) {
  const values = { account, actor, at: new Date(now).toISOString(), prefix: ulidPrefix(now) }
  return (statement: Statement, more: object) =>
    bindStatement(db, statement, { ...values, ...more })
}

/** Returns the statement that logs the holds of cases which are deleted next. `ids` is a JSON array. */
export const logGone = (db: D1Database, account: string, by: Evaluator, ids: string) =>
  binderFor(db, account, by)(LOG_GONE, { ids })

/** Returns the statement that logs the holds of cases which expire next. */
export const logExpired = (
  db: D1Database,
  account: string,
  by: Evaluator,
  expired_before: number,
) => binderFor(db, account, by)(LOG_EXPIRED, { expired_before })

/** Returns the statements that log which holds begin and end with the cases that are stored next. */
export const logStored = (db: D1Database, account: string, by: Evaluator, holds: string) =>
  [LOG_ENDED, LOG_BEGUN].map((one) => binderFor(db, account, by)(one, { holds }))
