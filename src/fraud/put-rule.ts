import { checkSeen } from '../commission/plans/put-plan.ts'
import { ApiError } from '../platform/errors.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { canonicalJson } from '../platform/validation/canonical-json.ts'
import { checkMeaning, checkShape } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import { RULE_LIMITS, type RuleTerms } from './rules.ts'
import type { RuleVersion } from './stored-rules.ts'

/** What putting a rule does. */
interface PutDecision {
  readonly outcome: 'created' | 'unchanged'
  readonly version: number
  readonly terms: RuleTerms
}

/**
 * Decides what a body put under the name of a rule does: it creates the next version, unless the latest
 * version has the same terms.
 *
 * @param stored The versions of all rules of the account, by rule and number, and the last that the sender has seen.
 * @throws ApiError `validation_failed`, `newer_version`, `conflict`
 */
export function decidePut(
  rule: string,
  body: unknown,
  vertical: Vertical,
  stored: { readonly versions: readonly RuleVersion[]; readonly after: number | undefined },
): PutDecision {
  const { versions, after } = stored
  const { issues, output: terms } = checkShape(body, vertical)
  if (!terms) throw validationFailed(issues)
  const latest = versions.findLast((one) => one.rule === rule)
  const last = latest?.version ?? 0
  if (latest && canonicalJson(latest.terms) === canonicalJson(terms)) {
    return { outcome: 'unchanged', version: last, terms }
  }
  checkSeen(after, last)
  const wrong = checkMeaning(terms, latest)
  if (wrong.length > 0) throw validationFailed(wrong)
  if (!latest && new Set(versions.map((one) => one.rule)).size >= RULE_LIMITS.rules) {
    throw tooMany(`An account has at most ${RULE_LIMITS.rules} fraud rules.`)
  }
  if (last >= RULE_LIMITS.versions) {
    throw tooMany(
      `A fraud rule has at most ${RULE_LIMITS.versions} versions. Put the terms under the name of a new rule.`,
    )
  }
  return { outcome: 'created', version: last + 1, terms }
}

const tooMany = (detail: string) => new ApiError('conflict', { detail })
