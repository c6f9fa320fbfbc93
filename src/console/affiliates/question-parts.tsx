import {
  answerQuestion,
  changeQuestion,
  type getQuestion,
} from '../../affiliates/operations/questions.ts'
import { calling } from '../../pages/calling.ts'
import { accountPath, type Change, useVisit } from '../../pages/page.ts'
import { Badge, Data, periodWords, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { parseAffiliateActor } from '../../platform/auth/grant.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from './audit-words.tsx'

// Questions of affiliates, and the forms that answer them.

/** A question as the administration API returns it. */
export type Question = AnswerOf<typeof getQuestion>

/** Renders what a question is about, as a link to it. */
export const SubjectLink = ({ question }: { question: Question }) => {
  const { statement, line, customer, period } = question
  if (customer !== null) {
    return (
      <AccountLink at={['customers', customer]}>
        Customer <Data text={customer} />
      </AccountLink>
    )
  }
  const month = period === null ? null : periodWords(period)
  return line !== null ? (
    <AccountLink at={['lines', line]}>Line of {month}</AccountLink>
  ) : (
    <AccountLink at={['statements', statement ?? '']}>Statement of {month}</AccountLink>
  )
}

/** Renders whether a question waits for an answer. */
export const QuestionBadge = ({ status }: Pick<Question, 'status'>) =>
  status === 'open' ? (
    <Badge tone="warn">waits for an answer</Badge>
  ) : (
    <Badge tone="good">answered</Badge>
  )

/** Returns who of an affiliate wrote a message: the name of a person, or that it was a program. */
function authorText(author: string): string {
  const own = parseAffiliateActor(author)
  if (!own) return author
  return own.by === 'key' ? 'a program of the affiliate' : 'a former member'
}

/** Renders what was written about a question, the first message first. */
const Messages = ({ messages }: Pick<Question, 'messages'>) => (
  <ol class="messages">
    {messages.map(({ at, from, author, text }) => (
      <li class={from}>
        <p class="note">
          <strong>{from === 'team' ? 'Team' : 'Affiliate'}</strong>,{' '}
          <Data text={from === 'team' ? actorTitle(author) : authorText(author)} />,{' '}
          <Time at={at} />
        </p>
        {text === null ? (
          <p class="quiet">Erased with the personal data of the customer.</p>
        ) : (
          <p class="message-text">
            <Data text={text} />
          </p>
        )}
      </li>
    ))}
  </ol>
)

/** Renders a question with its messages, and a link to the form that answers it. */
export const Thread = (
  props: {
    question: Question
    /** The level of its heading. */
    level: 2 | 3
  },
  visit = useVisit(),
) => {
  const { question, level } = props
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <article class="thread">
      <Heading>
        <SubjectLink question={question} /> <QuestionBadge {...question} />
      </Heading>
      <p class="note">
        Asked by <AffiliateLink id={question.affiliate_id} />
      </p>
      <Messages messages={question.messages} />
      <p>
        <a class="button" href={accountPath(visit.account, 'questions', question.id)}>
          {question.status === 'open' ? 'Answer' : 'Write more'}
        </a>
      </p>
    </article>
  )
}

/** Renders the questions beside what they are about; nothing if there are none. */
export const QuestionsBeside = (props: { questions: readonly Question[] }) =>
  props.questions.length === 0 ? null : (
    <section>
      <h2>Questions of the affiliate</h2>
      {props.questions.map((question) => (
        <Thread question={question} level={3} />
      ))}
    </section>
  )

/** The changes of the page of a question. */
export const questionChanges: Readonly<Record<string, Change>> = {
  answer: calling(answerQuestion, 'The answer is stored. The affiliate reads it in the portal.'),
  close: calling(changeQuestion, 'The question is closed.', () => ({ status: 'closed' })),
  open: calling(changeQuestion, 'The question is open again.', () => ({ status: 'open' })),
}

/** Renders a question with the forms that answer and close it. */
export const AnswerPart = ({ question }: { question: Question }) => (
  <>
    <p class="lead">
      <AffiliateLink id={question.affiliate_id} /> asks about: <SubjectLink question={question} />{' '}
      <QuestionBadge {...question} />
    </p>
    <Messages messages={question.messages} />
    <ChangeForm
      change="answer"
      submit="Send the answer"
      fields={[
        {
          name: 'text',
          label: 'Answer',
          type: 'area',
          required: true,
          hint: 'The affiliate reads it, under the name of the account.',
        },
        {
          name: 'status',
          label: 'Then the question is',
          options: [
            ['closed', 'answered'],
            ['open', 'still open: we look into it'],
          ],
        },
      ]}
    />
    {question.status === 'open' ? (
      <FoldedForm change="close" title="Close it without an answer" submit="Close the question" />
    ) : (
      <FoldedForm change="open" title="Open it again" submit="Open the question again" />
    )}
  </>
)
