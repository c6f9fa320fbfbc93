import forex from '../../examples/fraud-rules/forex.json' with { type: 'json' }
import igaming from '../../examples/fraud-rules/igaming.json' with { type: 'json' }
import propTrading from '../../examples/fraud-rules/prop-trading.json' with { type: 'json' }
import { canonicalJson } from '../validation/canonical-json.ts'
import { checkShape } from './check-rule.ts'
import type { Vertical } from './kind.ts'
import type { RuleTerms } from './rules.ts'

/** The rules with which an account of each vertical starts, by their ids. None of them holds payouts. */
const RULE_SETS: Readonly<Record<Vertical, Readonly<Record<string, object>>>> = {
  'prop-trading': propTrading,
  forex,
  igaming,
}

/** Returns the rules of a new account with their terms as JSON, which begin on a day. */
export const firstRules = (
  vertical: Vertical,
  effective_from: string,
): [rule: string, terms: string][] =>
  Object.entries(RULE_SETS[vertical]).flatMap(([rule, body]) => {
    const { output } = checkShape({ ...body, effective_from }, vertical)
    return output ? [[rule, canonicalJson(output)]] : []
  })

/** Returns the rule of a kind in the set of a vertical, with its id and without its first day; null if it has none. */
export function usualRule(
  vertical: Vertical,
  kind: string,
): { readonly rule: string; readonly terms: Partial<RuleTerms> } | null {
  for (const [rule, body] of Object.entries(RULE_SETS[vertical])) {
    const { output } = checkShape({ ...body, effective_from: '1970-01-01' }, vertical)
    if (output?.kind !== kind) continue
    const { effective_from: _, ...terms } = output
    return { rule, terms }
  }
  return null
}
