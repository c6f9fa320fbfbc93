import { findStatement } from '../commission/db/statements.ts'
import { findItem } from '../commission/db/stored-items.ts'
import { statementOfLine } from '../commission/run/ids.ts'
import { parseScope } from '../commission/run/line-groups.ts'
import { maySee } from '../platform/auth/grant.ts'
import { isAssertionFailure } from '../platform/db/retry.ts'
import { ulid } from '../platform/db/ulid.ts'
import { withAudit } from '../platform/directory/audit.ts'
import { ApiError } from '../platform/errors.ts'
import { type Call, list, operation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { namedCustomer, namedLine } from '../platform/http/show.ts'
import { asCsv, csvWords, objectsIn } from '../platform/money/csv-list.ts'
import { described } from '../platform/validation/described.ts'
import { sendCaused } from '../webhooks/operations/send-caused.ts'
import * as rows from './db/affiliate-questions.ts'
import { moreWords, newQuestion } from './operations/question-fields.ts'
import {
  newMessage,
  presentQuestion,
  question,
  question_id,
  questionFilters,
  refuseLong,
} from './operations/questions.ts'

/** What somebody else's statement, line or customer is answered with, and one that does not exist. */
const notYours = () =>
  new ApiError('not_found', { detail: 'You have no statement, line or customer with this id.' })

/** Returns the error of a question that is refused as a whole. */
const refused = (code: 'choice' | 'maximum', message: string) =>
  validationFailed([{ pointer: '', code, message }])

type Sent = {
  readonly statement?: string | undefined
  readonly line?: string | undefined
  readonly customer?: string | undefined
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
  call: Call<'affiliate'>,
  { statement, line, customer }: Sent,
): Promise<rows.QuestionSubject> {
  const { db, grant } = call
  if ([statement, line, customer].filter((one) => one !== undefined).length !== 1) {
    throw refused(
      'choice',
      'A question is about one thing: send one of `statement`, `line` and `customer`.',
    )
  }
  if (customer !== undefined) {
    const id = await namedCustomer(call, customer)
    if (id === null) throw notYours()
    return { about: 'customer', subject: id, statement: null, period: null, customer_id: id }
  }
  if (line !== undefined) {
    const item = await namedLine(call, line)
    const of = item && statementOfLine(item)
    const found = of && (await findItem(db, grant.account, of, item))
    if (!found || found.item === null || !maySee(grant, found.affiliate_id, found.status)) {
      throw notYours()
    }
    const customer_id = customerOfLine(found.item)
    return { about: 'line', subject: item, statement: of, period: found.period, customer_id }
  }
  const id = statement ?? ''
  const found = await findStatement(db, grant.account, id, 1)
  if (!found || !maySee(grant, found.affiliate_id, found.status)) throw notYours()
  const { period } = found
  return { about: 'statement', subject: id, statement: id, period, customer_id: null }
}

const tooMany = () =>
  refused(
    'maximum',
    `You have ${rows.MAX_OPEN_QUESTIONS} open questions, which is the most. Wait until the firm answers one of them.`,
  )

/** Returns a question of the affiliate. Throws `not_found`. */
async function findOwn({ db, grant, affiliate }: Call<'affiliate'>, id: string) {
  const found = await rows.findQuestion(db, grant.account, id)
  if (found?.affiliate_id === affiliate.id) return found
  throw new ApiError('not_found', { detail: 'You have no question with this id.' })
}

/** Stores what an affiliate writes, with its entry in the audit log, and sends the event that it causes. */
async function store(
  call: Call<'affiliate'>,
  { id, verb }: { readonly id: string; readonly verb: 'ask' | 'add' },
  statements: readonly D1PreparedStatement[],
) {
  const { db, actor, grant, affiliate } = call
  const { account, binding } = grant
  const details = { affiliate_id: affiliate.id, id }
  const entry = { actor, action: `affiliate-question.${verb}`, account, details }
  await withAudit(db, entry, [...statements]).catch((error) => {
    throw isAssertionFailure(error, rows.TOO_MANY) ? tooMany() : error
  })
  sendCaused(call, { id: account, binding })
  return presentQuestion(await findOwn(call, id))
}

const topic = 'affiliate-tools'
const ofQuestions = { of: 'affiliate', topic, path: '/questions' } as const
const params = { question_id }
const ofQuestion = { of: 'affiliate', topic, path: '/questions/{question_id}', params } as const

const COLUMNS = [
  'question',
  'about',
  'statement',
  'line',
  'customer',
  'period',
  'status',
  'asked_at',
  'at',
  'from',
  'text',
]

export const listOwnQuestions = list({
  ...ofQuestions,
  id: 'listOwnQuestions',
  params: questionFilters,
  files: asCsv('questions', COLUMNS, ({ id, messages, ...rest }) =>
    objectsIn(messages).map((message) => ({ ...rest, question: id, ...message })),
  ),
  words: described(() => ({
    description:
      'Lists the questions of the affiliate, the latest first, with what was written about each. `Accept: text/csv` returns a row for each message.',
    answer: question,
    files: csvWords(COLUMNS),
  })),
  async list({ db, grant, affiliate }, filter, page) {
    const own = { affiliate_id: affiliate.id, ...filter }
    const found = await rows.listQuestions(db, grant.account, own, page)
    return { ...found, data: found.data.map(presentQuestion) }
  },
})

export const askQuestion = operation({
  ...ofQuestions,
  id: 'askQuestion',
  method: 'POST',
  body: newQuestion,
  status: 201,
  words: described(() => ({
    description: `Asks the firm about one statement, line or customer of the affiliate. An affiliate has at most ${rows.MAX_OPEN_QUESTIONS} open questions. Each request asks another one. A key needs the scope \`read links\`.`,
    answer: question,
    errors: ['not_found'],
  })),
  async run(call, { text, ...sent }) {
    const subject = await findSubject(call, sent)
    const { db, actor, grant, affiliate } = call
    const now = Date.now()
    const id = `qst_${ulid(now)}`
    const words = { question: id, side: 'affiliate', author: actor, text } as const
    const row = { ...subject, ...words, ...newMessage(now), affiliate_id: affiliate.id }
    return store(call, { id, verb: 'ask' }, rows.insertQuestion(db, grant.account, row))
  },
})

export const addToQuestion = operation({
  ...ofQuestion,
  path: `${ofQuestion.path}/messages`,
  id: 'addToQuestion',
  method: 'POST',
  body: moreWords,
  status: 201,
  words: described(() => ({
    description: `Appends a message to a question of the affiliate, which opens it again if it was closed. A question has at most ${rows.MAX_MESSAGES} messages.`,
    answer: question,
    errors: ['conflict'],
  })),
  async run(call, { question_id: id, text }) {
    refuseLong(await findOwn(call, id))
    const { db, actor, grant, affiliate } = call
    const words = { question: id, side: 'affiliate', author: actor, text } as const
    const message = { ...words, ...newMessage(Date.now()), affiliate_id: affiliate.id }
    return store(call, { id, verb: 'add' }, rows.appendWords(db, grant.account, message))
  },
})

/** The operations by which the affiliate who calls asks the firm. */
export const OWN_QUESTION_OPERATIONS = [listOwnQuestions, askQuestion, addToQuestion]
