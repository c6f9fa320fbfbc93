import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { first, only } from '../../platform/db/query.ts'
import type { affiliateQuestions } from '../../platform/db/schema.ts'
import { abortAs } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../platform/db/statement.ts'
import { REQUIRE_CHANGE } from '../../platform/directory/audit.ts'
import { noticesOf } from '../../platform/directory/outbox.ts'
import { eventOf } from '../../webhooks/db/events.ts'

// The questions of affiliates, and what was written about them. Every change is one batch, which fails as a whole.

/** The contract: an affiliate has at most so many open questions. */
export const MAX_OPEN_QUESTIONS = 20

/** The contract: the characters of what an affiliate writes. */
export const MAX_WORDS = 500

/** The messages of one question, so that all of them can be read at once. */
export const MAX_MESSAGES = 100

type Row = typeof affiliateQuestions.$inferSelect

/** What a question is about. `customer_id` is the customer, also the one that a line is for. */
export type QuestionSubject = Pick<
  Row,
  'about' | 'subject' | 'statement' | 'period' | 'customer_id'
>

/** A message of a question. `text` is null once it was erased. */
export interface StoredMessage {
  readonly at: string
  readonly from: 'affiliate' | 'team'
  readonly author: string
  readonly text: string | null
}

/** A question with its messages as a JSON array, the first one first. */
export type StoredQuestion = Omit<Row, 'account' | 'customer_id' | 'answered_at'> & {
  readonly messages: string
}

/** Finds the questions of an affiliate. SQLite would otherwise read the open ones of all, or all by their ids. */
const OF_ONE = 'indexed by affiliate_questions_affiliate'

/** Questions with their messages. A member of the affiliate is named, unless they were removed. */
const withMessages = (index = '') => `(
    select q.*, (
      select json_group_array(json_object('at', m.at, 'from', m.side, 'author', m.author, 'text', m.text))
      from (
        select w.at, w.side, w.text, ifnull(n.name, w.author) as author
        from affiliate_question_messages w
        left join affiliate_members n on n.account = w.account and n.affiliate_id = q.affiliate_id
          and w.side = 'affiliate'
          and w.author = 'affiliate-member ' || n.id || ' ' || n.affiliate_id
        where w.account = q.account and w.question = q.id order by w.position
      ) m
    ) as messages from affiliate_questions q ${index})`

const COLUMNS = [
  'id',
  'affiliate_id',
  'about',
  'subject',
  'statement',
  'period',
  'status',
  'asked_at',
  'messages',
] as const

/** By what a list of questions is narrowed. */
export type QuestionFilter = Partial<
  Pick<Row, 'affiliate_id' | 'status'> & {
    statement: string
    customer_id: string
  }
>

/** Reads one page of the questions of an account, the latest first. */
export const listQuestions = (
  db: D1Database | D1DatabaseSession,
  account: string,
  narrowed: QuestionFilter,
  page: Page,
): Promise<FoundPage<StoredQuestion>> => {
  const conditions = Object.keys(narrowed).map((name) => ` and ${name} = :${name}`)
  const index = narrowed.affiliate_id === undefined ? '' : OF_ONE
  const query = {
    columns: COLUMNS,
    from: `${withMessages(index)} where account = :account${conditions.join('')}`,
    total: `select count(*) as total from affiliate_questions ${index} where account = :account${conditions.join('')}`,
    key: ['id'],
    descending: true,
    values: { account, ...narrowed },
    limitsBytes: true,
  }
  return paginate<StoredQuestion>(db, query, page)
}

const FIND_QUESTION = compileStatement(
  `select ${COLUMNS.join()} from ${withMessages()} where account = :account and id = :id`,
)

/** Returns a question of an account; null if there is none. */
export const findQuestion = (db: D1Database, account: string, id: string) =>
  first<StoredQuestion>(db, FIND_QUESTION, { account, id })

/** Why a question is refused. */
export const TOO_MANY = 'too many questions'

/** Aborts the batch if an affiliate has as many open questions as it may have, without this one. */
const REJECT_FULL = compileStatement(`
  select ${abortAs(TOO_MANY)} where (
    select count(*) from affiliate_questions ${OF_ONE}
    where account = :account and affiliate_id = :affiliate_id and status = 'open' and id <> :question)
    >= ${MAX_OPEN_QUESTIONS}`)

