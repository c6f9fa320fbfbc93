import { list, object } from '../format.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const STATUSES = ['open', 'closed'] as const

const QUESTION_PATH = 'accounts/{account}/questions/{question_id}'

const ANSWER: Options = {
  text: { value: 'text', description: 'The answer. The affiliate reads it.', required: true },
  status: {
    value: 'status',
    description: '`open` keeps the question open. (default: closed)',
    choices: STATUSES,
  },
}

const CHANGE: Options = {
  status: {
    value: 'status',
    description: '`closed`, or `open` again.',
    choices: STATUSES,
    required: true,
  },
}

/** The questions of affiliates, and the answers of the team. */
export const QUESTIONS: readonly Operation[] = [
  listOperation({
    noun: 'questions',
    verb: 'list',
    summary: 'Lists questions of affiliates, the latest first.',
    example: 'acme --status open',
    path: 'accounts/{account}/questions',
    options: {
      'asked-since': {
        value: 'time',
        description: 'Only questions that were asked since this time.',
      },
      status: {
        value: 'status',
        description: 'Only questions with this status.',
        choices: STATUSES,
      },
      affiliate: {
        value: 'affiliate_id',
        description: 'Only this affiliate.',
        member: 'affiliate_id',
      },
      statement: {
        value: 'statement_id',
        description: 'Only questions about this statement and its lines.',
      },
    },
    format: list(['id', 'affiliate_id', 'about', 'status', 'asked_at']),
  }),
  {
    noun: 'questions',
    verb: 'show',
    summary: 'Shows a question with all messages.',
    example: 'acme qst_01M7W0R4W8E3V15G8XPED3Z94X',
    method: 'GET',
    path: QUESTION_PATH,
    format: object,
  },
  {
    noun: 'questions',
    verb: 'answer',
    summary: 'Answers a question, and closes it.',
    example: 'acme qst_01M7W0R4W8E3V15G8XPED3Z94X --text Corrected',
    method: 'POST',
    path: `${QUESTION_PATH}/answers`,
    options: ANSWER,
    body: (input) => membersOf(ANSWER, input),
    format: object,
  },
  {
    noun: 'questions',
    verb: 'set',
    summary: 'Closes a question without an answer, or opens it again.',
    example: 'acme qst_01M7W0R4W8E3V15G8XPED3Z94X --status closed',
    method: 'PATCH',
    path: QUESTION_PATH,
    options: CHANGE,
    body: (input) => membersOf(CHANGE, input),
    format: object,
  },
]
