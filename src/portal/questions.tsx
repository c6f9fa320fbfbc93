import type { Context } from 'hono'
import { seeAnswers } from '../affiliates/db/affiliate-passkeys.ts'
import { MAX_WORDS } from '../affiliates/db/affiliate-questions.ts'
import { addToQuestion, askQuestion, listOwnQuestions } from '../affiliates/questions.ts'
import type { Values } from '../pages/base/page.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { writeBatch } from '../platform/db/statement.ts'
import type { ApiError } from '../platform/errors.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { changesOf, MemberForm, type Refused } from './form.tsx'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage, timeText } from './member-page.tsx'
import { type MemberVisit, useMemberVisit } from './visit.ts'

/** A question of the affiliate. */
export type Question = AnswerOf<typeof askQuestion>

const AT = '/questions'

/** The kinds of things that a question is about. */
const KINDS = ['line', 'statement', 'customer'] as const

/** What a question is about. `statement` and `period` stand beside a line, too. */
type Subject = Pick<Question, 'statement' | 'line' | 'customer' | 'period'>

/** Renders the link to the form that asks about something. */
export const AskLink = (
  { subject }: { subject: Partial<Subject> },
  { account, words } = useMemberVisit(),
) => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(subject)) if (value) query.set(name, value)
  return (
    <a class="ask" href={`${portalPath(account.id, AT)}?${query}#ask`}>
      {words.ask}
    </a>
  )
}

/** Renders the name of a customer, with the link that asks about them; `hidden` and null are no names. */
export const CustomerName = ({ name }: { name: string | null }, { words } = useMemberVisit()) =>
  name === null || name === 'hidden' ? (
    <Data text={words.a_customer} />
  ) : (
    <>
      <Data text={name} /> <AskLink subject={{ customer: name }} />
    </>
  )

/** Says what a question is about, with a link to it. */
const AboutWords = (
  { subject }: { subject: Subject },
  { words, account, speech } = useMemberVisit(),
) => {
  const { statement, line, customer, period } = subject
  const named = { period: period === null ? (statement ?? '') : speech.period(period) }
  if (customer !== null) return <Data text={fill(words.about_customer, { customer })} />
  if (statement === null) return <>{words.about_line}</>
  const path = portalPath(account.id, `/statements/${encodeURIComponent(statement)}`)
  const to = line === null ? path : `${path}?${new URLSearchParams({ line })}#why`
  return <a href={to}>{fill(line === null ? words.about_statement : words.about_line, named)}</a>
}

/** Renders a form with a text, which is kept if it was refused. */
const TextForm = (
  {
    label,
    hidden,
    ...form
  }: {
    /** What the ids of its fields begin with. */
    id?: string
    label: string
    hidden: Readonly<Record<string, string>>
    refused: Refused | null
  },
  visit = useMemberVisit(),
) => {
  const attributes = { rows: 4, maxlength: MAX_WORDS }
  return (
    <MemberForm
      {...form}
      at={AT}
      values={{ change: 'write', ...hidden }}
      submit={visit.words.send}
      fields={[{ name: 'text', label, type: 'area', required: true, attributes }]}
    />
  )
}

/** Returns whether the team has answered since the member last saw the questions. */
const isNew = ({ messages }: Question, { member }: Pick<MemberVisit, 'member'>): boolean =>
  member.new_answers > 0 &&
  messages.some(({ from, at }) => from === 'team' && at > member.answers_since)

/** Says whether a question waits, is answered, or has an answer that is new. */
const State = ({ question }: { question: Question }, visit = useMemberVisit()) => {
  const { words } = visit
  if (isNew(question, visit)) return <small class="badge good">{words.new_answer}</small>
  const isOpen = question.status === 'open'
  return (
    <small class={`badge ${isOpen ? 'warn' : 'good'}`}>
      {words[isOpen ? 'question_open' : 'question_closed']}
    </small>
  )
}

