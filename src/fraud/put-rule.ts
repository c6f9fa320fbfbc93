import { canonicalJson } from '../platform/validation/canonical-json.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { checkMeaning, checkShape } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import { RULE_LIMITS, type RuleTerms } from './rules.ts'
import type { RuleVersion } from './stored-rules.ts'

/** What putting a rule does. */
export type PutDecision =
  | { outcome: 'invalid'; issues: Issue[] }
  | { outcome: 'refused'; code: 'newer_version' | 'conflict'; detail: string }
  | { outcome: 'created' | 'unchanged'; version: number; terms: RuleTerms }

/** What a put depends on beside the rule. */
export interface PutContext {
  readonly vertical: Vertical
  /** The versions of all rules of the account, by rule and number. */
  readonly versions: readonly RuleVersion[]
  /** The number of the last version that the sender has seen; null if they do not say. */
  readonly after: number | null
}

/** Returns why a version is not stored after others that the sender has not seen, as a sentence. */
const unseen = (last: number): string =>
  `Version ${last} of this rule was stored since. Nothing was changed. Read it, and send \`after=${last}\` if the version is still meant.`

/**
 * Decides what a body put under the name of a rule does: it creates the next version, unless the latest
 * version has the same terms.
 */
export function decidePut(
  rule: string,
  body: unknown,
  { vertical, versions, after }: PutContext,
): PutDecision {
  const { issues, output: terms } = checkShape(body, vertical)
  if (!terms) return { outcome: 'invalid', issues }
  const own = versions.filter((one) => one.rule === rule)
  const latest = own.at(-1)
  const last = latest?.version ?? 0
  if (latest && canonicalJson(latest.terms) === canonicalJson(terms)) {
    return { outcome: 'unchanged', version: last, terms }
  }
  if (after !== null && after < last) {
    return { outcome: 'refused', code: 'newer_version', detail: unseen(last) }
  }
  const wrong = checkMeaning(terms, latest)
  if (wrong.length > 0) return { outcome: 'invalid', issues: wrong }
  const detail = findExcess(versions, latest)
  if (detail !== null) return { outcome: 'refused', code: 'conflict', detail }
  return { outcome: 'created', version: last + 1, terms }
}

/** Returns the limit of an account that another version would exceed, as a sentence; else null. */
function findExcess(
  versions: readonly RuleVersion[],
  latest: RuleVersion | undefined,
): string | null {
  if (!latest && new Set(versions.map((one) => one.rule)).size >= RULE_LIMITS.rules) {
    return `An account has at most ${RULE_LIMITS.rules} fraud rules.`
  }
  if (!latest || latest.version < RULE_LIMITS.versions) return null
  return `A fraud rule has at most ${RULE_LIMITS.versions} versions. Put the terms under the name of a new rule.`
}
