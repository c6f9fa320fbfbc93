import type { PeriodApproved } from '../../commission/books/approve-period.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Badge, EmptyState, type List, Live, Pager, Table, Time } from '../parts/data.tsx'
import { ChangeForm, ConfirmForm, Field, Filters, HOLDS, type Option } from '../parts/forms.tsx'
import { type Statement, Statements, type StatementTotals, To, Totals } from '../parts/money.tsx'

/** The values of the filter of statements by status. */
const STATUSES: readonly Option[] = [
  ['', 'Any'],
  ['draft', 'Draft'],
  ['approved', 'Approved'],
  ['paid', 'Paid'],
]

const FILTERS = ['period', 'affiliate_id', 'plan', 'status']

/** Returns the months that most people look for, the last one first. */
function lastMonths(now: number): string[] {
  const today = new Date(now)
  return [1, 2, 3].map((ago) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago)).toISOString().slice(0, 7),
  )
}

interface Run {
  readonly id: string
  readonly period: string
  readonly status: 'running' | 'done' | 'failed'
  readonly affiliates: number | null
  readonly steps: number | null
  readonly steps_done: number | null
  readonly changed: number | null
  readonly started_at: string
  readonly reason: string | null
}

const TONES = { running: 'warn', done: 'good', failed: 'bad' } as const

const Progress = ({ run }: { run: Run }) => (
  <Live id="run" seconds={run.status === 'running' ? 3 : 3600}>
    <p>
      Run of {run.period} <Badge tone={TONES[run.status]}>{run.status}</Badge> {run.steps_done} of{' '}
      {run.steps ?? '?'} steps, {run.affiliates ?? '?'} affiliates, {run.changed ?? 0} statements
      written, started <Time at={run.started_at} />. {run.reason}
    </p>
    {run.steps !== null && (
      <progress value={run.steps_done ?? 0} max={run.steps || 1} aria-label="Run" />
    )}
  </Live>
)

/** Shows what the approval of a period did, and what it refused. */
function Approved({ answer, visit }: { answer: PeriodApproved; visit: Visit }) {
  const { approved, waiting, closed, open_total, refused_total, refused } = answer
  return (
    <>
      <p>
        <strong>{approved} statements are approved.</strong> {refused_total} were refused.
        {waiting > 0 && ` ${waiting} need the approval of another person, too.`}
        {closed
          ? ` The period is closed; it stays open for ${open_total} affiliates.`
          : ' The period is not closed yet.'}
      </p>
      <Table
        caption={`Refused: ${refused.length} of ${refused_total}`}
        rows={refused}
        columns={[
          {
            title: 'Affiliate',
            of: ({ id, affiliate_id }) => (
              <To visit={visit} at={['statements', id]} children={affiliate_id} />
            ),
          },
          { title: 'Plan', of: ({ plan }) => plan },
          { title: 'Why', of: ({ code, detail }) => `${detail} (${code})` },
        ]}
        empty={<></>}
      />
    </>
  )
}

const Actions = ({ visit, period }: { visit: Visit; period: string }) => (
  <div class="actions">
    <ChangeForm visit={visit} change="run" submit={`Compute the drafts of ${period}`} />
    <ConfirmForm
      visit={visit}
      change="approve"
      submit={`Approve ${visit.query.plan ?? 'all plans'} of ${period}`}
      needs="approver"
      name={period}
    >
      <p>Approves every draft that has no obstacle, and closes the period. This is final.</p>
      <Field visit={visit} change="approve" {...HOLDS} />
    </ConfirmForm>
  </div>
)

const periodOf = ({ query }: Visit) => query.period ?? ''

/** The statements of an account, and what is done with a whole period. */
export const statementsPage: Page = {
  path: '/accounts/:account/statements',
  section: 'Statements',
  query: [...FILTERS, 'cursor', 'run', 'format'],
  changes: {
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
        body: {
          ...(visit.query.plan && { plan: visit.query.plan }),
          leave_out_holds: values('leave_out_holds') === 'yes',
        },
      }),
      show: (answer, visit) => <Approved answer={answer as PeriodApproved} visit={visit} />,
    },
  },
  file: ({ account, query: { format, run: _, ...query } }) =>
    format === 'csv' ? { path: apiPath(account, 'statements'), query, type: 'text/csv' } : null,
  async render(visit) {
    const { api, account, path } = visit
    const { run: runId, cursor, format: _, ...filter } = visit.query
    const [{ data, meta }, totals, run] = await Promise.all([
      api.get<List<Statement>>(apiPath(account, 'statements'), { ...filter, cursor }),
      api.get<StatementTotals>(apiPath(account, 'statements', 'totals'), filter),
      runId ? api.get<Run>(apiPath(account, 'runs', runId)) : null,
    ])
    const { period } = filter
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            { name: 'period', label: 'Period' },
            { name: 'affiliate_id', label: 'Affiliate' },
            { name: 'plan', label: 'Plan' },
            { name: 'status', label: 'Status', options: STATUSES },
          ]}
        />
        <p class="quick">
          {lastMonths(visit.now).map((month) => (
            <a href={withQuery(path, { ...filter, period: month })}>{month}</a>
          ))}
          <To visit={visit} at={['payouts']} children="Payouts" />
          <To visit={visit} at={['unearned']} query={{ period }} children="What earned nothing" />
          <a href={withQuery(path, { ...filter, cursor, format: 'csv' })}>CSV of this page</a>
        </p>
        {run && <Progress run={run} />}
        {totals.data.length > 0 && <Totals visit={visit} of={totals} />}
        {period && <Actions visit={visit} period={period} />}
        <Statements
          visit={visit}
          caption="Statements by period, affiliate and plan"
          rows={data}
          empty={
            <EmptyState title="No statement matches.">
              <p>
                Choose a period, then compute its drafts. Affiliates need a{' '}
                <To visit={visit} at={['plans']} children="plan" /> that is assigned to them.
              </p>
            </EmptyState>
          }
        />
        <Pager visit={visit} meta={meta} />
      </>
    )
    return { title: period ? `Statements of ${period}` : 'Statements', body }
  },
}
