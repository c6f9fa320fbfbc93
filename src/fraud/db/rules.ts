import { MARK_DAYS } from '../../ingest/db/changed.ts'
import { dayNumber } from '../../platform/db/column-types.ts'
import { all } from '../../platform/db/query.ts'
import type { fraudRuleVersions } from '../../platform/db/schema.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { requiredChange } from '../../platform/directory/audit.ts'

type Row = typeof fraudRuleVersions.$inferSelect

/** A version of a fraud rule; `terms` is JSON. */
export type StoredRuleVersion = Omit<Row, 'account'>

const READ_VERSIONS = compileStatement(`
  select rule, version, effective_from, terms, created_at from fraud_rule_versions
  where account = :account and rule between ifnull(:rule, '') and ifnull(:rule, char(0x10ffff))
  order by rule, version`)

/** Returns the versions of one fraud rule of an account, or of all, by rule and number. */
export const readRuleRows = (
  db: D1Database,
  account: string,
  rule: string | null = null,
): Promise<StoredRuleVersion[]> => all<StoredRuleVersion>(db, READ_VERSIONS, { account, rule })

const INSERT_VERSION = compileStatement(`
  insert into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
  select :account, :rule, :version, :effective_from, :terms, :created_at
  where :version = 1 or exists (select 1 from fraud_rule_versions
    where account = :account and rule = :rule and version = :version - 1)`)

/**
 * Inserts a version, from whose first day on the rules are evaluated again. The statements fail if its number is taken,
 * or if the one before is gone.
 */
export const insertRuleVersion = (db: D1Database, row: Row) => [
  ...requiredChange(db, INSERT_VERSION, row),
  bindStatement(db, MARK_DAYS, {
    account: row.account,
    resource: 'fraud-rules',
    days: JSON.stringify([dayNumber(row.effective_from)]),
  }),
]

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
