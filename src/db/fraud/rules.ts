import { encode } from '../column-types.ts'
import { type FoundPage, type Page, paginate } from '../paginate.ts'
import { all } from '../query.ts'
import { MARK_DAYS } from '../records/changed.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { customers, type fraudRuleVersions } from '../schema.ts'
import { bindStatement, compileStatement, readBatch, type Statement } from '../statement.ts'

type Row = typeof fraudRuleVersions.$inferSelect

/** A version of a fraud rule that is not withdrawn; `terms` is JSON. */
export type StoredRuleVersion = Pick<Row, 'rule' | 'version' | 'effective_from' | 'terms'>

const READ_VERSIONS = compileStatement(`
  select rule, version, effective_from, terms from fraud_rule_versions
  where account = :account and withdrawn_at is null order by rule, effective_from`)

/** Returns the versions of all fraud rules of an account that are not withdrawn, by rule and first day. */
export const readRuleRows = (db: D1Database, account: string): Promise<StoredRuleVersion[]> =>
  all<StoredRuleVersion>(db, READ_VERSIONS, { account })

const LAST_VERSION = compileStatement(`
  select ifnull(max(version), 0) as last from fraud_rule_versions
  where account = :account and rule = :rule`)

/** What an account has stored before a fraud rule is put. */
export interface StoredRules {
  /** The versions of all its rules that are not withdrawn, by rule and first day. */
  readonly versions: readonly StoredRuleVersion[]
  /** The number of the last version of the rule, withdrawn ones included; 0 if it is new. */
  readonly last: number
}

/** Reads what is needed to put a fraud rule, or to disable it. */
export async function readRuleVersions(
  db: D1Database,
  account: string,
  rule: string,
): Promise<StoredRules> {
  type Lists = [versions: StoredRuleVersion[], last: [{ last: number }]]
  const bind = (statement: Statement) => bindStatement(db, statement, { account, rule })
  const [versions, [{ last }]] = await readBatch<Lists>(db, [
    bind(READ_VERSIONS),
    bind(LAST_VERSION),
  ])
  return { versions, last }
}

/** A version of a fraud rule without its scope and parameters, for lists. */
export type RuleHead = Omit<Row, 'account' | 'terms'> & {
  name: string
  kind: string
  severity: 'low' | 'medium' | 'high'
  action: 'flag' | 'hold'
  disabled: number
}

const LIST_VERSIONS = compileStatement(`
  select rule, version, effective_from, created_at, withdrawn_at, terms ->> 'name' as name,
    terms ->> 'kind' as kind, terms ->> 'severity' as severity, terms ->> 'action' as action,
    terms ->> 'disabled' as disabled
  from fraud_rule_versions
  where account = :account and rule between ifnull(:rule, '') and ifnull(:rule, char(0x10ffff))
  order by rule, version`)

/** Returns the versions of one fraud rule, or of all if `rule` is null, withdrawn ones included. */
export const listRuleVersions = (
  db: D1Database,
  account: string,
  rule: string | null,
): Promise<RuleHead[]> => all<RuleHead>(db, LIST_VERSIONS, { account, rule })

const READ_TERMS = compileStatement(`
  select f.rule, f.version, f.effective_from, f.terms
  from ${JSON_EACH}(:named) as e cross join fraud_rule_versions as f on f.account = :account
    and f.rule = e.value ->> 0 and f.version = e.value ->> 1`)

/** Returns versions of fraud rules with their terms, in any order. Those that do not exist are left out. */
export const readNamedVersions = (
  db: D1Database,
  account: string,
  named: readonly (readonly [rule: string, version: number])[],
): Promise<StoredRuleVersion[]> =>
  all<StoredRuleVersion>(db, READ_TERMS, { account, named: JSON.stringify(named) })

/** Reads one page of the versions of a fraud rule with their terms, the latest first. */
export const pageRuleVersions = (
  db: D1Database,
  account: string,
  rule: string,
  page: Page,
): Promise<FoundPage<Omit<Row, 'account'>>> =>
  paginate(
    db,
    {
      columns: ['rule', 'version', 'effective_from', 'terms', 'created_at', 'withdrawn_at'],
      from: 'fraud_rule_versions where account = :account and rule = :rule',
      key: ['version'],
      descending: true,
      values: { account, rule },
      limitsBytes: true,
    },
    page,
  )

