import type { PeriodApproved } from '../../books/approve.ts'
import { approvePeriod } from '../../books/operations/approvals.ts'
import {
  getRun,
  getStatementTotals,
  listPeriods,
  listStatements,
  startRun,
} from '../../commission/operations/statements.ts'
import { counted } from '../../commission/words/english.ts'
import {
  accountPath,
  type Page,
  type PlanNames,
  useVisit,
  type Visit,
  VisitContext,
  withQuery,
} from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import {
  Data,
  EmptyState,
  Live,
  Pager,
  periodWords,
  Time,
  visible,
} from '../../pages/parts/data.tsx'
import { HOLDS } from '../../pages/parts/field-words.ts'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters, FormSentence, type Input } from '../../pages/parts/forms.tsx'
import { AffiliateName, PlanName } from '../../pages/parts/names.tsx'
import { draftsByPeriod } from '../../pages/parts/owed.ts'
import { choosablePeriods, hasBegun, isOpen, periodFilter } from '../../pages/parts/periods.ts'
import {
  type PeriodSums,
  STATUS_WORDS,
  Statements,
  type StatementTotals,
  StatusSums,
} from '../../pages/parts/statement-lists.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { nextPeriod, storedPeriod } from '../../platform/money/calendar.ts'
import { planOptions } from '../affiliates/affiliate-forms.tsx'
import { canManage, canPay, sumsText } from './sums.ts'

/** How often a page shows the progress of a run, in seconds. */
const RUN_SECONDS = 2

/** How long after its end a run is followed, in milliseconds: a page that was read while it ended may lack its last drafts. */
const SETTLE_MS = 5000

type Run = AnswerOf<typeof getRun>

/** Returns how often the page is read again while a run may change it; null if none does. */
const followSeconds = (run: Run | null, now: number): number | null =>
  run?.status === 'running' || (run?.ended_at && now - Date.parse(run.ended_at) < SETTLE_MS)
    ? RUN_SECONDS
    : null

type Refused = PeriodApproved['refused'][number]

/** Renders what a person does next about a statement that was not approved. */
function NextStep({ row }: { row: Refused }) {
  const { id, affiliate_id, code, currencies } = row
  if (currencies.length > 0) {
    return (
      <>
        {currencies.map((currency) => (
          <div class="step">
            <AccountLink at={['rates']} query={{ currency }}>
              Add a rate for <Data text={currency} />
            </AccountLink>
          </div>
        ))}
      </>
    )
  }
  if (code === 'earlier_not_approved') {
    const query = { affiliate_id, period: ALL, status: 'draft' }
    return <AccountLink at={['statements']} query={query} children="Open its drafts" />
  }
  return <AccountLink at={['statements', id]} children="Open the statement" />
}

/** The drafts of the largest changes that a person sees before they approve a period. */
const LISTED_CHANGES = 10

/** The value of the filter that lists all periods. */
const ALL = 'all'

/** Returns the period to show if none is chosen: the latest to approve that pays anything, else the latest. */
function defaultPeriod(sums: PeriodSums, now: number): string | undefined {
  const drafts = draftsByPeriod(sums, now)
  const found = drafts.find(({ paying }) => paying > 0) ?? drafts[0]
  return found?.period.id ?? sums.data[0]?.period ?? choosablePeriods(sums, now)[1]
}

/** What a person sees before they approve a period. */
interface ReviewProps {
  readonly period: string
  readonly totals: StatementTotals
  readonly names: PlanNames
  /** The drafts that differ most from the period before. */
  readonly largest: AnswerOf<typeof listStatements>['data']
}

/** Renders what all drafts of a period say together, and the form that approves them. */
const Review = (props: ReviewProps, visit = useVisit()) => {
  const { period, totals, names, largest } = props
  const { plan } = visit.query
  const hasHolds = totals.data.some(({ with_holds }) => with_holds > 0)
  const ofPlan = plan ? ` of the plan ${visible(names.get(plan) ?? plan)}` : ''
  const drafts = totals.data.reduce((sum, { statements }) => sum + statements, 0)
  const sums = (name: 'earned' | 'payable') =>
    sumsText(totals.data.map((one) => ({ amount: one[name], currency: one.currency })))
  const previous = periodWords(nextPeriod(storedPeriod(period), -1).id)
  return (
    <>
      <p class="lead">
        {counted(drafts, 'draft')} of {periodWords(period)} earned {sums('earned')}. Payable:{' '}
        {sums('payable')}.{totals.is_limited && ' These are the sums of the first 100,000.'}
      </p>
      <Statements
        caption={`The largest changes against ${previous}`}
        period={period}
        rows={largest}
        empty={<p class="note">There is no draft.</p>}
      />
      <div class="actions">
        <ChangeForm
          change="approve"
          submit="Approve all that can be approved"
          needs="approver"
          fields={hasHolds ? [HOLDS] : []}
        >
          <p class="note">
            Approves the drafts{ofPlan} of {periodWords(period)}, for all affiliates, and closes the
            period. An approved statement never changes.
          </p>
          <input type="hidden" name="period" value={period} />
        </ChangeForm>
        <AccountLink at={['statements']} query={{ period, plan }}>
          Back without approving
        </AccountLink>
      </div>
    </>
  )
}

