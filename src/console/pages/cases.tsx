import { acknowledgeEndedHold, listEndedHolds } from '../../admin/ended-holds.ts'
import { listFraudRules } from '../../admin/fraud-rules.ts'
import { runFraudRules } from '../../admin/fraud-runs.ts'
import { counted, listed } from '../../commission/engine/reasons.ts'
import { EXPIRE_DAYS } from '../../durations.ts'
import { listFraudCases } from '../../fraud/operations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { type Change, type Page, useVisit, type Visit, withQuery } from '../page.ts'
import { Actor } from '../parts/audit-words.tsx'
import {
  CASE_STATUS_WORDS,
  CaseTable,
  SEVERITIES,
  SEVERITY_WORDS,
  subjectText,
  WaitingBadge,
} from '../parts/cases.tsx'
import { CustomerLink } from '../parts/customers.tsx'
import {
  Badge,
  Data,
  Day,
  dayWords,
  EmptyState,
  isolated,
  type List,
  Name,
  Pager,
  Time,
  visible,
} from '../parts/data.tsx'
import { AccountLink } from '../parts/fields.tsx'
import {
  ChangeForm,
  Filters,
  FoldedForm,
  type Input,
  type Option,
  sinceFilter,
} from '../parts/forms.tsx'
import { AffiliateLink } from '../parts/names.tsx'
import { canManage } from '../parts/payout-forms.tsx'

// Holds of payouts that ended without a decision, until an approver has looked at each.

type EndedHold = AnswerOf<typeof listEndedHolds>['data'][number]

/** The holds that the page of cases shows. */
const SHOWN = 20

/** Reads the latest holds that ended. */
const readEndedHolds = ({ api, account }: Visit): Promise<List<EndedHold>> =>
  api.call(listEndedHolds, { account, per_page: SHOWN })

/** Notes that an approver has looked at the end of a hold. */
const acknowledge: Change = {
  done: (answer) =>
    `It is noted that you have looked at the end of the hold. ${(answer as { message?: string }).message ?? ''}`.trim(),
  perform: (values, { api, account }) => {
    const [case_id, reason] = [values('case_id'), values('reason').trim()]
    return api.call(acknowledgeEndedHold, { account, case_id, reason })
  },
}

const REASONS = {
  records: 'records of the case were corrected, erased or given to another affiliate',
  rule: 'its rule was changed, and finds or holds less',
  expired: `nobody decided the case within ${EXPIRE_DAYS} days`,
} as const

/** Says why a hold ended. */
function Because({ found }: { found: EndedHold }, visit = useVisit()) {
  const { moved, because } = found
  if (moved === null) return <>{REASONS[because]}</>
  return (
    <>
      the customer <CustomerLink account={visit.account} id={moved.customer_id} />{' '}
      {moved.affiliate_id === null ? (
        'was taken from the affiliate'
      ) : (
        <>
          was moved to <AffiliateLink id={moved.affiliate_id} />
        </>
      )}
      ,{' '}
      {moved.from === null ? (
        'from the beginning'
      ) : (
        <>
          from <Day day={moved.from} /> on
        </>
      )}
    </>
  )
}

/** Says what becomes of holds that go on. */
const GOES_ON =
  'This account requires two persons, so a change by one person frees nothing: the payouts stay held until two persons have acknowledged it here, or decided the case.'

/** Says that payouts stay held, and who has acknowledged that the hold ended. */
const StillHeld = ({ found: { goes_on, acknowledged } }: { found: EndedHold }) =>
  goes_on && (
    <>
      {' '}
      <Badge tone="bad">Still held</Badge>{' '}
      {acknowledged && (
        <>
          <Actor actor={acknowledged.actor} /> acknowledged it on <Time at={acknowledged.at} />: “
          <Data text={acknowledged.reason} />
          ”. <WaitingBadge waiting />
        </>
      )}
    </>
  )

