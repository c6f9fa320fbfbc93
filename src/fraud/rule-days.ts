import { dayNumber } from '../commission/engine/calendar.ts'
import { caseTermsOf, type VersionFinding } from './cases.ts'
import { findInTurns, type RuleParameters } from './findings.ts'
import { KINDS } from './kinds.ts'
import type { RuleTerms } from './rules.ts'
import type { RuleVersion } from './stored-rules.ts'
import type { ViewOfDays } from './views.ts'

/** A version of a rule on the days on which it finds something, in days since 1970. */
export interface RuleDays extends RuleParameters {
  readonly rule: string
  /** Its number; null if it is not stored. */
  readonly version: number | null
  readonly terms: RuleTerms
  readonly first: number
  readonly last: number
}

/**
 * Returns which version of each rule applies to which of some days. Days on which a rule is disabled are left
 * out.
 *
 * @param versions By rule and number.
 */
export function ruleDaysOf(
  versions: readonly RuleVersion[],
  first: number,
  last: number,
): RuleDays[] {
  return versions.flatMap(({ rule, version, effective_from, terms }, i): RuleDays[] => {
    const later = versions.slice(i + 1).filter((one) => one.rule === rule)
    const end = Math.min(last, ...later.map((one) => dayNumber(one.effective_from) - 1))
    const from = Math.max(first, dayNumber(effective_from))
    return terms.disabled ? [] : daysOfTerms(rule, version, terms, from, end)
  })
}

/** Returns terms on some days; none if there are no such days. */
export function daysOfTerms(
  rule: string,
  version: number | null,
  terms: RuleTerms,
  first: number,
  last: number,
): RuleDays[] {
  const kind = KINDS.find((one) => one.kind === terms.kind)
  if (!kind || first > last) return []
  return [{ rule, version, terms, kind, parameters: terms.parameters, first, last }]
}

/** What a version of a rule found of an affiliate. */
export interface RuleFinding extends VersionFinding {
  readonly rule: string
}

/** Returns what a rule finds in the views of an affiliate, in order of day. */
export async function findingsOfDays(
  rule: RuleDays,
  views: readonly ViewOfDays[],
): Promise<RuleFinding[]> {
  const { rule: id, version, terms } = rule
  const found: RuleFinding[] = []
  for (const { view, first, last } of views) {
    const own = await findInTurns(
      rule,
      view,
      Math.max(first, rule.first),
      Math.min(last, rule.last),
    )
    for (const one of own) {
      found.push({ ...one, rule: id, version, kind: terms.kind, terms: caseTermsOf(terms) })
    }
  }
  return found
}
