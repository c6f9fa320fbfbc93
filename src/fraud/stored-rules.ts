import { readRuleRows, type StoredRuleVersion } from './db/rules.ts'
import type { RuleTerms } from './rules.ts'

/** A version of a fraud rule. It applies from its first day on, until the first day of any later version. */
export interface RuleVersion extends Omit<StoredRuleVersion, 'terms'> {
  readonly terms: RuleTerms
}

/** Returns the versions of one fraud rule of an account, or of all, by rule and number. */
export const readStoredRules = async (
  db: D1Database,
  account: string,
  rule: string | null = null,
): Promise<RuleVersion[]> =>
  (await readRuleRows(db, account, rule)).map(({ terms, ...version }) => ({
    ...version,
    // They were validated when they were stored.
    terms: JSON.parse(terms),
  }))

/**
 * Returns the version of a rule that applies to a day, which may be disabled; null before its first one.
 *
 * @param versions Those of the rule, by number.
 */
export const ruleOn = (versions: readonly RuleVersion[], day: string): RuleVersion | null =>
  versions.findLast(({ effective_from }) => effective_from <= day) ?? null
