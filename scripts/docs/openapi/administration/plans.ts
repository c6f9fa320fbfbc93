import { MAX_ASSIGNMENTS } from '../../../../src/commission/plans/assignments.ts'
import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import { ACCOUNT_PATH, NO_CONTENT, operation, paged, returned } from './operation.ts'

const PLAN_PATH = `${ACCOUNT_PATH}/plans/{plan}`
const VERSION_PATH = `${PLAN_PATH}/versions/{version}`

/** Lists the operations on plans. */
export const plans = (): Operation[] => [
  operation({
    method: 'put',
    path: PLAN_PATH,
    id: 'putPlan',
    summary: 'Put a version of a plan',
    description:
      'Validates a plan and stores it as its next version. A version never changes. If the latest version has the same terms, nothing is stored. `effective_from` comes after the last period of the plan that is closed. Plans offer no minimum trade time, hedged volume or spread limit per trade, because daily aggregates do not show them.',
    parameters: ['plan_after'],
    body: { schema: ref('CommissionPlan') },
    answers: {
      200: { description: 'The latest version has these terms.', schema: ref('PutPlan') },
      201: { description: 'The new version.', schema: ref('PutPlan') },
    },
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/plans`,
    id: 'listPlans',
    summary: 'List plans',
    description: 'Lists the plans of an account, ordered by id.',
    answers: returned('The plans.', listOf(ref('Plan'))),
  }),
  operation({
    method: 'get',
    path: PLAN_PATH,
    id: 'getPlan',
    summary: 'Get a plan',
    description: 'Returns a plan with its versions, also withdrawn ones.',
    answers: returned('The plan.', ref('PlanWithVersions')),
  }),
  operation({
    method: 'get',
    path: `${PLAN_PATH}/versions`,
    id: 'listPlanVersions',
    summary: 'List the versions of a plan',
    description: 'Lists the versions of a plan with their terms, the latest first.',
    parameters: PAGING,
    answers: paged('One page of versions.', ref('PlanVersion')),
  }),
  operation({
    method: 'get',
    path: VERSION_PATH,
    id: 'getPlanVersion',
    summary: 'Get a version of a plan',
    description: 'Returns the terms of a version.',
    answers: returned('The version.', ref('PlanVersion')),
  }),
  operation({
    method: 'delete',
    path: VERSION_PATH,
    id: 'withdrawPlanVersion',
    summary: 'Withdraw a version of a plan',
    description:
      'Withdraws a version that was never in force. The first version of a plan with assignments, manual entries that no approved statement has, or closed periods cannot be withdrawn, because it also governs earlier days. The number of a withdrawn version is not used again.',
    answers: NO_CONTENT,
    errors: ['conflict'],
  }),
]

const PATH = `${ACCOUNT_PATH}/assignments`

/** Lists the operations on the assignments of plans. */
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
  operation({
    method: 'get',
    path: PATH,
    id: 'listAssignments',
    summary: 'List assignments',
    description: 'Lists assignments, ordered by `affiliate_id` and `from`.',
    parameters: [...PAGING, 'assignments_query'],
    answers: paged('One page of assignments.', ref('Assignment')),
  }),
  operation({
    method: 'delete',
    path: PATH,
    id: 'deleteAssignment',
    summary: 'Delete an assignment',
    description:
      'Deletes the assignment of an affiliate that begins on a day. One that begins in or before a closed period of the affiliate stays.',
    parameters: ['assigned_query', 'assigned_from'],
    answers: NO_CONTENT,
    errors: ['conflict'],
  }),
]
