import type { Issue } from '../../src/validation/issue.ts'
import { formatIssue } from '../../src/validation/messages.ts'
import { usageError } from '../exit-error.ts'
import { ApiError, issueLine } from './errors.ts'
import { nameAffiliate } from './read-rows.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** The most rows in one request. */
export const MAX_ROWS = 1000

/** The most mistakes of a file that an error lists. */
const MAX_LISTED = 20

interface Row {
  affiliate_id?: string
}

/** Splits rows into those of each request. */
export const toBulks = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / MAX_ROWS) }, (_, i) =>
    rows.slice(i * MAX_ROWS, (i + 1) * MAX_ROWS),
  )

/** Throws an error that names the affiliate of each issue, before any request stores rows. */
export function refuse(file: string, rows: readonly Row[], issues: readonly Issue[]): void {
  if (issues.length === 0) return
  const lines = issues.slice(0, MAX_LISTED).map((one) => {
    const { message, hint, code, pointer } = formatIssue(one)
    // The hint of this code names a path of the partner API.
    const kept = code === 'unknown_affiliate' || hint === undefined ? {} : { hint }
    return issueLine({ code, message, pointer: nameAffiliate(pointer, rows), ...kept })
  })
  const unlisted = issues.length - lines.length
  const more = unlisted > 0 ? [`  … and ${unlisted} more`] : []
  throw usageError([`${file}: nothing was changed.`, ...lines, ...more].join('\n'))
}

/** Sends rows in requests of at most 1000. `noun` names them in errors. Returns each response. */
export async function sendBulks<T>(
  send: SendRequest,
  request: AdminRequest,
  rows: readonly Row[],
  noun: string,
): Promise<T[]> {
  const answers: T[] = []
  for (const [i, body] of toBulks(rows).entries()) {
    const answer = await send({ ...request, body }).catch((error) => {
      throw withAffiliates(error, body, i * MAX_ROWS, noun)
    })
    answers.push(answer as T)
  }
  return answers
}

/** Replaces the places of errors by the ids of affiliates, and says how many rows are stored. */
function withAffiliates(error: unknown, bulk: readonly Row[], done: number, noun: string): unknown {
  if (!(error instanceof ApiError)) return error
  const { detail, errors } = error.problem
  const named = errors?.map((one) => ({ ...one, pointer: nameAffiliate(one.pointer, bulk) }))
  const body = { ...error.problem, errors: named }
  if (done === 0) return new ApiError({ ...error.response, body })
  // The detail is about this request, not about the file.
  const own = detail?.replace('Nothing was changed.', 'This request changed nothing.')
  return new ApiError({ ...error.response, body: { ...body, detail: own } }, [
    `  ${done} ${noun} of the file were set before. Import the file again.`,
  ])
}
