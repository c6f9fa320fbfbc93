import { caseDecision, caseNote } from '../../../../src/fraud/decision-fields.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { CASE_NOTE, WHOLE_CASE } from '../cases.ts'
import { type Operation, ref } from '../operation.ts'
import { COUNT } from '../shapes.ts'
import { ACCOUNT_PATH, AT, operation } from './operation.ts'

const CASE_PATH = `${ACCOUNT_PATH}/cases/{case_id}`

/** The schemas of decisions and notes. */
export const DECISION_SCHEMAS: Record<string, JsonSchema> = {
  WaitingFraudCase: object({
    ...WHOLE_CASE,
    approvals_required: documented('The number of different persons who must decide it.', COUNT),
    message: documented('What is still needed.'),
  }),
  FraudNote: CASE_NOTE,
}
/** Lists the operations by which the team decides cases. */
export const fraudDecisions = (): Operation[] => [
  operation({
    method: 'post',
    path: `${CASE_PATH}/decide`,
    id: 'decideFraudCase',
    summary: 'Decide a case',
    description:
      'Confirms or dismisses an open case, with a reason. A decision ends the hold of the case, unless it is confirmed with `keep_hold`. The customers of `refuse` earn nothing from `from` on, with the case as the reason; a customer who is refused already from then on stays as they are. All of it is stored, or nothing. A case that was confirmed with `keep_hold` is confirmed again without it to end its hold; nothing else of a decision can be changed. If the account requires two persons, the first one gets 202, and the second one must decide the same about the same records.',
    body: { schema: closedObject(caseDecision, AT) },
    answers: {
      200: { description: 'The case is decided.', schema: ref('WholeFraudCase') },
      202: { description: 'Another person must decide the same.', schema: ref('WaitingFraudCase') },
    },
    errors: ['not_open', 'evidence_changed'],
  }),
  operation({
    method: 'post',
    path: `${CASE_PATH}/note`,
    id: 'addFraudCaseNote',
    summary: 'Write a note about a case',
    description:
      'Stores a note of the team. The account does not read it. Each request stores one more, and none can be changed.',
    body: { schema: closedObject(caseNote, AT) },
    answers: { 201: { description: 'The note.', schema: ref('FraudNote') } },
    errors: ['conflict'],
  }),
]
