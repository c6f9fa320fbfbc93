import { newAnswer, questionChange } from '../../../src/admin/question-fields.ts'
import { MAX_MESSAGES } from '../../../src/db/directory/affiliate-questions.ts'
import { documented, object } from '../envelopes.ts'
import { closedObject } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { ACCOUNT_PATH, AT, operation } from './administration/operation.ts'
import { type Operation, PAGE_HEADERS, PAGING, pageOf, ref } from './operation.ts'
import { oneOf, orNull, TEXT, TIME } from './shapes.ts'

// The questions of affiliates, as the team and the affiliate read them.

/** The schema of a question. */
export const QUESTION_SCHEMAS: Record<string, JsonSchema> = {
  Question: object({
    id: documented('The id of the question.'),
    affiliate_id: documented('The affiliate who asks.'),
    about: documented(
      'What it is about: the one of `statement`, `line` and `customer` that the affiliate named.',
      oneOf('statement', 'line', 'customer'),
    ),
    statement: documented('The statement, also that of the line. Null: a customer.', orNull(TEXT)),
    line: documented('The line or adjustment, or null.', orNull(TEXT)),
    customer: documented('The customer, or null.', orNull(TEXT)),
    period: documented('The period of the statement, or null.', orNull(TEXT)),
    status: documented('`open` while it waits for the firm.', oneOf('open', 'closed')),
    asked_at: documented('When it was asked.', TIME),
    messages: documented('What was written, the first message first.', {
      type: 'array',
      items: object({
        at: documented('When it was written.', TIME),
        from: documented('Who wrote it.', oneOf('affiliate', 'team')),
        author: documented(
          'The member of the team; or the name of the member of the affiliate, or their key.',
        ),
        text: documented(
          'The words as they were written. Null: they were erased with the customer.',
          orNull(TEXT),
        ),
      }),
    }),
  }),
}

const QUESTIONS_PATH = `${ACCOUNT_PATH}/questions`

/** Lists the operations by which the team reads and answers questions. */
export const questionOperations = (): Operation[] => [
  operation({
    method: 'get',
    path: QUESTIONS_PATH,
    id: 'listQuestions',
    summary: 'List questions',
    description:
      'Lists the questions of affiliates, the latest first, with what was written about each.',
    parameters: [...PAGING, 'payout_affiliate', 'question_status', 'question_statement'],
    answers: {
      200: {
        description: 'One page of questions.',
        schema: pageOf(ref('Question')),
        headers: PAGE_HEADERS,
      },
    },
  }),
  operation({
    method: 'get',
    path: `${QUESTIONS_PATH}/{question_id}`,
    id: 'getQuestion',
    summary: 'Get a question',
    description: 'Returns a question with what was written about it.',
    answers: { 200: { description: 'The question.', schema: ref('Question') } },
  }),
  operation({
    method: 'post',
    path: `${QUESTIONS_PATH}/{question_id}/answers`,
    id: 'answerQuestion',
    summary: 'Answer a question',
    description: `Appends an answer, which the affiliate reads, and closes the question unless \`status\` is \`open\`. Two answers at the same moment are both stored, one after the other. A question has at most ${MAX_MESSAGES} messages.`,
    body: { schema: closedObject(newAnswer, AT) },
    answers: { 201: { description: 'The question.', schema: ref('Question') } },
    errors: ['conflict'],
  }),
  operation({
    method: 'patch',
    path: `${QUESTIONS_PATH}/{question_id}`,
    id: 'changeQuestion',
    summary: 'Close a question, or open it again',
    description: 'Closes a question without an answer, or opens it again.',
    body: { schema: closedObject(questionChange, AT) },
    answers: { 200: { description: 'The question.', schema: ref('Question') } },
  }),
]
