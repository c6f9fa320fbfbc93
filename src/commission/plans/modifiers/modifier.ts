import * as v from 'valibot'
import {
  add,
  compare,
  type Decimal,
  decimal,
  fixedText,
  isSome,
  subtract,
} from '../../../platform/money/decimal.ts'
import { member, nullable } from '../../../platform/validation/fields.ts'
import type { Issue } from '../../../platform/validation/issue.ts'
import type { Words } from '../../words/words.ts'

// What a modifier is made of. A modifier is one file: its members of a rule, what it does to a line and the step that
// it leaves there, the sentence of the plan and that of the step, and its fields of the form. `order.ts` has their list.

/** The figures of a line that modifiers change. */
export interface Figures {
  readonly amount: Decimal
  /** What limits have cut. */
  readonly capped: Decimal
  readonly carriedIn: Decimal
  readonly carriedOut: Decimal
  readonly recouped: Decimal
  readonly deficit: Decimal
}

/** A line as modifiers see it; `R` are the members of its rule that they read. */
export interface ModifiedLine<R> extends Figures {
  readonly rule: { readonly id: string; readonly source: R }
  readonly version: LineVersion
  readonly scope: string
  /** Where a `once` line stands among those of its rule; null of other lines. */
  readonly counted: Counted | null
  /** Gets the step of each modifier. */
  readonly trace: (() => object | null)[]
}

/** Where a line stands among those of its rule in the period, over all versions. */
export interface Counted {
  /** `max_count` of the latest version with a line; null if it has none. */
  readonly maxCount: number | null
  /** The position in the period, from 1. */
  readonly position: number
  readonly beyondCount: boolean
}

/** The version of the plan that a line is paid under. */
export interface LineVersion {
  readonly version: number
  readonly terms: 'signup' | 'current'
  readonly effectiveFrom: number
  /** The decimal places of the plan's currency. */
  readonly digits: number
}

/** What modifiers read and change beside the lines of a rule. */
export interface ModifierInput {
  /** What earlier periods left, by `stateKey`; it is left as the next period finds it. */
  readonly state: {
    readonly carries: Map<string, Decimal>
    readonly deficits: Map<string, Decimal>
  }
  /** The `once` lines of the plan in the period, after their limits. */
  readonly once: readonly Pick<ModifiedLine<unknown>, 'rule' | 'version' | 'amount'>[]
}

/** The key of a carry, deficit or fence. Under `terms: "current"` it passes on to later versions. */
export const stateKey = (
  rule: string,
  version: Pick<LineVersion, 'terms' | 'version'>,
  scope: string,
): string => JSON.stringify([rule, version.terms === 'signup' ? version.version : 0, scope])

/** What the sentence of a plan needs besides the rule. */
export interface PlanSpeech {
  readonly words: Words
  readonly currency: string
  readonly period: 'month' | 'week'
}

/** What the sentences of a step need besides it. */
export interface StepSpeech {
  readonly words: Words
  /** Writes an amount in the currency of the plan. */
  readonly money: (amount: string) => string
}

/** The rules of a plan, as far as a rule can refer to them. */
export interface PlanRules {
  readonly rules: readonly { readonly kind: string; readonly id: string }[]
}

/** A modifier of lines. */
export interface Modifier {
  /** The name of its step. */
  readonly name: string
  /** Its members of a rule, in the schema of plans. */
  readonly members: v.ObjectEntries
  /** The schema of its step, of which production has nothing. */
  readonly step: v.ObjectSchema<v.ObjectEntries & { readonly step: v.GenericSchema }, undefined>
  /** Returns what changes of each line of one rule, in their order. Absent if it acts before there are lines. */
  apply?(lines: readonly ModifiedLine<object>[], input: ModifierInput): Partial<Figures>[]
  /** Returns the issues of its members beside the others of the rule. */
  check?(rule: object, pointer: string, plan: PlanRules): Issue[]
  /** Says in the plan what it does, as sentences. */
  plan(rule: object, speech: PlanSpeech): string[]
  /** Says what it did to a line, as sentences. */
  explain(step: object, speech: StepSpeech): string[]
  /** The words of its fields in the form of a plan, by their keys. */
  readonly fields: Readonly<Record<string, object>>
}

/** The members of a rule that belong to a modifier. */
export type MembersOf<E extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<E, undefined>>

const text = v.string()

/** Describes a figure of a step. */
export const figure = (description: string) => member(text, description)

/** Describes a figure of a step that can be missing. */
export const maybe = (description: string) => nullable(text, description)

/** Describes a step of an explanation. All figures are decimal text. */
export const stepOf = <const N extends string, const E extends v.ObjectEntries>(
  name: N,
  description: string,
  members: E,
) =>
  member(
    v.object({ step: member(v.literal(name), `The name of the step: \`${name}\`.`), ...members }),
    description,
  )

/** Describes the figures of a step that cuts an amount. */
export const cut = (what: string) => ({
  before: figure('The amount before.'),
  capped: figure(`What ${what} cuts.`),
  after: figure('The amount after.'),
})

/** Writes an amount with the minor digits of the line's currency. */
export const moneyOf = ({ version }: Pick<ModifiedLine<unknown>, 'version'>, amount: Decimal) =>
  fixedText(amount, version.digits)

/** Returns the figures of a step that cuts an amount from a line. */
export const cutFigures = (line: ModifiedLine<unknown>, capped: Decimal) => ({
  before: moneyOf(line, line.amount),
  capped: moneyOf(line, capped),
  after: moneyOf(line, subtract(line.amount, capped)),
})

/** Returns a line's figures after an amount was cut from it. */
export const cutLine = (line: ModifiedLine<unknown>, capped: Decimal): Partial<Figures> => ({
  amount: subtract(line.amount, capped),
  capped: add(line.capped, capped),
})

/** Says what was cut, if anything was. */
export const cutSentences = (
  { capped, after }: { readonly capped: string; readonly after: string },
  { words, money }: StepSpeech,
): string[] =>
  isSome(capped) ? [words.text('why.cut', { capped: money(capped), amount: money(after) })] : []

/** Returns the issue of a member that has no meaning beside the others. `needs` says why. */
export const notApplicable = (pointer: string, needs: string): Issue => ({
  pointer,
  code: 'not_applicable',
  expected: needs,
})

/** Returns an issue if the least of a range is above the largest. */
export function checkRange(pointer: string, value?: string, max?: string): Issue[] {
  const isReversed =
    value !== undefined && max !== undefined && compare(decimal(value), decimal(max)) > 0
  return isReversed ? [{ pointer, code: 'maximum', expected: max, value }] : []
}

/** Returns an issue for a reference to a `once` rule that the plan does not have. */
export function checkOnceReference(pointer: string, value: string, { rules }: PlanRules): Issue[] {
  const ids = rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : []))
  if (ids.includes(value)) return []
  const expected = 'the id of a `once` rule of this plan'
  const instruction = ids.length === 0 && { instruction: 'This plan has no `once` rule.' }
  const issue = { pointer, code: 'unknown_reference' as const, expected, value }
  return [{ ...issue, suggestions: ids, ...instruction }]
}