const changes: NonNullable<Page['changes']> = {
  run: {
    ...calling(startRun, 'The computation has started. This page follows it.'),
    next: (answer, { account, query }) => {
      const { id: run, period } = answer as Run
      const { plan, affiliate_id, status } = query
      const path = accountPath(account, 'statements')
      return withQuery(path, { period, plan, affiliate_id, status, run })
    },
  },
  approve: {
    done: '',
    perform: (values, { api, account, query: { plan } }) =>
      api.call(approvePeriod, {
        account,
        period: values('period'),
        plan,
        leave_out_holds: values('leave_out_holds') === 'yes',
      }),
    show: (answer) => {
      const { approved, closed, open_total, period, refused, refused_total, waiting } =
        answer as PeriodApproved
      return (
        <>
          {refused_total > 0 && (
            <p>
              <strong>
                {counted(refused_total, 'statement')} {refused_total === 1 ? 'was' : 'were'} not
                approved.
              </strong>
            </p>
          )}
          <Table
            caption={
              refused.length < refused_total
                ? `Not approved: the first ${refused.length} of ${refused_total}`
                : 'Not approved'
            }
            rows={refused}
            columns={{
              Statement: ({ id, affiliate_id, plan }) => (
                <AccountLink at={['statements', id]}>
                  <AffiliateName id={affiliate_id} />, <PlanName id={plan} />
                </AccountLink>
              ),
              Why: { prose: ({ detail }) => <FormSentence text={detail} /> },
              Next: (row) => <NextStep row={row} />,
            }}
            empty={<p hidden />}
          />
          <p>
            <strong>
              {approved === 0
                ? 'No statement was'
                : `${counted(approved, 'statement')} of ${periodWords(period)} ${approved === 1 ? 'is' : 'are'}`}{' '}
              approved.
            </strong>{' '}
            {waiting > 0 &&
              `${counted(waiting, 'statement')} must be approved by another person, too. `}
            {closed
              ? `The period is closed${open_total > 0 ? `, except for ${counted(open_total, 'affiliate')} with a draft` : ''}.`
              : 'The period is not closed yet: approve it again to go on.'}
          </p>
          {approved > 0 && (
            <p>
              <AccountLink at={['payouts']}>
                <strong>Pay what is due</strong>
              </AccountLink>
            </p>
          )}
        </>
      )
    },
    toneOf: (answer) => ((answer as PeriodApproved).refused_total > 0 ? 'warn' : 'good'),
  },
}

/** Returns the query of the API: the filters of the page, with the period that it shows. */
function filterOf({ query }: Visit, shown: string | undefined) {
  const { affiliate_id, plan, status } = query
  return { affiliate_id, plan, status, period: shown === ALL ? undefined : shown }
}

/** Returns the filters of the list. */
const filtersOf = (visit: Visit, sums: PeriodSums, names: PlanNames): Input[] => [
  periodFilter(visit, sums, visit.query.period ?? ALL, [[ALL, 'All periods']]),
  {
    name: 'status',
    options: [['', 'Any'], ...Object.entries({ ...STATUS_WORDS, approved: 'Approved, not paid' })],
  },
  {
    name: 'plan',
    options: [['', 'Any'], ...planOptions(chosenPlans(names, visit.query.plan))],
  },
  { name: 'affiliate_id', label: 'Affiliate' },
]

