import { MAX_ASSIGNMENTS } from '../../../../src/commission/plans/assignments.ts'
import { type Operation, ref } from '../operation.ts'
import { ACCOUNT_PATH, operation, returned } from './operation.ts'

const PATH = `${ACCOUNT_PATH}/assignments`

/** Lists the operation that assigns plans. */
export const assignments = (): Operation[] => [
  operation({
    method: 'put',
    path: PATH,
    id: 'putAssignments',
    summary: 'Assign plans to affiliates',
    description: `Adds or changes 1 to ${MAX_ASSIGNMENTS} assignments by \`affiliate_id\` and \`from\`, all or none. A \`from\` in or before a closed period of the affiliate is refused; for \`*\`, of any affiliate that it covers. Assignments that are stored already can be sent again.`,
    body: {
      schema: { type: 'array', items: ref('Assignment'), minItems: 1, maxItems: MAX_ASSIGNMENTS },
    },
    answers: returned('The number of assignments received and changed.', ref('PutAssignments')),
    errors: ['conflict'],
  }),
]
