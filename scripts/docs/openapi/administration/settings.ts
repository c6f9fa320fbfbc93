import * as fields from '../../../../src/admin/fields.ts'
import { closedObject } from '../../json-schema.ts'
import type { Operation } from '../operation.ts'
import { ACCOUNT_PATH, AT, COUNT, operation, returned } from './operation.ts'

/** Lists the operations on affiliates. */
export const affiliates = (): Operation[] => [
  operation({
    method: 'put',
    path: `${ACCOUNT_PATH}/affiliates`,
    id: 'putAffiliates',
    parameters: ['dry_run', 'only_new'],
    summary: 'Configure affiliates',
    description:
      'Adds or changes 1 to 1000 affiliates, each with an optional parent. Customers that named an affiliate earlier are assigned to it without being sent again. An id with white space around it is refused, and so is `*`.',
    body: {
      schema: {
        type: 'array',
        items: closedObject(fields.affiliate, AT),
        minItems: 1,
        maxItems: 1000,
      },
    },
    answers: returned(
      'The number of affiliates received, of those new or changed, and of those whose parent was removed, if there are any.',
      {
        type: 'object',
        properties: { received: COUNT, changed: COUNT, parents_removed: COUNT },
        required: ['received', 'changed'],
      },
    ),
    errors: ['conflict', 'already_exists'],
  }),
]