/** The statements of an account, and the forms that compute and approve a whole period. */
export const statementsPage: Page = {
  path: '/accounts/:account/statements',
  shows: 'affiliate',
  section: 'Statements',
  query: ['period', 'affiliate_id', 'plan', 'status', 'cursor', 'run', 'format', 'approve'],
  changes,
  file: (visit) =>
    visit.query.format === 'csv'
      ? visit.api.file(
          listStatements,
          {
            account: visit.account,
            ...filterOf(visit, visit.query.period),
            cursor: visit.query.cursor,
          },
          'text/csv',
        )
      : null,
  async render(visit) {
    const { api, account, path, query, now, today } = visit
    const { cursor } = query
    const readPeriods = api.call(listPeriods, { account })
    const hasFilter = Boolean(query.period || query.affiliate_id || query.plan || query.status)
    const shown = hasFilter ? query.period : defaultPeriod(await readPeriods, today)
    const filter = filterOf(visit, shown)
    const { period } = filter
    const order = period ? 'change' : 'oldest'
    const [{ data, meta }, totals, sums, names, run] = await Promise.all([
      api.call(listStatements, { account, ...filter, order, cursor }),
      api.call(getStatementTotals, { account, ...filter }),
      readPeriods,
      visit.names.plans(),
      query.run && api.may(getRun) ? api.call(getRun, { account, run_id: query.run }) : null,
    ])
    const title = period ? `Statements of ${periodWords(period)}` : 'Statements'
    const here: Visit = { ...visit, query: { ...query, period: shown } }
    if (query.approve && period && query.status === 'draft' && totals.data.length > 0) {
      const { data: largest } = await api.call(listStatements, {
        account,
        ...filter,
        order: 'change',
        per_page: LISTED_CHANGES,
      })
      const review = { period, totals, names, largest }
      return {
        title: `Approve ${periodWords(period)}`,
        body: (
          <VisitContext.Provider value={here}>
            <Review {...review} />
          </VisitContext.Provider>
        ),
      }
    }
    const drafts = totals.data.filter(({ status }) => status === 'draft')
    const body = (
      <VisitContext.Provider value={here}>
        <Filters fields={filtersOf(here, sums, names)} />
        <Live id="statements" seconds={followSeconds(run, now)}>
          {run &&
            (run.status === 'failed' ? (
              <p class="notice bad">
                The drafts of {periodWords(run.period)} were not computed.{' '}
                {run.reason && <Data text={run.reason} />} Compute them again.
              </p>
            ) : run.status === 'done' ? (
              <p class="notice good">
                The drafts of {periodWords(run.period)} are computed for{' '}
                {counted(run.affiliates ?? 0, 'affiliate')}. <Time at={run.ended_at} />
              </p>
            ) : (
              <p class="notice">
                Computing the drafts of {periodWords(run.period)}:{' '}
                {run.steps === null
                  ? 'reading the records'
                  : `step ${run.steps_done} of ${run.steps}`}
                .
              </p>
            ))}
          <StatusSums totals={totals} />
          {period && (
            <div class="actions">
              {drafts.length > 0 && isOpen(period, visit.today) && (
                <p class="note">
                  {periodWords(period)} has not ended. Its drafts change until then, and are
                  approved after it.
                </p>
              )}
              {drafts.length > 0 && !isOpen(period, visit.today) && canPay(visit) && (
                <a
                  class="button"
                  href={withQuery(visit.path, {
                    period,
                    plan: visit.query.plan,
                    status: 'draft',
                    approve: 'yes',
                  })}
                >
                  Approve all that can be approved
                </a>
              )}
              {!hasBegun(period, visit.today) ? (
                <p class="note">
                  {periodWords(period)} has not begun: there is nothing to compute yet.
                </p>
              ) : canManage(visit) ? (
                <ChangeForm change="run" submit={`Compute the drafts of ${periodWords(period)}`}>
                  <input type="hidden" name="period" value={period} />
                </ChangeForm>
              ) : (
                <p class="note">
                  A manager can compute the drafts of {periodWords(period)}
                  {drafts.length > 0 && ' again, such as after a correction'}.
                </p>
              )}
            </div>
          )}
          <Statements
            period={period}
            caption={period ? title : 'Statements, the earliest period first'}
            rows={data}
            empty={
              <EmptyState title="No statement matches.">
                <p>
                  {period && !hasBegun(period, visit.today)
                    ? `${periodWords(period)} has not begun. Choose an earlier period. `
                    : 'Choose another period, or compute this one. '}
                  Affiliates need a <AccountLink at={['plans']} children="plan" /> that is assigned
                  to them.
                </p>
              </EmptyState>
            }
          />
          <Pager meta={meta} />
        </Live>
        <p class="quick">
          <AccountLink at={['payouts']} children="Payouts" />
          <AccountLink at={['unearned']} query={{ period: period }}>
            What earned nothing
          </AccountLink>
          <a
            href={withQuery(path, {
              ...filter,
              period: shown,
              cursor,
              format: 'csv',
            })}
          >
            Download this page as CSV
          </a>
        </p>
      </VisitContext.Provider>
    )
    return { title, body }
  },
}

/** Returns the plans that can be chosen, with the one of the filter. */
const chosenPlans = (names: PlanNames, chosen: string | undefined) =>
  [...new Map([...(chosen ? [[chosen, chosen] as const] : []), ...names])].map(([plan, name]) => ({
    plan,
    name,
  }))