const FIND_VERSION = compileStatement(`
  select rule, version, effective_from, terms, created_at, withdrawn_at from fraud_rule_versions
  where account = :account and rule = :rule and version = :version`)

/** Returns a version of a fraud rule, also a withdrawn one; null if there is none. */
export const findRuleVersion = (
  db: D1Database,
  account: string,
  rule: string,
  version: number,
): Promise<Omit<Row, 'account'> | null> =>
  withD1Retry(() => bindStatement(db, FIND_VERSION, { account, rule, version }).first())

const INSERT_VERSION = compileStatement(`
  insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
  values (:account, :rule, :version, :effective_from, :terms, :created_at)`)

/**
 * Inserts a version, from whose first day on the rules are evaluated again. The statements fail if its number or its
 * first day is taken.
 */
export const insertRuleVersion = (db: D1Database, row: Omit<Row, 'withdrawn_at'>) => [
  bindStatement(db, INSERT_VERSION, row),
  bindStatement(db, MARK_DAYS, {
    ...{ account: row.account, resource: 'fraud-rules' },
    days: JSON.stringify([encode(customers.day, row.effective_from)]),
  }),
]

/** Text that is not valid JSON: `json()` of it aborts the batch. See `isAssertionFailure`. */
const NOT_JSON = 'in force'

const REJECT_IN_FORCE = compileStatement(`
  select json('${NOT_JSON}') from fraud_rule_versions
  where account = :account and rule = :rule and version = :version and withdrawn_at is null
    and effective_from < :today`)

const WITHDRAW_VERSION = compileStatement(`
  update fraud_rule_versions set withdrawn_at = :withdrawn_at
  where account = :account and rule = :rule and version = :version and withdrawn_at is null`)

/** Withdraws a version. The statements fail if it began before today. */
export const withdrawRuleVersion = (
  db: D1Database,
  version: Pick<Row, 'account' | 'rule' | 'version'> & { today: string; withdrawn_at: string },
) => [bindStatement(db, REJECT_IN_FORCE, version), bindStatement(db, WITHDRAW_VERSION, version)]

const IS_NEW = 'not exists (select 1 from audit_log where id = :audit)'

const WITHDRAW_FROM = compileStatement(`
  update fraud_rule_versions set withdrawn_at = :now
  where account = :account and rule = :rule and withdrawn_at is null and effective_from >= :from
    and ${IS_NEW}`)

const INSERT_NEXT = compileStatement(`
  insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
  select :account, :rule, max(version) + 1, :from, :terms, :now from fraud_rule_versions
  where account = :account and rule = :rule having ${IS_NEW}`)

/**
 * Withdraws the versions of a fraud rule that begin on a day or later, and inserts one that begins on this
 * day unless `terms` is null. If the answer of the batch is lost, sending it again changes nothing: `audit`
 * is the id of its entry in the audit log.
 */
export function replaceRuleFrom(
  db: D1Database,
  values: Pick<Row, 'account' | 'rule'> & { from: string; now: string; audit: string },
  terms: string | null,
): D1PreparedStatement[] {
  const withdraw = bindStatement(db, WITHDRAW_FROM, values)
  return terms === null
    ? [withdraw]
    : [withdraw, bindStatement(db, INSERT_NEXT, { ...values, terms })]
}

const CLEAR = compileStatement('delete from fraud_rule_versions where account = :account')

const INSERT_FIRST = compileStatement(`
  insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
  select :account, value ->> 0, 1, :effective_from, value ->> 1, :created_at from ${JSON_EACH}(:rows)`)

/**
 * Gives an account that does not exist yet its first rules, as pairs of a rule and its terms. Rules that an
 * attempt to create it has left behind are deleted.
 */
export const insertFirstRules = (
  db: D1Database,
  values: Pick<Row, 'account' | 'effective_from' | 'created_at'>,
  rules: readonly (readonly [rule: string, terms: string])[],
) => [
  bindStatement(db, CLEAR, values),
  bindStatement(db, INSERT_FIRST, { ...values, rows: JSON.stringify(rules) }),
]
