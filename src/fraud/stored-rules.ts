import { readRuleRows, type StoredRuleVersion } from '../db/fraud/rules.ts'
import type { RuleTerms } from './rules.ts'

/** A version of a fraud rule. */
export interface RuleVersion {
  readonly rule: string
  readonly version: number
  readonly effective_from: string
  readonly terms: RuleTerms
}

/** Returns a stored version with its terms, which were validated when they were stored. */
export const parseRuleVersion = ({ terms, ...version }: StoredRuleVersion): RuleVersion => ({
  ...version,
  terms: JSON.parse(terms),
})

/** Returns the versions of all fraud rules of an account that are not withdrawn, by rule and first day. */
export const readStoredRules = async (db: D1Database, account: string): Promise<RuleVersion[]> =>
  (await readRuleRows(db, account)).map(parseRuleVersion)

/**
 * Returns the version of a rule that applies to a day, which may be disabled; null before its first one.
 *
 * @param versions Those of the rule, in order of `effective_from`.
 */
export const ruleOn = <V extends { readonly effective_from: string }>(
  versions: readonly V[],
  day: string,
): V | null => versions.findLast(({ effective_from }) => effective_from <= day) ?? null
