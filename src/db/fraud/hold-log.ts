import { JSON_EACH } from '../records/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { ulidPrefix } from '../ulid.ts'

// Which holds of payouts an evaluation begins and ends (§17, law 4): for the audit log, and for who has to look
// at those that ended without a decision. A case holds while it is open and its rule says so; the statements
// compare what is stored with what is written next.

/** Who evaluates rules, and when. */
export interface Evaluator {
  readonly actor: string
  /** How many persons must decide a case. If two must, a hold that ends without a decision goes on. */
  readonly persons: number
  /** In milliseconds. */
  readonly now: number
}

/** Begins the entry of a case; a batch has as many as it has cases. */
const ENTRY = `insert into audit_log (id, at, actor, account, action, details)
  select :prefix || hex(randomblob(8)), :at, :actor, :account,`

/** Returns the condition, as SQL, that a part of payouts is less than another. */
const isLess = (part: string, other: string): string =>
  `cast(${part} as real) < cast(${other} as real)`

/** The condition that a stored case `c` holds payouts until it is decided. */
export const HELD = `c.status = 'open' and c.action = 'hold'`

/** What the ends of holds have in common, as SQL. */
interface End {
  /** Why they end. */
  readonly because: string
  /** Which customer has another affiliate since. */
  readonly moved?: string
  /** Whether they go on until persons have acknowledged their end. */
  readonly holds: string
  /** The FROM and WHERE clauses of stored cases `c`. */
  readonly cases: string
}

/**
 * Returns the statements that log the ends of holds, and store that they ended. A hold that goes on holds the
 * greatest part that the case has held.
 */
const endOf = ({ because, moved = 'null', holds, cases }: End) => [
  compileStatement(`${ENTRY} 'fraud-case.release', json_object(
      'case', c.id, 'affiliate_id', c.affiliate_id, 'rule', c.rule, 'because', ${because},
      'holds', json(iif(${holds}, 'true', 'false')))
    ${cases}`),
  compileStatement(`
    insert into fraud_ended_holds (account, case_id, affiliate_id, rule, name, subject, sentence,
      because, moved, opened_at, ended_at, holds, reserve_percent)
    select c.account, c.id, c.affiliate_id, c.rule, ifnull((
        select v.terms ->> 'name' from fraud_rule_versions v
        where v.account = c.account and v.rule = c.rule and v.version = c.version), c.rule),
      c.subject, c.sentence, ${because}, ${moved}, c.opened_at, :now, ${holds}, c.reserve_percent
    ${cases}
    on conflict (account, case_id) do update set affiliate_id = excluded.affiliate_id,
      name = excluded.name, sentence = excluded.sentence, because = excluded.because,
      moved = excluded.moved, ended_at = excluded.ended_at`),
]

/** Whether another version of the rule of a case `c` applies to its last day than the one that found it. */
const IS_RULE_CHANGED = `(select v.version from fraud_rule_versions v
  where v.account = c.account and v.rule = c.rule and v.withdrawn_at is null
    and v.effective_from <= date(c.last_day * 86400, 'unixepoch')
  order by v.effective_from desc limit 1) is not c.version`

/** The rows are the ids of cases, and who moved. */
const GONE = endOf({
  because: `iif(r.value ->> 1 is null and ${IS_RULE_CHANGED}, 'rule', 'records')`,
  moved: 'r.value ->> 1',
  holds: ':persons > 1',
  cases: `from ${JSON_EACH}(:ends) r
    cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
    where ${HELD}`,
})

const EXPIRED = endOf({
  because: `'expired'`,
  holds: '0',
  cases: `from fraud_cases c where c.account = :account and ${HELD} and c.last_day < :expired_before`,
})

/** Whether a case `r` as it will be has expired by time alone: not because its last records are gone. */
const IS_EXPIRED = `(r.value ->> 4 = 'expired' and c.last_day < :expired_before)`

/**
 * The rows are the id, the affiliate, the rule, the action, the status and the part that is held of cases as
 * they will be. Where two persons must decide, a hold of a smaller part also counts as one that ended.
 */
const ENDED = endOf({
  because: `case when ${IS_EXPIRED} then 'expired' when r.value ->> 4 = 'expired'
    and not (${IS_RULE_CHANGED}) then 'records' else 'rule' end`,
  holds: `:persons > 1 and not ${IS_EXPIRED}`,
  cases: `from ${JSON_EACH}(:holds) r
    cross join fraud_cases c on c.account = :account and c.id = r.value ->> 0
    where ${HELD} and (not (r.value ->> 3 = 'hold' and r.value ->> 4 = 'open')
      or :persons > 1 and ${isLess('r.value ->> 5', 'c.reserve_percent')})`,
})

const BEGUN = [
  compileStatement(`${ENTRY} 'fraud-case.hold', json_object(
      'case', r.value ->> 0, 'affiliate_id', r.value ->> 1, 'rule', r.value ->> 2)
    from ${JSON_EACH}(:holds) r
    where r.value ->> 3 = 'hold' and r.value ->> 4 = 'open' and not exists (
      select 1 from fraud_cases c where c.account = :account and c.id = r.value ->> 0 and ${HELD})`),
  compileStatement(`
    delete from fraud_ended_holds as e where e.account = :account and exists (
      select 1 from ${JSON_EACH}(:holds) r
      where r.value ->> 0 = e.case_id and r.value ->> 3 = 'hold' and r.value ->> 4 = 'open'
        and (e.holds = 0 or not ${isLess('r.value ->> 5', 'e.reserve_percent')}))`),
]

/** Returns a function that binds statements for an account. */
function binderFor(db: D1Database, account: string, { actor, persons, now }: Evaluator) {
  const values = {
    account,
    actor,
    persons,
    now,
    at: new Date(now).toISOString(),
    prefix: ulidPrefix(now),
  }
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
export const logStored = (
  db: D1Database,
  account: string,
  by: Evaluator,
  holds: string,
  expired_before: number,
) => binderFor(db, account, by)([...ENDED, ...BEGUN], { holds, expired_before })
