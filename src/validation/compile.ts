import type * as v from 'valibot'

/** What a value is that breaks a rule of its field. */
export const BROKEN = Symbol('broken')

/** What a value becomes by a rule, or by all of a field's; `BROKEN` where it breaks one. */
export type Pass = (value: unknown) => unknown

/** A schema or one action of a pipe, as far as it is looked at here. */
interface Step {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Step[]
  readonly requirement?: unknown
  readonly check?: Test
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
export function passOf(field: v.GenericSchema): Pass {
  const steps = stepsOf(field as unknown as Step)
  const tests = steps.map(testOf)
  if (tests.every((test) => test !== null)) {
    return (value) => {
      for (const test of tests) if (!test(value as never)) return BROKEN
      return value
    }
  }
  const passes = steps.map((step, i) => passBy(step, tests[i] ?? null))
  return (value) => {
    let now = value
    for (const pass of passes) {
      now = pass(now)
      if (now === BROKEN) return BROKEN
    }
    return now
  }
}

function stepsOf(step: Step): readonly Step[] {
  if (step.kind === 'metadata') return []
  if (step.type === 'optional' && step.wrapped) return stepsOf(step.wrapped)
  return step.pipe ? step.pipe.flatMap(stepsOf) : [step]
}

type Test = (value: never) => boolean

/** A step that only asks whether a value is right, as what it asks. */
function testOf({ kind, type, requirement, check, options }: Step): Test | null {
  if (kind === 'schema' && type === 'string') return (value) => typeof value === 'string'
  if (kind === 'schema' && type === 'custom') return check!
  if (kind === 'schema' && type === 'picklist') return (value) => options!.includes(value)
  return kind === 'validation' && type === 'check' ? (requirement as Test) : null
}

function passBy(step: Step, test: Test | null): Pass {
  if (test) return (value) => (test(value as never) ? value : BROKEN)
  const isSchema = step.kind === 'schema'
  return (value) => {
    const result = step['~run'](isSchema ? { value } : { typed: true, value }, {})
    return result.issues ? BROKEN : result.value
  }
}