const Messages = ({ question }: { question: Question }, visit = useMemberVisit()) => (
  <ol class="messages">
    {question.messages.map((message) => (
      <li class={message.from}>
        <p class="note">
          <Data text={message.from === 'team' ? visit.account.name : visit.words.you} />,{' '}
          {timeText(message.at, visit)}
        </p>
        {message.text === null ? (
          <p class="quiet">{visit.words.message_erased}</p>
        ) : (
          <p class="message-text">
            <bdi>{message.text}</bdi>
          </p>
        )}
      </li>
    ))}
  </ol>
)

/** Renders a question with what was written about it, and the form that writes more. */
const Thread = (
  { question, refused }: { question: Question; refused: Refused | null },
  { words } = useMemberVisit(),
) => {
  const { id } = question
  const isRefused = refused?.values('question') === id
  return (
    <article class="thread" id={id}>
      <h2>
        <AboutWords subject={question} /> <State question={question} />
      </h2>
      <Messages question={question} />
      <details open={isRefused}>
        <summary>{words.write_more}</summary>
        <TextForm
          id={id}
          label={words.your_words}
          hidden={{ question: id }}
          refused={isRefused ? refused : null}
        />
      </details>
    </article>
  )
}

/** Returns what the page is asked to ask about; null if nothing. */
function subjectOf(values: Values): Subject | null {
  if (KINDS.every((kind) => values(kind) === '')) return null
  const text = (name: string) => values(name) || null
  return {
    line: text('line'),
    customer: text('customer'),
    statement: text('statement'),
    period: text('period'),
  }
}

/** Responds with the questions of the affiliate, and with the form that asks about what the address names. */
export async function showQuestions(
  c: Context<AppEnv>,
  visit: MemberVisit,
  refused: Refused | null = null,
): Promise<Response> {
  const { words } = visit
  const values: Values = refused?.values ?? ((name) => c.req.query(name) ?? '')
  const subject = subjectOf(values)
  const cursor = c.req.query('cursor')
  const { session, member, db, now } = visit
  const [{ data, meta }] = await Promise.all([
    visit.call(listOwnQuestions, { cursor, per_page: 20 }),
    member.new_answers === 0
      ? null
      : writeBatch(db, [seeAnswers(db, session, new Date(now).toISOString())]),
  ])
  return respond(
    c,
    <MemberPage
      visit={visit}
      here="questions"
      title={words.questions}
      done={c.req.query('done') && words.question_sent}
    >
      {subject && (
        <section id="ask">
          <h2>{words.ask}</h2>
          <p>
            <AboutWords subject={subject} />
          </p>
          <TextForm
            label={words.your_question}
            hidden={Object.fromEntries(
              Object.entries(subject).flatMap(([name, value]) => (value ? [[name, value]] : [])),
            )}
            refused={refused?.values('question') ? null : refused}
          />
        </section>
      )}
      {data.length === 0 ? <p class="note">{words.no_questions}</p> : <p>{words.how_to_ask}</p>}
      {data.map((question) => (
        <Thread question={question} refused={refused} />
      ))}
      <NextPage at={AT} cursor={meta.next_cursor} />
    </MemberPage>,
    refused ? 422 : 200,
  )
}

/** Returns why a question was refused, in the language of the affiliate. */
function problemOf({ words, account }: MemberVisit, error: ApiError): string {
  const [first] = (error.details.errors ?? []) as { code?: string; pointer?: string }[]
  if (first?.code === 'maximum') return fill(words.question_full, { account: account.name })
  if (first?.pointer === '/text') return words.question_text
  if (error.code === 'conflict') return words.question_long
  if (error.code === 'not_found') return words.question_gone
  throw error
}

/** Asks a question, or writes more about one. Returns its address. */
async function makeChange(visit: MemberVisit, values: Values): Promise<string> {
  const question_id = values('question')
  const text = values('text').replaceAll('\r\n', '\n')
  const kind = KINDS.find((one) => values(one) !== '') ?? 'statement'
  const { id } = question_id
    ? await visit.call(addToQuestion, { question_id, text })
    : await visit.call(askQuestion, { [kind]: values(kind), text })
  return portalPath(visit.account.id, `${AT}?done=sent#${id}`)
}

/** Asks a question, or writes more about one. */
export const changeQuestions = changesOf({ make: makeChange, problemOf, show: showQuestions })
