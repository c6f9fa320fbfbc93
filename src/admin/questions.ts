import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  appendAnswer,
  findQuestion,
  listQuestions,
  MAX_MESSAGES,
  type StoredMessage,
  type StoredQuestion,
  setQuestionStatus,
} from '../db/directory/affiliate-questions.ts'
import { withAudit } from '../db/directory/audit.ts'
import { ulid } from '../db/ulid.ts'
import { ApiError } from '../errors.ts'
import { readChoice, readQuery } from '../http/query.ts'
import { notFound, readFields } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { respondWithFilteredList } from './list-route.ts'
import { newAnswer, questionChange } from './question-fields.ts'

const STATUSES = ['open', 'closed'] as const

/** Reads the status by which a list of questions is narrowed. */
export const readQuestionStatus = (text: string | undefined) => readChoice('status', text, STATUSES)

/** Returns a question as the API shows it: one of `statement`, `line` and `customer` is what it is about. */
export function presentQuestion(question: StoredQuestion) {
  const { id, affiliate_id, about, subject, statement, period, status, asked_at } = question
  const messages: StoredMessage[] = JSON.parse(question.messages)
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
export function refuseLong({ messages }: StoredQuestion): void {
  if (JSON.parse(messages).length < MAX_MESSAGES) return
  throw new ApiError('conflict', {
    detail: `A question has at most ${MAX_MESSAGES} messages. Ask another one about the same.`,
  })
}

/** Returns the question that the path names, with its account. Throws `not_found`. */
async function findRouteQuestion(c: Context<AppEnv>) {
  const account = await findRouteAccount(c)
  const db = resolveDatabase(c.env, account.binding)
  const id = c.req.param('question_id') ?? ''
  const question = await findQuestion(db, account.id, id)
  if (!question) throw notFound('question', id)
  return { account: account.id, db, question }
}

type RouteQuestion = Awaited<ReturnType<typeof findRouteQuestion>>

/** Returns the question as it is stored now. */
async function readAgain({ account, db, question }: RouteQuestion) {
  const found = await findQuestion(db, account, question.id)
  return presentQuestion(found ?? question)
}

const auditOf = (c: Context<AppEnv>, { account, question }: RouteQuestion, verb: string) => ({
  ...{ actor: c.var.actor, action: `affiliate-question.${verb}`, account },
  details: { affiliate_id: question.affiliate_id, id: question.id },
})

/** Routes by which the team reads and answers the questions of affiliates. */
export const questions = new Hono<AppEnv>()
  .get('/', (c) => {
    const names = ['affiliate_id', 'statement', 'status'] as const
    return respondWithFilteredList(c, 'questions', names, async (account, page, db, filter) => {
      const { status: text, ...rest } = filter
      const status = readQuestionStatus(text)
      const found = await listQuestions(
        db,
        account.id,
        { ...rest, ...(status && { status }) },
        page,
      )
      return { ...found, data: found.data.map(presentQuestion) }
    })
  })

  .get('/:question_id', async (c) => {
    readQuery(c.req.url)
    return c.json(presentQuestion((await findRouteQuestion(c)).question))
  })

  .post('/:question_id/answers', async (c) => {
    readQuery(c.req.url)
    const { text, status = 'closed' } = await readFields(c, newAnswer)
    const found = await findRouteQuestion(c)
    const { account, db, question } = found
    refuseLong(question)
    const { actor } = c.var
    const answer = { question: question.id, side: 'team', author: actor, text, status } as const
    await withAudit(
      db,
      auditOf(c, found, 'answer'),
      appendAnswer(db, account, { ...answer, ...newMessage(Date.now()) }),
    )
    return c.json(await readAgain(found), 201)
  })

  .patch('/:question_id', async (c) => {
    readQuery(c.req.url)
    const { status } = await readFields(c, questionChange)
    const found = await findRouteQuestion(c)
    const { account, db, question } = found
    if (question.status !== status) {
      const verb = status === 'open' ? 'open' : 'close'
      await withAudit(db, auditOf(c, found, verb), [
        setQuestionStatus(db, account, question.id, status),
      ])
    }
    return c.json(await readAgain(found))
  })
