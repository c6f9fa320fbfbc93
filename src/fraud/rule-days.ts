import { dayNumber } from '../platform/money/calendar.ts'
import type { RuleParameters } from './findings.ts'
import { KINDS } from './kinds.ts'
import type { RuleTerms } from './rules.ts'
import type { RuleVersion } from './stored-rules.ts'

/** A version of a rule. Its number is null if it is not stored. */
export type AnyVersion = Pick<RuleVersion, 'rule' | 'effective_from' | 'terms'> & {
  readonly version: number | null
}

/** A version of a rule on the days on which it finds something, in days since 1970. */
export interface RuleDays extends RuleParameters, Pick<AnyVersion, 'rule' | 'version'> {
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
  versions: readonly AnyVersion[],
  first: number,
  last: number,
): RuleDays[] {
  return versions.flatMap(({ rule, version, effective_from, terms }, i): RuleDays[] => {
    const later = versions.slice(i + 1).filter((one) => one.rule === rule)
    const end = Math.min(last, ...later.map((one) => dayNumber(one.effective_from) - 1))
    const from = Math.max(first, dayNumber(effective_from))
    const kind = KINDS.find((one) => one.kind === terms.kind)
    if (!kind || terms.disabled || from > end) return []
    return [{ rule, version, terms, kind, parameters: terms.parameters, first: from, last: end }]
  })
}
