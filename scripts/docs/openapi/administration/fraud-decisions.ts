import {
  caseDecision,
  caseNote,
  holdAcknowledgement,
} from '../../../../src/fraud/decision-fields.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { CASE_NOTE, WHOLE_CASE } from '../cases.ts'
import { type Operation, PAGE_HEADERS, PAGING, pageOf, ref } from '../operation.ts'
import { COUNT, DAY, FLAG, oneOf, orNull, TEXT, TIME } from '../shapes.ts'
import { subject } from './fraud-simulation.ts'
import { ACCOUNT_PATH, AT, operation } from './operation.ts'

const CASE_PATH = `${ACCOUNT_PATH}/cases/{case_id}`

/** The members of a hold that ended. */
const ENDED_HOLD = {
  case_id: documented('The id of the case.'),
  affiliate_id: documented('The affiliate whose payouts it held.'),
  rule: documented('The id of the rule that found it.'),
  name: documented('The display name of the rule.'),
  subject,
  sentence: documented('What was found, in one sentence.'),
  because: documented(
    'Why the hold ended. `records`: records of the case were corrected, erased or given to another affiliate, so that it is gone; `rule`: another version of the rule applies, which finds or holds less; `expired`: nobody decided it in time.',
    oneOf('records', 'rule', 'expired'),
  ),
  moved: {
    ...object({
      customer_id: documented('The customer.'),
      affiliate_id: documented('The affiliate that the customer has now, or null.', orNull(TEXT)),
      from: documented('The first day with it. Null: from the beginning.', orNull(DAY)),
    }),
    type: ['object', 'null'],
    description: 'A customer of the case who was moved to another affiliate, or null.',
  },
  opened_at: documented('When an evaluation first found the case.', TIME),
  ended_at: documented('When an evaluation ended the hold.', TIME),
  is_case: documented('Whether the case exists.', FLAG),
  goes_on: documented(
    'Whether it goes on until two persons have acknowledged it or decided the case, since the account requires two.',
    FLAG,
  ),
  acknowledged: {
    ...object({
      actor: documented('Who acknowledged it first.'),
      reason: documented('What the person found.'),
      at: documented('When.', TIME),
    }),
    type: ['object', 'null'],
    description: 'The acknowledgement of one person while another one must follow, or null.',
  },
}

/** The schemas of decisions and notes. */
export const DECISION_SCHEMAS: Record<string, JsonSchema> = {
  WaitingFraudCase: object({
    ...WHOLE_CASE,
    approvals_required: documented('The number of different persons who must decide it.', COUNT),
    message: documented('What is still needed.'),
  }),
  FraudNote: CASE_NOTE,
  EndedHold: object(ENDED_HOLD),
  WaitingEndedHold: object({
    ...ENDED_HOLD,
    approvals_required: documented('The number of different persons who must do so.', COUNT),
    message: documented('What is still needed.'),
  }),
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
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/ended-holds`,
    id: 'listEndedHolds',
    summary: 'List holds that ended without a decision',
    description:
      'Returns the holds of payouts that an evaluation ended although nobody had decided the case, the latest first: each until a person acknowledges it, the case is decided, or it holds again.',
    parameters: [...PAGING, 'payout_affiliate'],
    answers: {
      200: {
        description: 'One page of ended holds.',
        schema: pageOf(ref('EndedHold')),
        headers: PAGE_HEADERS,
      },
    },
  }),
  operation({
    method: 'post',
    path: `${ACCOUNT_PATH}/ended-holds/{case_id}/acknowledge`,
    id: 'acknowledgeEndedHold',
    summary: 'Acknowledge the end of a hold',
    description:
      'Notes in the audit log that a person has looked at the end of a hold, with a reason. It is no longer listed, and `attention` no longer names it. A hold that goes on (`goes_on`) needs the acknowledgement of two persons, which ends it; the first one gets 202.',
    body: { schema: closedObject(holdAcknowledgement, AT) },
    answers: {
      200: { description: 'It is acknowledged.', schema: ref('EndedHold') },
      202: {
        description: 'Another person must acknowledge it too. Until then payouts stay held.',
        schema: ref('WaitingEndedHold'),
      },
    },
  }),
]
