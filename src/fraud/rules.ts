import * as v from 'valibot'
import type { Fixed } from '../platform/http/operation-words.ts'
import * as f from '../platform/validation/fields.ts'
import { exactOptional, member, said } from '../platform/validation/fields.ts'
import { listOf, objectOf } from '../platform/validation/shapes.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'

/** The limits of fraud rules. */
export const RULE_LIMITS = {
  /** The bytes of a version as JSON. */
  bytes: 16_384,
  /** The affiliates that a list of a scope names. */
  affiliates: 200,
  /** The rules of an account, the versions of a rule. */
  rules: 50,
  versions: 100,
} as const

/** Stands for all affiliates in a scope. */
export const ALL_AFFILIATES = '*'

/** The affiliates whose records a rule reads. */
const scope = objectOf({
  affiliates: v.optional(
    member(
      listOf(f.affiliateOrAll, RULE_LIMITS.affiliates),
      said('The affiliates. `*`, which is the default, stands for all.', ['*']),
    ),
    [ALL_AFFILIATES],
  ),
  not_affiliates: exactOptional(
    listOf(f.affiliateId, RULE_LIMITS.affiliates),
    said('The affiliates that are left out.', ['HOUSE']),
  ),
})

/** The members of a rule beside those that depend on its kind. */
export const commonMembers = {
  name: member(f.label, said('The display name of the rule.', 'Deposits at the minimum')),
  effective_from: member(
    f.day,
    said('The first day whose records the version reads.', '2026-12-01'),
  ),
  severity: member(f.oneOf('low', 'medium', 'high'), said('How serious its cases are.')),
  action: v.optional(
    member(
      f.oneOf('flag', 'hold'),
      said(
        'What its cases do. `flag`, the default: they are listed. `hold`: they also hold the payouts of the affiliate. Only an approver puts or disables a rule that holds.',
      ),
    ),
    'flag',
  ),
  scope: v.optional(member(scope, said('The affiliates whose records it reads; all by default.')), {
    affiliates: [ALL_AFFILIATES],
  }),
  disabled: v.optional(
    member(v.boolean(), said('Whether the rule finds nothing from this version on.', false)),
    false,
  ),
}

/** Returns the schema of a rule of a kind. */
const ruleOf = ({ kind, parameters }: Kind) =>
  objectOf({
    kind: member(f.oneOf(kind), said('The kind of the rule.', kind)),
    ...commonMembers,
    parameters: v.optional(
      member(parameters, said('What the kind compares; all have defaults.')),
      {},
    ),
  })

/** The schemas of rules by their kinds. */
export const RULES_BY_KIND: ReadonlyMap<string, ReturnType<typeof ruleOf>> = new Map(
  KINDS.map((kind) => [kind.kind, ruleOf(kind)]),
)

/** A version of a rule, with all defaults. */
export type RuleTerms = Fixed<v.InferOutput<ReturnType<typeof ruleOf>>>