const INSERT_QUESTION = compileStatement(`
  insert into affiliate_questions (account, id, affiliate_id, about, subject, statement, period,
    customer_id, asked_at)
  select :account, :question, :affiliate_id, :about, :subject, :statement, :period, :customer_id, :at
  where exists (select 1 from statements where account = :account and id = :statement)
    or exists (select 1 from customers where account = :account and customer_id = :customer_id)
  on conflict do nothing`)

const SET_STATUS = compileStatement(`
  update affiliate_questions set status = :status
  where account = :account and id = :question and status <> :status`)

/** Appends a message to its question, unless it is stored already. Two at the same moment are both stored, one after the other. */
const INSERT_MESSAGE = compileStatement(`
  insert into affiliate_question_messages (account, question, position, id, side, author, at, text)
  select :account, :question, 1 + (
      select count(*) from affiliate_question_messages where account = :account and question = :question
    ), :message, :side, :author, :at, :text
  from affiliate_questions
  where account = :account and id = :question and not exists (select 1 from affiliate_question_messages
    where account = :account and question = :question and id = :message)`)

/** Notes when the team answered last. */
const NOTE_ANSWER = compileStatement(`
  update affiliate_questions set answered_at = :at where account = :account and id = :question`)

/** Writes `question.asked`. It names the question: the text is read where it is answered. */
const NOTIFY_ASKED = eventOf(
  'question.asked',
  `select q.id || ' ' || m.position as about, json_object('question_id', q.id,
      'affiliate_id', q.affiliate_id, 'about', q.about, 'message', m.position) as data
    from affiliate_questions q
    cross join affiliate_question_messages m on m.account = :account and m.question = q.id
      and m.id = :message
    where q.account = :account and q.id = :question`,
)

/** Tells the team that an affiliate asks, and the affiliate that the team has answered. */
const TELL_ASKED = noticesOf(
  'question_asked',
  `select :message as cause, 'role:' || 'manager' as recipient, :affiliate_id as affiliate_id`,
  ['affiliate_id'],
)
const TELL_ANSWERED = noticesOf(
  'question_answered',
  `select :message as cause, 'affiliate:' || affiliate_id as recipient from affiliate_questions
    where account = :account and id = :question`,
)

/** A new message. `message` is its id, and `author` a member or key of the affiliate, or a member of the team. */
export interface NewMessage {
  readonly question: string
  readonly message: string
  readonly side: 'affiliate' | 'team'
  readonly author: string
  readonly at: string
  readonly text: string
}

/** Stores a question with its first message. Fails, and so does its batch, if the affiliate has too many open ones. */
export function insertQuestion(
  db: D1Database,
  account: string,
  question: QuestionSubject & NewMessage & { readonly affiliate_id: string },
): D1PreparedStatement[] {
  const values = { account, ...question }
  return [
    ...[REJECT_FULL, INSERT_QUESTION, INSERT_MESSAGE, REQUIRE_CHANGE, NOTIFY_ASKED, TELL_ASKED],
  ].map((statement) => bindStatement(db, statement, values))
}

/** Appends words of the affiliate, which open the question again. Fails if the affiliate has too many open ones. */
export const appendWords = (
  db: D1Database,
  account: string,
  message: NewMessage & { readonly affiliate_id: string },
): D1PreparedStatement[] =>
  [REJECT_FULL, SET_STATUS, INSERT_MESSAGE, REQUIRE_CHANGE, NOTIFY_ASKED, TELL_ASKED].map(
    (statement) => bindStatement(db, statement, { account, status: 'open', ...message }),
  )

/** Appends an answer of the team, and sets the status of the question. */
export const appendAnswer = (
  db: D1Database,
  account: string,
  answer: NewMessage & { readonly status: Row['status'] },
): D1PreparedStatement[] =>
  [SET_STATUS, INSERT_MESSAGE, REQUIRE_CHANGE, NOTE_ANSWER, TELL_ANSWERED].map((statement) =>
    bindStatement(db, statement, { account, ...answer }),
  )

/** The open questions of an account that are counted. */
const COUNTED_QUESTIONS = 1000

const COUNT_OPEN = compileStatement(`
  select count(*) as open, json_group_array(distinct affiliate_id) as affiliates
  from (select affiliate_id from affiliate_questions indexed by affiliate_questions_open
    where account = :account and status = 'open' order by id limit ${COUNTED_QUESTIONS})`)

/** Counts the open questions of an account, up to 1000, and returns whose they are as a JSON array. */
export const countOpenQuestions = (db: D1Database | D1DatabaseSession, account: string) =>
  only<{ open: number; affiliates: string }>(db, COUNT_OPEN, { account })
