import * as v from 'valibot'
import type { Kind, Vertical } from './kind.ts'
import { kindsOf } from './kinds.ts'
import { RULES_BY_KIND, type RuleTerms } from './rules.ts'

/** Returns the usual id of the rules of a kind. */
export const usualId = ({ kind }: Kind): string => kind.replaceAll('_', '-')

/** Returns the usual rule of a kind, with all defaults, which begins on a day. It holds no payouts. */
export const usualRule = ({ kind, name, severity }: Kind, effective_from: string): RuleTerms =>
  v.parse(RULES_BY_KIND.get(kind)!, { kind, name, severity, effective_from })

/** Returns the rules with which an account of a vertical starts, by their ids. They begin on a day. */
export const firstRules = (
  vertical: Vertical,
  effective_from: string,
): Readonly<Record<string, RuleTerms>> =>
  Object.fromEntries(
    kindsOf(vertical)
      .filter(({ unusualIn }) => !unusualIn?.includes(vertical))
      .map((kind) => [usualId(kind), usualRule(kind, effective_from)]),
  )
