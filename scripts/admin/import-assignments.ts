import { ApiError } from './errors.ts'
import type { Input } from './operation.ts'
import { nameAffiliate, readRows } from './read-rows.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** The largest number of assignments in one request. */
const MAX_ASSIGNMENTS = 1000

const COLUMNS = ['affiliate_id', 'plan', 'from', 'customers'] as const

type Assignment = Partial<Record<(typeof COLUMNS)[number], string>>

/** The answer to one request. */
interface Answer {
  received: number
  changed: number
  warnings: { pointer: string; message: string }[]
  warnings_total: number
}

/** Sets the assignments of a file. Returns the sum of all responses. */
export async function importAssignments(send: SendRequest, request: AdminRequest, input: Input) {
  const { file = '' } = input.operands
  const rows = await readRows<Assignment>(file, 'assignments', COLUMNS)
  const total: Answer = { received: 0, changed: 0, warnings: [], warnings_total: 0 }
  for (let first = 0; first < rows.length; first += MAX_ASSIGNMENTS) {
    const body = rows.slice(first, first + MAX_ASSIGNMENTS)
    const answer = (await send({ ...request, body }).catch((error) => {
      throw withAffiliates(error, body, first)
    })) as Answer
    total.received += answer.received
    total.changed += answer.changed
    total.warnings_total += answer.warnings_total
    total.warnings.push(
      ...answer.warnings.map((one) => ({ ...one, pointer: nameAffiliate(one.pointer, body) })),
    )
  }
  return total
}

/** Replaces the places of errors in the request by the ids of affiliates. */
function withAffiliates(error: unknown, bulk: readonly Assignment[], done: number): unknown {
  if (!(error instanceof ApiError)) return error
  const errors = error.problem.errors?.map((one) => ({
    ...one,
    pointer: nameAffiliate(one.pointer, bulk),
  }))
  const response = { ...error.response, body: { ...error.problem, errors } }
  const notes =
    done > 0 ? [`  ${done} assignments of the file were set before. Import the file again.`] : []
  return new ApiError(response, notes)
}
