import { expect } from 'vitest'

/** Members of a result that a test must name where the response has them. */
const COMPLETE = ['warnings', 'errors', 'errors_total'] as const

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

/** Returns the members of results that a test leaves out: `results.0.warnings`. */
function omitted(received: unknown, expected: unknown, path: string): string[] {
  if (!isObject(received) || !isObject(expected) || 'asymmetricMatch' in expected) return []
  const own = Object.hasOwn(expected, 'outcome')
    ? COMPLETE.filter((name) => received[name] !== undefined && !Object.hasOwn(expected, name))
    : []
  return [
    ...own.map((name) => `${path}${name}`),
    ...Object.keys(expected).flatMap((name) =>
      omitted(received[name], expected[name], `${path}${name}.`),
    ),
  ]
}

/**
 * Makes `toMatchObject` compare the whole outcome of a record: wherever a test expects an `outcome`,
 * a warning or an error that it does not expect fails it.
 */
export function compareWholeResults(): void {
  expect.extend({
    toMatchObject(received: unknown, expected: unknown) {
      const { subsetEquality, iterableEquality, printExpected, printReceived, diff } = this.utils
      const isSubset = this.equals(received, expected, [
        ...this.customTesters,
        iterableEquality,
        subsetEquality,
      ])
      const left = isSubset ? omitted(received, expected, '') : []
      return {
        pass: isSubset && left.length === 0,
        message: () =>
          left.length > 0
            ? `The response has members that the test does not expect: ${left.join(', ')}\n${printReceived(received)}`
            : this.isNot
              ? `expected ${printReceived(received)} not to match ${printExpected(expected)}`
              : (diff(expected, received) ?? 'The objects differ.'),
      }
    },
  })
}

/** The members of an error that `asLogged` needs. */
export interface LoggedError {
  code: string
  message: string
}

/** The errors whose message begins with the name of a field or the id of a customer or affiliate. */
const QUOTING = /^(required|unknown_field|field_case|unknown_.*)$/

/** Returns an error of a response as the log of deliveries has it: the message does not quote the value. */
export const asLogged = <E extends LoggedError>(error: E): E =>
  QUOTING.test(error.code)
    ? error
    : { ...error, message: error.message.replace(/^`[^`]*`/, 'The value') }