/** Renders the holds that ended, and the form that acknowledges one; nothing if there are none. */
async function EndedHolds({ found }: { found: List<EndedHold> }, visit = useVisit()) {
  const { data, meta } = found
  if (data.length === 0) return null
  const rest = meta.total - data.length
  const subjects = await Promise.all(data.map((one) => subjectText(visit, one)))
  return (
    <div class="notice why" id="ended">
      <p>
        <strong>
          {counted(meta.total, 'hold')} of payouts ended without a decision. Look at{' '}
          {meta.total === 1 ? 'it' : 'each'} before you pay the affiliate.
        </strong>
        {data.some((one) => one.goes_on) && <> {GOES_ON}</>}
      </p>
      <ul>
        {data.map((one) => (
          <li>
            The hold on <AffiliateLink id={one.affiliate_id} /> ended on <Time at={one.ended_at} />,
            because <Because found={one} />. The rule “
            <Data text={one.name} />” had found:{' '}
            {one.is_case ? (
              <AccountLink at={['cases', one.case_id]}>
                <Data text={one.sentence} />
              </AccountLink>
            ) : (
              <Data text={one.sentence} />
            )}
            <StillHeld found={one} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="note">{`${rest.toLocaleString('en')} earlier ones follow.`}</p>}
      <FoldedForm
        change="acknowledge"
        title={meta.total === 1 ? 'Acknowledge it' : 'Acknowledge one'}
        submit="I have looked at it"
        needs="approver"
        fields={[
          {
            name: 'case_id',
            label: 'Hold',
            required: true,
            options: data.map((one, i) => [one.case_id, `${subjects[i]}: ${isolated(one.name)}`]),
          },
          {
            name: 'reason',
            label: 'What you found',
            type: 'area',
            required: true,
            hint: 'The audit log shows it.',
          },
        ]}
      />
    </div>
  )
}

type ListedRule = AnswerOf<typeof listFraudRules>['data'][number]

/** Says what an evaluation has done. */
function evaluatedText(answer: unknown): string {
  const {
    evaluated_through: through,
    done,
    affiliates_left,
    too_large,
    ...cases
  } = answer as AnswerOf<typeof runFraudRules>
  const sentences = [
    !done &&
      `The evaluation has more to read: ${counted(affiliates_left, 'affiliate')} left of these days. Choose “Evaluate now” to go on.`,
    through !== null && `Evaluated until ${dayWords(through)}.`,
    `${counted(cases.cases_opened, 'case')} opened, ${cases.cases_closed} closed.`,
    too_large.length > 0 &&
      `Too many records to evaluate: ${listed(too_large.map((one) => visible(one)))}.`,
  ]
  return sentences.filter(Boolean).join(' ')
}

const STATUSES: readonly Option[] = [...Object.entries(CASE_STATUS_WORDS), ['all', 'All']]

/** What cases can need, in words. */
const NEEDS: readonly Option[] = [
  ['', 'All'],
  ['decision', 'A decision'],
  ['second_person', 'A second person'],
  ['decision_soon', 'A decision within 7 days'],
]

/** Returns the chosen status: the open cases, unless another filter chooses some of all. */
const statusOf = ({ status, needs, opened_since }: Visit['query']): string =>
  status ?? (needs || opened_since ? 'all' : 'open')

/** Returns the query of the list in the administration API. */
function listQuery({ query }: Visit) {
  const status = statusOf(query)
  return { ...query, status: status === 'all' ? undefined : status }
}

const filtersOf = (rules: readonly ListedRule[], { query }: Visit): Input[] => [
  { name: 'status', options: STATUSES, value: statusOf(query) },
  { name: 'needs', options: NEEDS },
  ...sinceFilter('opened_since', 'Found', query),
  {
    name: 'severity',
    options: [['', 'All'], ...SEVERITIES.map((one): Option => [one, SEVERITY_WORDS[one]])],
  },
  {
    name: 'rule',
    options: [['', 'All'], ...rules.map(({ rule, name }): Option => [rule, visible(name)])],
  },
  { name: 'affiliate_id', isFolded: true },
  { name: 'customer_id', isFolded: true },
  { name: 'from', label: 'Opened from', type: 'date', isFolded: true },
  { name: 'to', label: 'Opened to', type: 'date', isFolded: true },
]

/** Says what to do where no case is listed. */
function NoCases({ rules }: { rules: readonly ListedRule[] }, visit = useVisit()) {
  const active = rules.filter(({ disabled, in_force }) => !disabled && in_force !== null)
  const since = active.map(({ effective_from }) => effective_from).sort()[0] ?? null
  const isFiltered = Object.entries(visit.query).some(
    ([name, one]) => `${name}=${one}` !== 'status=open',
  )
  if (active.length === 0) {
    return (
      <EmptyState title="No rule looks for fraud yet.">
        <p>
          <AccountLink at={['fraud-rules']} children="Set up the rules" />. A rule that only lists
          its cases holds nothing.
        </p>
      </EmptyState>
    )
  }
  if (isFiltered) {
    return (
      <EmptyState title="No case matches these filters.">
        <p>
          <a href={visit.path}>Show the open cases</a>
        </p>
      </EmptyState>
    )
  }
  return (
    <EmptyState title="No open case: there is nothing to decide.">
      <p>
        {counted(active.length, 'rule')} {active.length === 1 ? 'looks' : 'look'} at the records of
        each day since <Day day={since} />.{' '}
        <a href={withQuery(visit.path, { status: 'all' })}>Show decided cases</a>.
      </p>
      <details>
        <summary>Test the rules on past days</summary>
        <ul>
          {active.map(({ rule, name }) => (
            <li>
              <AccountLink at={['fraud-rules', rule, 'simulate']}>
                <Name text={name} />
              </AccountLink>
            </li>
          ))}
        </ul>
      </details>
    </EmptyState>
  )
}

/** The cases of the fraud review, the open ones first. */
export const casesPage: Page = {
  path: '/accounts/:account/cases',
  section: 'Cases',
  hasNames: true,
  query: [
    ...['status', 'needs', 'severity', 'rule', 'affiliate_id', 'customer_id', 'from', 'to'],
    ...['opened_since', 'draft_of', 'cursor'],
  ],
  changes: {
    acknowledge,
    run: {
      done: evaluatedText,
      perform: (_, { api, account }) => api.call(runFraudRules, { account }),
    },
  },
  async render(visit) {
    const { api, account } = visit
    const [{ data, meta }, rules, ended] = await Promise.all([
      api.call(listFraudCases, { account, ...listQuery(visit) }),
      api.call(listFraudRules, { account }),
      readEndedHolds(visit),
    ])
    const body = (
      <>
        <EndedHolds found={ended} />
        <Filters fields={filtersOf(rules.data, visit)} />
        <CaseTable
          caption="Cases, the latest first"
          rows={data}
          empty={<NoCases rules={rules.data} />}
        />
        {data.length > 0 && <Pager meta={meta} />}
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
