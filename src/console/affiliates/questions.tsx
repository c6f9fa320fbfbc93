import { getQuestion, listQuestions } from '../../affiliates/operations/questions.ts'
import type { Page } from '../../pages/page.ts'
import { EmptyState, Pager } from '../../pages/parts/data.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { AnswerPart, questionChanges, Thread } from './question-parts.tsx'

/** The questions of one page: each is shown with all that was written about it. */
const PAGE_SIZE = 20

/** The questions of affiliates, those that wait for an answer unless another filter is chosen. */
export const questionsPage: Page = {
  path: '/accounts/:account/questions',
  section: 'Questions',
  query: ['status', 'affiliate_id', 'cursor'],
  async render(visit) {
    const { status = 'open', ...query } = visit.query
    const { data, meta } = await visit.api.call(listQuestions, {
      ...query,
      ...(status !== 'all' && { status }),
      account: visit.account,
      per_page: PAGE_SIZE,
    })
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
            { name: 'affiliate_id', label: 'Affiliate' },
          ]}
        />
        {data.length === 0 ? (
          <EmptyState
            title={status === 'open' ? 'No question waits for an answer.' : 'No question matches.'}
          >
            <p>
              Affiliates ask in the portal, beside a statement, a line or a customer. You answer
              here, and they read it there.
            </p>
          </EmptyState>
        ) : (
          data.map((question) => <Thread question={question} level={2} />)
        )}
        {data.length > 0 && <Pager meta={meta} />}
      </>
    )
    return { title: 'Questions', body }
  },
}

/** A question, and the forms that answer it. */
export const questionPage: Page = {
  path: '/accounts/:account/questions/:question_id',
  section: 'Questions',
  changes: questionChanges,
  async render(visit) {
    const { api, account, params } = visit
    const question = await api.call(getQuestion, { account, question_id: params.question_id ?? '' })
    return { title: 'Question', body: <AnswerPart question={question} /> }
  },
}
