import { counted } from '../../commission/words/english.ts'
import { decideFraudCases } from '../../fraud/operations/fraud-decisions.ts'
import { listFraudRules } from '../../fraud/operations/fraud-rules.ts'
import { runFraudRules } from '../../fraud/operations/fraud-runs.ts'
import { listFraudCases } from '../../fraud/operations.ts'
import { SEVERITIES, STATUSES } from '../../fraud/present-case.ts'
import { type Page, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { dayWords, EmptyState, Pager, titleOf, visible } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import {
  ChangeForm,
  Filters,
  FoldedForm,
  type Input,
  type Option,
} from '../../pages/parts/forms.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { canManage } from '../books/sums.ts'
import {
  CaseLink,
  CaseStatusBadge,
  DECISION_HINT,
  DECISIONS,
  type FraudCase,
  HeldAmounts,
  SeverityBadge,
  WaitingBadge,
} from './case-parts.tsx'

type ListedRule = AnswerOf<typeof listFraudRules>['data'][number]

/** Says what an evaluation has done. */
function evaluatedText(answer: unknown): string {
  const run = answer as AnswerOf<typeof runFraudRules>
  const { evaluated_through: through } = run
  const sentences = [
    !run.done && 'The evaluation has more to read. Choose “Evaluate now” to go on.',
    through !== null && `Evaluated until ${dayWords(through)}.`,
    `${counted(run.cases_opened, 'case')} opened.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

/** Says what became of several cases. */
function decidedText(answer: unknown): string {
  const { data } = answer as AnswerOf<typeof decideFraudCases>
  const count = (wanted: string) => data.filter(({ outcome }) => outcome === wanted).length
  return `${counted(count('decided'), 'case')} of ${data.length} decided. For a second person to decide: ${count('waiting')}.`
}

const optionOf = (name: string): Option => [name, titleOf(name)]

/** What cases can need, in words. */
const NEEDS: readonly Option[] = [
  ['', 'All'],
  ['decision', 'A decision'],
  ['second_person', 'A second person'],
]

/** Returns the chosen status: the open cases, unless another filter chooses some of all. */
const statusOf = ({ status, needs }: Visit['query']): string => status ?? (needs ? 'all' : 'open')

/** Returns the query of the list in the administration API. */
function listQuery({ query }: Visit) {
  const status = statusOf(query)
  return { ...query, status: status === 'all' ? undefined : status }
}

const filtersOf = (rules: readonly ListedRule[], { query }: Visit): Input[] => [
  { name: 'status', options: [...STATUSES.map(optionOf), ['all', 'All']], value: statusOf(query) },
  { name: 'needs', options: NEEDS },
  {
    name: 'severity',
    options: [['', 'All'], ...SEVERITIES.toReversed().map(optionOf)],
  },
  {
    name: 'rule',
    options: [['', 'All'], ...rules.map(({ rule, name }): Option => [rule, visible(name)])],
  },
  { name: 'affiliate_id' },
  { name: 'customer_id' },
]

/** Renders the form that decides the open cases of the page at once; nothing for fewer than two. */
const DecideAll = ({ cases }: { cases: readonly FraudCase[] }) =>
  cases.length < 2 ? null : (
    <FoldedForm
      change="decide"
      title={`Decide these ${cases.length} open cases the same`}
      submit="Record the decisions"
      needs="approver"
      fields={[
        { name: 'decision', required: true, options: DECISIONS },
        { name: 'reason', type: 'area', required: true, hint: DECISION_HINT },
      ]}
    >
      <input type="hidden" name="case_ids" value={cases.map((one) => one.case_id).join(' ')} />
    </FoldedForm>
  )

/** The cases of the fraud review, the open ones first. */
export const casesPage: Page = {
  path: '/accounts/:account/cases',
  shows: 'affiliate',
  section: 'Cases',
  query: ['status', 'needs', 'severity', 'rule', 'affiliate_id', 'customer_id', 'cursor'],
  changes: {
    decide: calling(decideFraudCases, decidedText, (values) => ({
      case_ids: values('case_ids').split(' '),
    })),
    run: calling(runFraudRules, evaluatedText),
  },
  async render(visit) {
    const { api, account } = visit
    const [{ data, meta }, rules] = await Promise.all([
      api.call(listFraudCases, { account, ...listQuery(visit) }),
      api.may(listFraudRules) ? api.call(listFraudRules, { account }) : { data: [] },
    ])
    const body = (
      <>
        <Filters fields={filtersOf(rules.data, visit)} />
        <Table
          caption="Cases, the latest first"
          rows={data}
          columns={{
            Case: (found) => (
              <>
                <CaseLink found={found} /> <WaitingBadge {...found} />
              </>
            ),
            Severity: SeverityBadge,
            Status: data.some(({ status }) => status !== 'open') && CaseStatusBadge,
            Holds: { number: HeldAmounts },
            Opened: 'opened_for',
          }}
          empty={
            <EmptyState title="No case matches.">
              <p>
                {rules.data.length === 0 ? (
                  <AccountLink at={['fraud-rules']} children="Set up the rules first" />
                ) : (
                  <a href={withQuery(visit.path, { status: 'all' })}>Show all cases</a>
                )}
              </p>
            </EmptyState>
          }
        />
        {data.length > 0 && <Pager meta={meta} />}
        <DecideAll cases={data.filter(({ status }) => status === 'open')} />
        {canManage(visit) && rules.data.length > 0 && (
          <ChangeForm change="run" submit="Evaluate now">
            <p class="note">
              The rules are evaluated each morning. Evaluate now after late records or a new rule.
            </p>
          </ChangeForm>
        )}
      </>
    )
    return { title: 'Cases', body }
  },
}
