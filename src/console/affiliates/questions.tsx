import type { Child } from 'hono/jsx'
import { getCustomerNames } from '../../affiliates/customer-names.ts'
import {
  answerQuestion,
  getQuestion,
  listQuestions,
} from '../../affiliates/operations/questions.ts'
import type { Page } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { Badge, Data, EmptyState, Pager, periodWords, Time } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { parseAffiliateActor } from '../../platform/auth/grant.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { actorTitle } from './audit-words.tsx'

/** A question as the administration API returns it. */
export type Question = AnswerOf<typeof getQuestion>

/** Renders what a question is about, as a link to it. */
const SubjectLink = ({ question }: { question: Question }) => {
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
const State = ({ status }: Pick<Question, 'status'>) =>
  status === 'open' ? (
    <Badge tone="warn">waits for an answer</Badge>
  ) : (
    <Badge tone="good">answered</Badge>
  )

/** Renders questions, each with its first message and a link to its page. */
const Questions = (props: { questions: readonly Question[]; empty?: Child }) => (
  <Table
    caption="Questions of affiliates"
    rows={props.questions}
    columns={{
      Question: {
        prose: ({ id, messages: [first] }) => (
          <AccountLink at={['questions', id]}>
            <Data text={first?.text ?? 'Erased with the personal data of the customer.'} />
          </AccountLink>
        ),
      },
      About: (question) => <SubjectLink question={question} />,
      Affiliate: 'affiliate_id',
      State,
    }}
    empty={props.empty}
  />
)

/** Renders the questions beside what they are about; nothing if there are none. */
export const QuestionsBeside = (props: { questions: readonly Question[] }) =>
  props.questions.length === 0 ? null : <Questions {...props} />

/** The questions of affiliates, those that wait for an answer unless another filter is chosen. */
export const questionsPage: Page = {
  path: '/accounts/:account/questions',
  shows: 'affiliate',
  section: 'Questions',
  query: ['status', 'affiliate_id', 'cursor'],
  async render({ api, account, query: { status = 'open', ...query } }) {
    const own = status !== 'all' && { status }
    const { data, meta } = await api.call(listQuestions, { ...query, ...own, account })
    const body = (
      <>
        <Filters
          fields={[
            {
              name: 'status',
              label: 'Show',
              value: status,
              options: [
                ['open', 'Those that wait for an answer'],
                ['closed', 'Those that are answered'],
                ['all', 'All'],
              ],
            },
            { name: 'affiliate_id' },
          ]}
        />
        <Questions
          questions={data}
          empty={
            <EmptyState title="No question matches.">
              <p>
                Affiliates ask in the portal, beside a statement, a line or a customer. You answer
                here, and they read it there.
              </p>
            </EmptyState>
          }
        />
        <Pager meta={meta} />
      </>
    )
    return { title: 'Questions', body }
  },
}

/** Returns who wrote a message: a person of the team or of the affiliate by their name, or a program. */
function authorText({ from, author }: Question['messages'][number]): string {
  const own = parseAffiliateActor(author)
  if (from === 'team' || !own) return actorTitle(author)
  return own.by === 'key' ? 'a program of the affiliate' : 'a former member'
}

/** A question, and the forms that answer it. */
export const questionPage: Page = {
  path: '/accounts/:account/questions/:question_id',
  shows: 'affiliate',
  section: 'Questions',
  changes: {
    answer: calling(answerQuestion, 'The answer is stored. The affiliate reads it in the portal.'),
  },
  async render({ api, account, params: { question_id = '' } }) {
    const question = await api.call(getQuestion, { account, question_id })
    const { customer: customer_id, affiliate_id } = question
    const known =
      customer_id === null ? null : await api.call(getCustomerNames, { account, customer_id })
    const name = known?.names.find((one) => one.affiliate_id === affiliate_id)?.name
    const body = (
      <>
        <p class="lead">
          <AffiliateLink id={question.affiliate_id} /> asks about:{' '}
          <SubjectLink question={question} />
          {name && name !== customer_id && (
            <>
              , whom they know as <Data text={name} />
            </>
          )}{' '}
          <State {...question} />
        </p>
        <ol class="messages">
          {question.messages.map((message) => (
            <li class={message.from}>
              <p class="note">
                <strong>{message.from === 'team' ? 'Team' : 'Affiliate'}</strong>,{' '}
                <Data text={authorText(message)} />, <Time at={message.at} />
              </p>
              <p class={message.text === null ? 'quiet' : 'message-text'}>
                <Data text={message.text ?? 'Erased with the personal data of the customer.'} />
              </p>
            </li>
          ))}
        </ol>
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
      </>
    )
    return { title: 'Question', body }
  },
}
