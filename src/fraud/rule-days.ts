import { dayNumber } from '../commission/engine/calendar.ts'
import { caseTermsOf, type VersionFinding } from './cases.ts'
import { isInScope } from './check-rule.ts'
import type { Finder, RuleParameters } from './findings.ts'
import { joinReaches, type Reach } from './kind.ts'
import { KINDS } from './kinds.ts'
import type { RuleVersion } from './stored-rules.ts'
import type { ViewOfDays } from './views.ts'

/** A version of a rule on the days on which it finds something, in days since 1970. */
export interface RuleDays extends RuleParameters {
  readonly version: RuleVersion
  readonly first: number
  readonly last: number
}

/**
 * Returns which version of each rule applies to which of some days. Days on which a rule is disabled are left
 * out.
 *
 * @param versions In order of rule and first day.
 */
export function ruleDaysOf(
  versions: readonly RuleVersion[],
  first: number,
  last: number,
): RuleDays[] {
  return versions.flatMap((version, i): RuleDays[] => {
    const next = versions[i + 1]
    const end =
      next?.rule === version.rule ? dayNumber(next.effective_from) - 1 : Number.POSITIVE_INFINITY
    const days = {
      first: Math.max(first, dayNumber(version.effective_from)),
      last: Math.min(last, end),
    }
    const { kind: name, disabled, parameters } = version.terms
    const kind = KINDS.find((one) => one.kind === name)
    if (disabled || !kind || days.first > days.last) return []
    return [{ kind, parameters, version, ...days }]
  })
}

/** Returns whether a rule reads the records of an affiliate. */
export const reads = ({ version }: RuleDays, affiliate: string): boolean =>
  isInScope(version.terms.scope, affiliate)

/** Returns what rules read together. */
export const reachOf = (rules: readonly RuleDays[]): Reach =>
  joinReaches(rules.map(({ kind, parameters }) => kind.reach(parameters)))

/** What a version of a rule found of an affiliate. */
export interface RuleFinding extends VersionFinding {
  readonly rule: string
}

/** Returns what a rule finds in the views of an affiliate, in order of day. */
export async function findingsOfDays(
  find: Finder,
  rule: RuleDays,
  views: readonly ViewOfDays[],
): Promise<RuleFinding[]> {
  const { rule: id, version, terms } = rule.version
  const found: RuleFinding[] = []
  for (const { view, first, last } of views) {
    const own = await find(rule, view, Math.max(first, rule.first), Math.min(last, rule.last))
    for (const one of own) {
      found.push({ ...one, ...{ rule: id, version, kind: terms.kind, terms: caseTermsOf(terms) } })
    }
  }
  return found
}
