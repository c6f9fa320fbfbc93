import { assignmentIssues, readAssignments } from '../../src/commission/plans/assignments.ts'
import type { Issue } from '../../src/validation/issue.ts'
import type { Input } from './operation.ts'
import { nameAffiliate, readRows } from './read-rows.ts'
import type { AdminRequest, SendRequest } from './request.ts'
import { MAX_ROWS, refuse, sendBulks, toBulks } from './send-bulks.ts'

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
  // A single request is refused as a whole. Of several, the earlier ones would stay.
  if (rows.length > MAX_ROWS) {
    const path = request.path.replace(/assignments$/, 'plans')
    const { data } = (await send({ ...request, method: 'GET', path })) as {
      data: { plan: string }[]
    }
    const plans = data.map(({ plan }) => plan)
    refuse(file, rows, findIssues(rows, plans))
  }
  const answers = await sendBulks<Answer>(send, request, rows, 'assignments')
  const total: Answer = { received: 0, changed: 0, warnings: [], warnings_total: 0 }
  for (const [i, answer] of answers.entries()) {
    const body = rows.slice(i * MAX_ROWS)
    total.received += answer.received
    total.changed += answer.changed
    total.warnings_total += answer.warnings_total
    total.warnings.push(
      ...answer.warnings.map((one) => ({ ...one, pointer: nameAffiliate(one.pointer, body) })),
    )
  }
  return total
}

/** Returns what the service would refuse in any of the requests, and keys that two of them have. */
function findIssues(rows: readonly Assignment[], plans: readonly string[]): Issue[] {
  const keys = new Set<string>()
  return toBulks(rows).flatMap((bulk, i) => {
    const { issues, sent } = readAssignments(bulk)
    const own = [...issues, ...assignmentIssues(sent, plans)]
    const before = new Set(keys)
    for (const { pointer, affiliate_id, from } of sent) {
      const key = JSON.stringify([affiliate_id, from])
      if (before.has(key)) own.push({ pointer, code: 'duplicate_key' })
      keys.add(key)
    }
    return own.map((one) => ({ ...one, pointer: inFile(one.pointer, i * MAX_ROWS) }))
  })
}

/** Returns a pointer into the rows of a request as one into those of the file. */
const inFile = (pointer: string, first: number) =>
  pointer.replace(/^\/(\d+)/, (_, index) => `/${first + Number(index)}`)
