import type { Issue } from '../../validation/issue.ts'
import { PLAN_LIMITS } from './limits.ts'

// What the author of a plan can do where the code of an issue alone does not tell.

/** Returns an issue of a plan with a hint for the member that it points to, if there is one. */
export function withHint(issue: Issue): Issue {
  const { pointer, code } = issue
  if (pointer === '/rules' && code === 'length') {
    const expected = `1 to ${PLAN_LIMITS.rules} rules`
    return { ...issue, expected, ...(issue.received !== '0' && { instruction: FEWER_RULES }) }
  }
  if (!['pattern', 'length', 'minimum', 'maximum'].includes(code)) return issue
  if (pointer.endsWith('/months')) return { ...issue, instruction: NO_END }
  if (pointer.includes('instruments/')) return { ...issue, instruction: SHORTER }
  return issue
}

const FEWER_RULES =
  'Combine rules that differ only in what they name: a base has several terms, `when` has lists, and `tiers` has steps.'

const NO_END = 'Leave out `months` if the rule has no time limit.'

const SHORTER = 'Use shorter patterns with fewer stars.'
