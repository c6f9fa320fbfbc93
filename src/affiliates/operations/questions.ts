import * as v from 'valibot'
import { ulid } from '../../platform/db/ulid.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { ApiError } from '../../platform/errors.ts'
import { type Call, list, operation } from '../../platform/http/operation.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import * as rows from '../db/affiliate-questions.ts'
import { newAnswer } from './question-fields.ts'

const STATUSES = ['open', 'closed'] as const

/** Returns a question as the API shows it: one of `statement`, `line` and `customer` is what it is about. */
export function presentQuestion(question: rows.StoredQuestion) {
  const { id, affiliate_id, about, subject, statement, period, status, asked_at } = question
  const messages: rows.StoredMessage[] = JSON.parse(question.messages)
  return {
    id,
    affiliate_id,
    about,
    statement,
    line: about === 'line' ? subject : null,
    customer: about === 'customer' ? subject : null,
    period,
    status,
    asked_at,
    messages,
  }
}

/** Returns a new message of a question at `now` (milliseconds). */
export const newMessage = (now: number) => ({
  message: `msg_${ulid(now)}`,
  at: new Date(now).toISOString(),
})

/**
 * Refuses another message of a question that has as many as it may have.
 *
 * @throws ApiError `conflict`
 */
export function refuseLong({ messages }: rows.StoredQuestion): void {
  if (JSON.parse(messages).length < rows.MAX_MESSAGES) return
  throw new ApiError('conflict', {
    detail: `A question has at most ${rows.MAX_MESSAGES} messages. Ask another one about the same.`,
  })
}

/** Returns a question of the account. Throws `not_found`. */
async function findQuestion({ db, account }: Call, id: string) {
  const question = await rows.findQuestion(db, account.id, id)
  if (!question) throw notFound('question', id)
  return question
}

const auditOf = (
  { actor, account }: Call,
  { affiliate_id, id }: rows.StoredQuestion,
  verb: string,
) => ({
  actor,
  action: `affiliate-question.${verb}`,
  account: account.id,
  details: { affiliate_id, id },
})

/** The id of a question. */
export const question_id = member(
  v.string(),
  said('The id of the question.', 'qst_01M7W0R4W8E3V15G8XPED3Z94X'),
)
const status = v.picklist(STATUSES)

/** A question as the team and the affiliate see it. */
export const question = component('Question', () => ({
  id: question_id,
  affiliate_id: member(v.string(), 'The affiliate who asks.'),
  about: member(
    v.picklist(['statement', 'line', 'customer']),
    'What it is about: the one of `statement`, `line` and `customer` that the affiliate named.',
  ),
  statement: nullable(v.string(), 'The statement, also that of the line. Null: a customer.'),
  line: nullable(v.string(), 'The line or adjustment, or null.'),
  customer: nullable(v.string(), 'The customer, or null.'),
  period: nullable(v.string(), 'The period of the statement, or null.'),
  status: member(status, '`open` while it waits for the firm.'),
  asked_at: member(time, 'When it was asked.'),
  messages: member(
    v.array(
      v.object({
        at: member(time, 'When it was written.'),
        from: member(v.picklist(['affiliate', 'team']), 'Who wrote it.'),
        author: member(
          v.string(),
          'The member of the team; or the name of the member of the affiliate, or their key.',
        ),
        text: nullable(
          v.string(),
          'The words as they were written. Null: they were erased with the customer.',
        ),
      }),
    ),
    'What was written, the first message first.',
  ),
}))

const params = { question_id }
const ofQuestion = { topic: 'affiliates', path: '/questions/{question_id}', params } as const

/** By what a list of questions is narrowed. */
export const questionFilters = {
  status: optional(status, said('Returns only questions with this status.', 'open')),
  statement: optional(
    v.string(),
    said(
      'Returns only questions about this statement and its lines.',
      'stm_3f1c52a9d0e84b7796c1d20b',
    ),
  ),
}

export const listQuestions = list({
  topic: 'affiliates',
  path: '/questions',
  id: 'listQuestions',
  shows: 'affiliate',
  params: {
    affiliate_id: optional(v.string(), said('Only those of this affiliate.', 'IB-07')),
    ...questionFilters,
  },
  words: described(() => ({
    description:
      'Lists the questions of affiliates, the latest first, with what was written about each.',
    answer: question,
    command: {
      name: 'questions list',
      columns: ['id', 'affiliate_id', 'about', 'status', 'asked_at'],
    },
  })),
  async list({ db, account }, filter, page) {
    const found = await rows.listQuestions(db, account.id, filter, page)
    return { ...found, data: found.data.map(presentQuestion) }
  },
})

export const getQuestion = operation({
  ...ofQuestion,
  id: 'getQuestion',
  shows: 'affiliate',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a question with what was written about it.',
    answer: question,
    command: { name: 'questions show' },
  })),
  run: async (call, { question_id: id }) => presentQuestion(await findQuestion(call, id)),
})

export const answerQuestion = operation({
  ...ofQuestion,
  path: `${ofQuestion.path}/answers`,
  id: 'answerQuestion',
  shows: 'affiliate',
  method: 'POST',
  role: 'manager',
  body: newAnswer,
  status: 201,
  words: described(() => ({
    description: `Appends an answer, which the affiliate reads, and closes the question unless \`status\` is \`open\`. Two answers at the same moment are both stored, one after the other. A question has at most ${rows.MAX_MESSAGES} messages.`,
    answer: question,
    errors: ['conflict'],
    command: { name: 'questions answer' },
  })),
  async run(call, { question_id: id, text, status: then = 'closed' }) {
    const found = await findQuestion(call, id)
    refuseLong(found)
    const answer = { question: id, side: 'team', author: call.actor, text, status: then } as const
    await withAudit(
      call.db,
      auditOf(call, found, 'answer'),
      rows.appendAnswer(call.db, call.account.id, { ...answer, ...newMessage(Date.now()) }),
    )
    return presentQuestion(await findQuestion(call, id))
  },
})

/** The operations by which the team reads and answers the questions of affiliates. */
export const QUESTION_OPERATIONS = [listQuestions, getQuestion, answerQuestion]
