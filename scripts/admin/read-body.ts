import { readFileSync } from 'node:fs'
import { messageOf, usageError } from '../exit-error.ts'
import type { Input } from './operation.ts'

/** Returns the value of a JSON text, or of the JSON file that a text names. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(/^[[{]/.test(text) ? text : readFileSync(text, 'utf8'))
  } catch (error) {
    throw usageError(`\`${text}\` is neither JSON nor a file with JSON: ${messageOf(error)}`)
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads the argument `file` as a body. What was read may be an answer that has it as a member, as a version has its terms. */
export function readBody({ operands }: Input, members: readonly string[] = ['terms']): object {
  const read = readJson(operands.file ?? '')
  if (!isObject(read)) return read as object
  return members.map((name) => read[name]).find(isObject) ?? read
}
