import { dayNumber, dayText } from '../commission/engine/calendar.ts'
import type { StoredRules } from '../db/fraud/rules.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import type { Issue } from '../validation/issue.ts'
import {
  type CheckedRule,
  checkMeaning,
  checkShape,
  type RuleContext,
  warnOfNextVersion,
} from './check-rule.ts'
import { RULE_LIMITS, type RuleTerms } from './rules.ts'
import { parseRuleVersion, type RuleVersion, ruleOn } from './stored-rules.ts'

/** What putting a rule does. */
export type PutDecision =
  | { outcome: 'invalid'; issues: Issue[] }
  | { outcome: 'refused'; code: 'newer_version' | 'conflict'; detail: string }
  | { outcome: 'unchanged'; version: number; rule: CheckedRule }
  | { outcome: 'created'; version: number; rule: CheckedRule; needsApprover: boolean }

/** What a put depends on beside the stored rules. */
export interface PutContext extends Pick<RuleContext, 'vertical' | 'today'> {
  /** The number of the last version that the sender has seen; null if they do not say. */
  readonly after: number | null
}

/** Returns why a version is not stored after others that the sender has not seen, as a sentence. */
const unseen = (last: number): string =>
  `Version ${last} of this rule was stored since. Nothing was changed. Read it, and send \`after=${last}\` if the version is still meant.`

/** Whether a change of a rule may begin or end a hold of payouts. */
const holds = (versions: readonly { readonly terms: RuleTerms }[]): boolean =>
  versions.some(({ terms }) => terms.action === 'hold')

/**
 * Decides what a body put under the name of a rule does: it creates the next version, unless the latest
 * version has the same terms.
 */
export function decidePut(
  rule: string,
  body: unknown,
  { versions: stored, last }: StoredRules,
  { after, ...context }: PutContext,
): PutDecision {
  const { issues, output: terms } = checkShape(body, context.vertical)
  if (!terms) return { outcome: 'invalid', issues }
  const versions = stored.map(parseRuleVersion)
  const own = versions.filter((one) => one.rule === rule)
  const text = canonicalJson(terms)
  const warnings = warnOfNextVersion(terms, { ...context, rule, versions })
  const checked = { terms, text, warnings }
  const latest = Math.max(0, ...own.map(({ version }) => version))
  const latestText = stored.find((one) => one.rule === rule && one.version === latest)?.terms
  if (latestText === text) return { outcome: 'unchanged', version: latest, rule: checked }
  if (after !== null && after < last) {
    return { outcome: 'refused', code: 'newer_version', detail: unseen(last) }
  }
  const wrong = checkMeaning(terms, own)
  if (wrong.length > 0) return { outcome: 'invalid', issues: wrong }
  const detail = findExcess(rule, versions, last)
  if (detail !== null) return { outcome: 'refused', code: 'conflict', detail }
  const needsApprover = holds([...own, { terms }])
  return { outcome: 'created', version: last + 1, rule: checked, needsApprover }
}

/** Returns the limit of an account that another version would exceed, as a sentence; else null. */
function findExcess(rule: string, versions: readonly RuleVersion[], last: number): string | null {
  if (new Set(versions.map((one) => one.rule)).add(rule).size > RULE_LIMITS.rules) {
    return `An account has at most ${RULE_LIMITS.rules} fraud rules.`
  }
  if (last < RULE_LIMITS.versions) return null
  return `A fraud rule has at most ${RULE_LIMITS.versions} versions. Put the terms under the name of a new rule.`
}

/** What disabling a rule does. */
export interface DisableDecision {
  /** The versions that begin on this day or later are withdrawn. */
  readonly from: string
  /** The terms of a version that begins on it in their place; null if none is needed. */
  readonly terms: string | null
  readonly needsApprover: boolean
}

/**
 * Decides how a rule is disabled from today on; null if it is. Its findings of earlier days stay.
 *
 * @param stored Versions that are not withdrawn, in order of `effective_from`.
 */
export function decideDisable(
  rule: string,
  stored: StoredRules['versions'],
  today: string,
): DisableDecision | null {
  const own = stored.filter((one) => one.rule === rule).map(parseRuleVersion)
  const needsApprover = holds(own)
  const isDisabled = ruleOn(own, today)?.terms.disabled === true
  const from = isDisabled ? dayText(dayNumber(today) + 1) : today
  const begun = own.filter(({ effective_from }) => effective_from < from)
  const present = ruleOn(begun, today)
  if (present && !present.terms.disabled) {
    const terms = canonicalJson({ ...present.terms, effective_from: from, disabled: true })
    return { from, terms, needsApprover }
  }
  return begun.length < own.length ? { from, terms: null, needsApprover } : null
}
