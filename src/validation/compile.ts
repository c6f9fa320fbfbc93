import type * as v from 'valibot'

/** What a value is that breaks a rule of its field. */
export const INVALID = Symbol('broken')

/** What a value becomes by a rule, or by all of a field's; `BROKEN` where it breaks one. */
export type CompiledField = (value: unknown) => unknown

/** A schema or one action of a pipe, as far as it is looked at here. */
interface Step {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Step[]
  readonly requirement?: unknown
  readonly check?: Predicate
  readonly options?: readonly unknown[]
  readonly wrapped?: Step
  '~run'(dataset: { typed?: true; value: unknown }, config: object): Result
}

interface Result {
  readonly value: unknown
  readonly issues?: unknown
}

/**
 * A field's rules as one function: what Valibot would make of a value, without the result and the
 * list of issues that it makes at each step, which takes three times as long. It says that a value
 * is broken, and Valibot is asked why. What it does not know of it leaves to Valibot.
 */
export function compileField(field: v.GenericSchema): CompiledField {
  const steps = flattenPipe(field as unknown as Step)
  const tests = steps.map(toPredicate)
  if (tests.every((test) => test !== null)) {
    return (value) => {
      for (const test of tests) if (!test(value as never)) return INVALID
      return value
    }
  }
  const passes = steps.map((step, i) => toCompiledStep(step, tests[i] ?? null))
  return (value) => {
    let now = value
    for (const pass of passes) {
      now = pass(now)
      if (now === INVALID) return INVALID
    }
    return now
  }
}

function flattenPipe(step: Step): readonly Step[] {
  if (step.kind === 'metadata') return []
  if (step.type === 'optional' && step.wrapped) return flattenPipe(step.wrapped)
  return step.pipe ? step.pipe.flatMap(flattenPipe) : [step]
}

type Predicate = (value: never) => boolean

/** A step that only asks whether a value is right, as what it asks. */
function toPredicate({ kind, type, requirement, check, options }: Step): Predicate | null {
  if (kind === 'schema' && type === 'string') return (value) => typeof value === 'string'
  if (kind === 'schema' && type === 'custom') return check!
  if (kind === 'schema' && type === 'picklist') return (value) => options!.includes(value)
  return kind === 'validation' && type === 'check' ? (requirement as Predicate) : null
}

function toCompiledStep(step: Step, test: Predicate | null): CompiledField {
  if (test) return (value) => (test(value as never) ? value : INVALID)
  const isSchema = step.kind === 'schema'
  return (value) => {
    const result = step['~run'](isSchema ? { value } : { typed: true, value }, {})
    return result.issues ? INVALID : result.value
  }
}
