import type { Issue } from '../../../platform/validation/issue.ts'
import { advance } from './advance.ts'
import { clamp } from './clamp.ts'
import { fence } from './fence.ts'
import { max } from './max.ts'
import { maxCount } from './max-count.ts'
import { maxPerCustomer } from './max-per-customer.ts'
import type { ModifiedLine, Modifier, ModifierInput, PlanRules, PlanSpeech } from './modifier.ts'
import { negative } from './negative.ts'

/**
 * The modifiers of each kind of rule, in the order in which they apply (§16.17). The fence applies before the rate, and
 * the clamp before rounding; the others to the rounded lines.
 */
export const MODIFIERS = {
  once: [clamp, maxPerCustomer, maxCount, max],
  share: [fence, maxPerCustomer, negative, max, advance],
  unit: [max],
  override: [max],
} as const

type Kind = keyof typeof MODIFIERS
type All = (typeof MODIFIERS)[Kind][number]
type MembersOf<M> = M extends readonly [infer First extends All, ...infer Others]
  ? First['members'] & MembersOf<Others>
  : unknown

/** All modifiers, each once. */
export const ALL_MODIFIERS: readonly All[] = [...new Set(Object.values(MODIFIERS).flat())]

const of = (kind: Kind): readonly Modifier[] => MODIFIERS[kind]

/** The names of the steps of modifiers. */
export type ModifierName = All['name']

/** Returns the members that the modifiers of a kind of rule have in the schema of plans. */
export const membersOf = <K extends Kind>(kind: K): MembersOf<(typeof MODIFIERS)[K]> =>
  Object.assign({}, ...of(kind).map(({ members }) => members))

/** Modifies the lines of one rule, which are in their order. */
export const modify = <L extends ModifiedLine<object>>(
  lines: readonly L[],
  kind: Kind,
  input: ModifierInput,
): L[] =>
  of(kind).reduce<L[]>(
    (before, { apply }) => {
      const changes = apply?.(before, input) ?? []
      return before.map((line, i) => ({ ...line, ...changes[i] }))
    },
    [...lines],
  )

/** Returns the issues of the members that a rule has of modifiers. */
export const checkModifiers = (
  rule: { readonly kind: Kind },
  pointer: string,
  plan: PlanRules,
): Issue[] => of(rule.kind).flatMap((one) => one.check?.(rule, pointer, plan) ?? [])

/** Says what the modifiers of a rule do, a sentence each. */
export const modifierSentences = (rule: { readonly kind: Kind }, speech: PlanSpeech): string[] =>
  of(rule.kind).flatMap((one) => one.plan(rule, speech))
