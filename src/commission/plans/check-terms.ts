import type { Issue } from '../../validation/issue.ts'
import type { Term } from '../engine/plan.ts'
import { checkCondition } from './check-conditions.ts'

/** Returns the issues of a base: names that occur twice, and `of` that names no earlier term. */
export function checkBase(base: readonly Term[], pointer: string): Issue[] {
  const all = base.flatMap(({ name }) => (name === undefined ? [] : [name]))
  const earlier: string[] = []
  return base.flatMap((term, i) => {
    const at = `${pointer}/${i}`
    const issues =
      'of' in term
        ? checkNames(term.of, `${at}/of`, earlier, all)
        : 'fixed' in term
          ? []
          : checkCondition(term.when, `${at}/when`)
    const { name } = term
    if (name === undefined) return issues
    if (earlier.includes(name)) issues.push(duplicateName(`${at}/name`, name))
    earlier.push(name)
    return issues
  })
}

const duplicateName = (pointer: string, value: string): Issue => ({
  pointer,
  code: 'duplicate',
  expected: 'the name of an earlier term of this base',
  value,
  instruction: 'Give each term another name.',
})

const NO_NAMES = 'No term before this one has a `name`. Give one to the term that it is a part of.'

function checkNames(
  names: readonly string[],
  pointer: string,
  earlier: readonly string[],
  all: readonly string[],
): Issue[] {
  return names.flatMap((value, i): Issue[] => {
    const at = `${pointer}/${i}`
    if (names.indexOf(value) < i) {
      const instruction = 'Name each term once.'
      return [{ pointer: at, code: 'duplicate', expected: 'in this list', value, instruction }]
    }
    if (earlier.includes(value)) return []
    const expected = 'the name of an earlier term of this base'
    const isLater = all.includes(value)
    const later = (isLater || earlier.length === 0) && {
      instruction: isLater ? 'Put the term that it names before this one.' : NO_NAMES,
    }
    const issue = { pointer: at, code: 'unknown_reference' as const, expected, value }
    return [{ ...issue, suggestions: earlier, ...later }]
  })
}
