import type { PeriodApproved } from '../../commission/books/approve.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import {
  Data,
  EmptyState,
  isolated,
  type List,
  Live,
  Pager,
  periodWords,
  Table,
} from '../parts/data.tsx'
import { AccountLink, column, Facts } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, Filters, FormSentence, HOLDS } from '../parts/forms.tsx'
import {
  type PeriodSums,
  type Statement,
  Statements,
  type StatementTotals,
  Totals,
} from '../parts/statement-lists.tsx'

/** The maximum number of periods to which the page has links. */
const PRESETS = 12

interface Run {
  readonly id: string
  readonly status: 'running' | 'done' | 'failed'
  readonly affiliates: number | null
  readonly steps: number | null
  readonly steps_done: number | null
  readonly changed: number | null
  readonly started_at: string
  readonly reason: string | null
}

/** How often a page shows the progress of a run, in seconds. */
const RUN_SECONDS = 2

/** Shows the progress of a run. */
const Progress = ({ visit, run }: { visit: Visit; run: Run }) => (
  <Facts
    visit={visit}
    row={run}
    names={['status', 'started_at', 'affiliates', 'steps_done', 'steps', 'changed', 'reason']}
  />
)

type Refused = PeriodApproved['refused'][number]

/** Shows what the approval of a period did, and what it refused. */
const Approved = ({ answer, visit }: { answer: PeriodApproved; visit: Visit }) => (
  <>
    <p>
      <strong>{answer.approved} statements are approved.</strong> {answer.refused_total} were
      refused. {answer.waiting} need a second approval.
      {answer.closed
        ? ` The period is closed${answer.open_total > 0 ? `, except for ${counted(answer.open_total, 'affiliate')} with a draft` : ''}.`
        : ' The period is not closed yet.'}
    </p>
    <Table
      caption={`Refused: ${answer.refused.length} of ${answer.refused_total}`}
      rows={answer.refused}
      columns={[
        column('Statement', ({ id, affiliate_id, plan }: Refused) => (
          <AccountLink visit={visit} at={['statements', id]}>
            <Data text={affiliate_id} />, <Data text={plan} />
          </AccountLink>
        )),
        column('Detail', ({ detail }: Refused) => <FormSentence text={detail} />),
      ]}
      empty={<p hidden />}
    />
  </>
)

const periodOf = ({ query }: Visit) => query.period ?? ''

/** Renders the forms that compute and approve a whole period. */
const Actions = ({ visit }: { visit: Visit }) => (
  <div class="actions">
    <ChangeForm visit={visit} change="run" submit={`Compute the drafts of ${periodOf(visit)}`} />
    <ConfirmForm
      visit={visit}
      change="approve"
      submit={`Approve ${visit.query.plan ? isolated(visit.query.plan) : 'all plans'} of ${periodOf(visit)}`}
      needs="approver"
      name={periodOf(visit)}
      fields={[HOLDS]}
    >
      <p>Approves every draft that can be approved, and closes the period. This is final.</p>
    </ConfirmForm>
  </div>
)

const changes: NonNullable<Page['changes']> = {
  run: {
    done: 'The run has started. This page follows it.',
    request: (_, visit) => ({
      method: 'POST',
      path: apiPath(visit.account, 'periods', periodOf(visit), 'run'),
    }),
    next: (answer, { path, query }) =>
      withQuery(path, { ...query, run: (answer as Run).id, cursor: undefined }),
  },
  approve: {
    done: '',
    confirm: periodOf,
    request: (values, visit) => ({
      method: 'POST',
      path: apiPath(visit.account, 'periods', periodOf(visit), 'approve'),
      body: { plan: visit.query.plan, leave_out_holds: values('leave_out_holds') === 'yes' },
    }),
    show: (answer, visit) => <Approved answer={answer as PeriodApproved} visit={visit} />,
  },
}

/** The statements of an account, and the forms that compute and approve a whole period. */
export const statementsPage: Page = {
  path: '/accounts/:account/statements',
  section: 'Statements',
  query: ['period', 'affiliate_id', 'plan', 'status', 'cursor', 'run', 'format'],
  changes,
  file: ({ account, query: { format, run: _, ...query } }) =>
    format === 'csv' ? { path: apiPath(account, 'statements'), query, type: 'text/csv' } : null,
  async render(visit) {
    const { api, account, path } = visit
    const { run: runId, cursor, format: _, ...filter } = visit.query
    const [{ data, meta }, totals, sums, run] = await Promise.all([
      api.get<List<Statement>>(apiPath(account, 'statements'), { ...filter, cursor }),
      api.get<StatementTotals>(apiPath(account, 'statements', 'totals'), filter),
      api.get<PeriodSums>(apiPath(account, 'periods')),
      runId ? api.get<Run>(apiPath(account, 'runs', runId)) : null,
    ])
    const { period } = filter
    const statuses = ['', 'draft', 'approved', 'paid'].map((one) => [one, one || 'any'] as const)
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            { name: 'period' },
            { name: 'affiliate_id' },
            { name: 'plan' },
            { name: 'status', options: statuses },
          ]}
        />
        <p class="quick">
          {[...new Set(sums.data.map((one) => one.period))].slice(0, PRESETS).map((one) => (
            <a
              href={withQuery(path, { ...filter, period: one })}
              aria-current={one === period ? 'page' : undefined}
            >
              {one}
            </a>
          ))}
          <AccountLink visit={visit} at={['payouts']} children="Payouts" />
          <AccountLink
            visit={visit}
            at={['unearned']}
            query={{ period }}
            children="What earned nothing"
          />
          <a href={withQuery(path, { ...filter, cursor, format: 'csv' })}>CSV of this page</a>
        </p>
        {period && <Actions visit={visit} />}
        <Live id="statements" seconds={run?.status === 'running' ? RUN_SECONDS : null}>
          {run && <Progress visit={visit} run={run} />}
          <Totals visit={visit} totals={totals} />
          <Statements
            visit={visit}
            caption="Statements by period, affiliate and plan"
            rows={data}
            empty={
              <EmptyState title="No statement matches.">
                <p>
                  Choose a period, then compute its drafts. Affiliates need a{' '}
                  <AccountLink visit={visit} at={['plans']} children="plan" /> that is assigned to
                  them.
                </p>
              </EmptyState>
            }
          />
          <Pager visit={visit} meta={meta} />
        </Live>
      </>
    )
    return { title: period ? `Statements of ${periodWords(period)}` : 'Statements', body }
  },
}
