import * as v from 'valibot'
import { listed } from '../commission/words/english.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { ALL_AFFILIATES, type RuleTerms } from './rules.ts'

// A fraud rule in plain English, as a manager reads it.

/** A rule in words: `opens` says when it opens a case, `limits` what else applies, each as a sentence. */
export interface FraudRuleWords {
  readonly opens: string
  readonly limits: readonly string[]
}

/** Returns the kind with a name; undefined if there is none. */
export const kindNamed = (name: unknown): Kind | undefined =>
  KINDS.find(({ kind }) => kind === name)

/** Returns the usual parameters of a kind, by name. */
export const defaultsOf = ({ parameters }: Kind): Readonly<Record<string, unknown>> =>
  Object(v.parse(parameters, {}))

const held = ({ action }: RuleTerms): string =>
  action === 'flag' ? 'Opens a case' : 'Holds the payouts of the affiliate'

/** Says whose records a rule reads. */
function scopeWords({ affiliates, not_affiliates = [] }: RuleTerms['scope']): string {
  const others = not_affiliates.length > 0 ? `, but not of ${listed(not_affiliates)}` : ''
  if (affiliates.includes(ALL_AFFILIATES)) return `It reads the records of all affiliates${others}.`
  return `It only reads the records of ${listed(affiliates)}${others}.`
}

/** Returns a rule in words. Rules are valid, so that their kind exists. */
export function fraudRuleWords(terms: RuleTerms): FraudRuleWords {
  const { when, more = [] } = kindNamed(terms.kind)?.words(terms.parameters) ?? { when: '' }
  return {
    opens: `${held(terms)} when ${when}.`,
    limits: [
      ...more,
      scopeWords(terms.scope),
      `Its cases are of ${terms.severity} severity.`,
      ...(terms.disabled ? ['It is disabled, and finds nothing.'] : []),
    ],
  }
}
