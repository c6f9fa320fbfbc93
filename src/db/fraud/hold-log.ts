import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { ulidPrefix } from '../ulid.ts'

// Which holds of payouts an evaluation begins and ends (§17, law 4): for the audit log, and for who has to look
// at those that ended without a decision. A case holds while it is open and its rule says so; the statements
// compare what is stored with what is written next.

/** Who evaluates rules, and when. */
export interface Evaluator {
  readonly actor: string
  /** In milliseconds. */
  readonly now: number
}

/** Begins the entry of a case; a batch has as many as it has cases. */
const ENTRY = `insert into audit_log (id, at, actor, account, action, details)
  select :prefix || hex(randomblob(8)), :at, :actor, :account,`

/** The condition that a stored case `c` holds payouts until it is decided. */
export const HELD = `c.status = 'open' and c.action = 'hold'`

/**
 * Returns the statements that log the ends of the holds of stored cases `c`, and store that they ended.
 *
 * @param because Why, as SQL.
 * @param moved Which customer has another affiliate since, as SQL.
 * @param cases The FROM and WHERE clauses.
 */
const endOf = (because: string, moved: string, cases: string) => [
  compileStatement(`${ENTRY} 'fraud-case.release', json_object(
      'case', c.id, 'affiliate_id', c.affiliate_id, 'rule', c.rule, 'because', ${because})
    ${cases}`),
  compileStatement(`
    insert into fraud_ended_holds (account, case_id, affiliate_id, rule, name, subject, sentence,
      because, moved, opened_at, ended_at)
    select c.account, c.id, c.affiliate_id, c.rule, ifnull((
        select v.terms ->> 'name' from fraud_rule_versions v
        where v.account = c.account and v.rule = c.rule and v.version = c.version), c.rule),
      c.subject, c.sentence, ${because}, ${moved}, c.opened_at, :now
    ${cases}
    on conflict (account, case_id) do update set affiliate_id = excluded.affiliate_id,
      name = excluded.name, sentence = excluded.sentence, because = excluded.because,
      moved = excluded.moved, ended_at = excluded.ended_at`),
]

/** The rows are the ids of cases, and who moved. */
const GONE = endOf(
  `'records'`,
  'r.value ->> 1',
  `from ${JSON_EACH}(:ends) r
    cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
    where ${HELD}`,
)

const EXPIRED = endOf(
  `'expired'`,
  'null',
  `from fraud_cases c where c.account = :account and ${HELD} and c.last_day < :expired_before`,
)

/** The rows are the id, the affiliate, the rule, the action and the status of cases as they will be. */
const ENDED = endOf(
  `iif(r.value ->> 4 = 'expired', 'expired', 'rule')`,
  'null',
  `from ${JSON_EACH}(:holds) r
    cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
    where ${HELD} and not (r.value ->> 3 = 'hold' and r.value ->> 4 = 'open')`,
)

const BEGUN = [
  compileStatement(`${ENTRY} 'fraud-case.hold', json_object(
      'case', r.value ->> 0, 'affiliate_id', r.value ->> 1, 'rule', r.value ->> 2)
    from ${JSON_EACH}(:holds) r
    where r.value ->> 3 = 'hold' and r.value ->> 4 = 'open' and not exists (
      select 1 from fraud_cases c where c.account = :account and c.id = r.value ->> 0 and ${HELD})`),
  compileStatement(`
    delete from fraud_ended_holds where account = :account and case_id in (
      select r.value ->> 0 from ${JSON_EACH}(:holds) r
      where r.value ->> 3 = 'hold' and r.value ->> 4 = 'open')`),
]

/** Returns a function that binds statements for an account. */
function binderFor(db: D1Database, account: string, { actor, now }: Evaluator) {
  const values = { account, actor, now, at: new Date(now).toISOString(), prefix: ulidPrefix(now) }
  return (statements: readonly Statement[], more: object) =>
    statements.map((one) => bindStatement(db, one, { ...values, ...more }))
}

/** Returns the statements for the holds of cases which are deleted next. `ends` is a JSON array of rows. */
export const logGone = (db: D1Database, account: string, by: Evaluator, ends: string) =>
  binderFor(db, account, by)(GONE, { ends })

/** Returns the statements for the holds of cases which expire next. */
export const logExpired = (
  db: D1Database,
  account: string,
  by: Evaluator,
  expired_before: number,
) => binderFor(db, account, by)(EXPIRED, { expired_before })

/** Returns the statements for the holds that begin and end with the cases that are stored next. */
export const logStored = (db: D1Database, account: string, by: Evaluator, holds: string) =>
  binderFor(db, account, by)([...ENDED, ...BEGUN], { holds })
