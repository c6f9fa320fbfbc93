import { ApiError } from '../../errors.ts'
import type { Issue } from '../../validation/issue.ts'
import { formatIssue } from '../../validation/messages.ts'

/** The number of issues of a file that a response lists. */
export const MAX_LISTED = 1000

/** What is wrong with a file: the first issues, and the number of all. */
export interface IssueList {
  readonly listed: readonly Issue[]
  readonly total: number
  add(issue: Issue): void
}

/** Returns an empty list. It keeps 1000 issues and counts the others. */
export function issueList(): IssueList {
  const listed: Issue[] = []
  let total = 0
  return {
    listed,
    get total() {
      return total
    },
    add(issue) {
      total += 1
      if (listed.length < MAX_LISTED) listed.push(issue)
    },
  }
}

/** Returns the error for a refused file. */
export const fileRefused = (issues: Pick<IssueList, 'listed' | 'total'>) =>
  new ApiError('validation_failed', {
    detail: 'The file was refused. Nothing was stored.',
    errors: issues.listed.map(formatIssue),
    errors_total: issues.total,
  })
