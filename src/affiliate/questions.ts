import type { Context } from 'hono'
import { moreWords, newQuestion } from '../admin/question-fields.ts'
import { newMessage, presentQuestion, readQuestionStatus, refuseLong } from '../admin/questions.ts'
import { sendCaused } from '../admin/send-caused.ts'
import type { AppEnv } from '../auth/authorize.ts'
import { maySee } from '../auth/grant.ts'
import { statementOfLine } from '../commission/statements/ids.ts'
import { parseScope } from '../commission/statements/line-groups.ts'
import { findItem } from '../db/commission/books/stored-items.ts'
import { findStatement } from '../db/commission/statements.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  appendWords,
  findQuestion,
  insertQuestion,
  listQuestions,
  MAX_OPEN_QUESTIONS,
  type QuestionSubject,
} from '../db/directory/affiliate-questions.ts'
import { withAudit } from '../db/directory/audit.ts'
import { isAssertionFailure } from '../db/retry.ts'
import { ulid } from '../db/ulid.ts'
import { ApiError } from '../errors.ts'
import { ReadMemory } from '../http/memory.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { readFields, validationFailed } from '../http/read-fields.ts'
import { namedCustomer, namedLine, showTo } from '../http/show.ts'
import { type AdmittedAffiliate, callerOf } from './me.ts'

/** What somebody else's statement, line or customer is answered with, and one that does not exist. */
const notYours = () =>
  new ApiError('not_found', { detail: 'You have no statement, line or customer with this id.' })

/** Returns the error of a question that is refused as a whole. */
const refused = (code: 'choice' | 'maximum', message: string) =>
  validationFailed([{ pointer: '', code, message }])

type Sent = {
  statement?: string | undefined
  line?: string | undefined
  customer?: string | undefined
}

/** Returns the customer that a line is for; null if it is for others. */
function customerOfLine(item: string): string | null {
  const { scope = '' }: { scope?: string } = JSON.parse(item)
  const { of, id } = parseScope(scope)
  return of === 'customer' ? id : null
}

/**
 * Finds what a question is about.
 *
 * @throws ApiError `validation_failed` if it is not about one thing; `not_found` if that is not the affiliate's.
 */
async function findSubject(
  c: Context<AppEnv>,
  caller: AdmittedAffiliate,
  { statement, line, customer }: Sent,
): Promise<QuestionSubject> {
  const { account, grant } = caller
  const db = resolveDatabase(c.env, account.binding)
  if ([statement, line, customer].filter((one) => one !== undefined).length !== 1) {
    throw refused(
      'choice',
      'A question is about one thing: send one of `statement`, `line` and `customer`.',
    )
  }
  if (customer !== undefined) {
    const id = await namedCustomer(c.var, customer)
    if (id === null) throw notYours()
    return { about: 'customer', subject: id, statement: null, period: null, customer_id: id }
  }
  if (line !== undefined) {
    const item = await namedLine(c.var, line)
    const of = item && statementOfLine(item)
    const found = of && (await findItem(db, account.id, of, item))
    if (!found || found.item === null || !maySee(grant, found.affiliate_id, found.status)) {
      throw notYours()
    }
    const customer_id = customerOfLine(found.item)
    return { about: 'line', subject: item, statement: of, period: found.period, customer_id }
  }
  const id = statement ?? ''
  const found = await findStatement(db, account.id, id, 1)
  if (!found || !maySee(grant, found.affiliate_id, found.status)) throw notYours()
  const { period } = found
  return { about: 'statement', subject: id, statement: id, period, customer_id: null }
}

const tooMany = () =>
  refused(
    'maximum',
    `You have ${MAX_OPEN_QUESTIONS} open questions, which is the most. Wait until the firm answers one of them.`,
  )

/** Stores what an affiliate writes, with its entry in the audit log, and sends the event that it causes. */
async function store(
  c: Context<AppEnv>,
  caller: AdmittedAffiliate,
  { question, verb }: { question: string; verb: 'ask' | 'add' },
  statements: readonly D1PreparedStatement[],
): Promise<Response> {
  const { account, id, grant } = caller
  const db = resolveDatabase(c.env, account.binding)
  const entry = {
    ...{ actor: c.var.actor, action: `affiliate-question.${verb}`, account: account.id },
    details: { affiliate_id: id, id: question },
  }
  await withAudit(db, entry, [...statements]).catch((error) => {
    throw isAssertionFailure(error) ? tooMany() : error
  })
  const call = { env: c.env, waitUntil: (sent: Promise<unknown>) => c.executionCtx.waitUntil(sent) }
  sendCaused(call, { id: account.id, binding: grant.binding })
  return c.json(await showTo(c, await readOwn(c, caller, question)), 201)
}

const NO_QUESTION = 'You have no question with this id.'

/** Returns a question of the affiliate. Throws `not_found`. */
async function findOwn(c: Context<AppEnv>, { account, id }: AdmittedAffiliate, question: string) {
  const db = resolveDatabase(c.env, account.binding)
  const found = await findQuestion(db, account.id, question)
  if (found?.affiliate_id === id) return found
  throw new ApiError('not_found', { detail: NO_QUESTION })
}

const readOwn = async (...args: Parameters<typeof findOwn>) =>
  presentQuestion(await findOwn(...args))

/** Stores a question of the affiliate. */
export async function ask(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const caller = await callerOf(c)
  const { text, ...sent } = await readFields(c, newQuestion)
  const subject = await findSubject(c, caller, sent)
  const { account, id } = caller
  const now = Date.now()
  const question = `qst_${ulid(now)}`
  const db = resolveDatabase(c.env, account.binding)
  const words = { question, side: 'affiliate', author: c.var.actor, text } as const
  const row = { ...subject, ...words, ...newMessage(now), affiliate_id: id }
  return store(c, caller, { question, verb: 'ask' }, insertQuestion(db, account.id, row))
}

/** Stores more words of the affiliate about one of their questions, which open it again. */
export async function askMore(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const caller = await callerOf(c)
  const { text } = await readFields(c, moreWords)
  const found = await findOwn(c, caller, c.req.param('question_id') ?? '')
  refuseLong(found)
  const { account, id } = caller
  const db = resolveDatabase(c.env, account.binding)
  const words = { question: found.id, side: 'affiliate', author: c.var.actor } as const
  const message = { ...words, text, ...newMessage(Date.now()), affiliate_id: id }
  const statements = appendWords(db, account.id, message)
  return store(c, caller, { question: found.id, verb: 'add' }, statements)
}

/** Responds with one question of the affiliate. */
export async function respondWithQuestion(c: Context<AppEnv>): Promise<Response> {
  readQuery(c.req.url)
  const caller = await callerOf(c)
  return c.json(await showTo(c, await readOwn(c, caller, c.req.param('question_id') ?? '')))
}

/** Responds with one page of the questions of the affiliate, the latest first. */
export async function respondWithQuestions(c: Context<AppEnv>): Promise<Response> {
  const names = ['status', 'statement'] as const
  const { status: text, statement, ...query } = readQuery(c.req.url, ...PAGE_PARAMETERS, ...names)
  const status = readQuestionStatus(text)
  const { account, id } = await callerOf(c)
  const filter = { affiliate_id: id, ...(status && { status }), ...(statement && { statement }) }
  const context = JSON.stringify([account.id, 'questions', filter])
  const page = await readPage(c.env, context, query)
  const db = resolveDatabase(c.env, account.binding)
  const found = await listQuestions(db, account.id, filter, page)
  const data = found.data.map(presentQuestion)
  return respondWithPage(c, context, page, { ...found, data }, new ReadMemory(account.id))
}
