import type * as v from 'valibot'

/** The result of a compiled field for a value that breaks one of its rules. */
export const INVALID = Symbol('invalid')

/** A function that returns the parsed value, or `INVALID` if the value breaks a rule. */
export type CompiledField = (value: unknown) => unknown

/** The parts of a Valibot schema or pipe action that are used here. */
interface Step {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Step[]
  readonly requirement?: unknown
  readonly check?: unknown
  readonly options?: readonly unknown[]
  readonly wrapped?: Step
  '~run'(dataset: { typed?: boolean; value: unknown }, config: object): Result
}

interface Result {
  readonly value: unknown
  readonly issues?: unknown
}

/**
 * Compiles the rules of a field to one function. It gives Valibot's verdict in a third of the time,
 * because it skips the result and issue list that Valibot creates at each step. Steps it does not
 * know run in Valibot. Ask Valibot itself for the reason of an `INVALID`.
 */
export function compileField(field: v.GenericSchema): CompiledField {
  const steps = flattenPipe(field)
  const predicates = steps.map(toPredicate)
  if (predicates.every((predicate) => predicate !== null)) {
    return (value) => {
      for (const holds of predicates) if (!holds(value)) return INVALID
      return value
    }
  }
  const runs = steps.map((step, i) => toCompiledStep(step, predicates[i] ?? null))
  return (value) => {
    let output = value
    for (const run of runs) {
      output = run(output)
      if (output === INVALID) return INVALID
    }
    return output
  }
}

function flattenPipe(step: Step): readonly Step[] {
  if (step.kind === 'metadata') return []
  if (step.type === 'optional' && step.wrapped) return flattenPipe(step.wrapped)
  return step.pipe ? step.pipe.flatMap(flattenPipe) : [step]
}

type Predicate = (value: unknown) => boolean

const isPredicate = (member: unknown): member is Predicate => typeof member === 'function'

/** Returns the test of a step that leaves its value unchanged; null for any other step. */
function toPredicate({ type, requirement, check, options }: Step): Predicate | null {
  if (type === 'string') return (value) => typeof value === 'string'
  if (type === 'custom' && isPredicate(check)) return check
  if (type === 'picklist' && options) return (value) => options.includes(value)
  return type === 'check' && isPredicate(requirement) ? requirement : null
}

function toCompiledStep(step: Step, holds: Predicate | null): CompiledField {
  if (holds) return (value) => (holds(value) ? value : INVALID)
  const isSchema = step.kind === 'schema'
  return (value) => {
    const result = step['~run'](isSchema ? { value } : { typed: true, value }, {})
    return result.issues ? INVALID : result.value
  }
}
