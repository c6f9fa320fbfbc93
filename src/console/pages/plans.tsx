import { apiPath, type Page, type Visit } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { ChangeForm, Field, Filters } from '../parts/forms.tsx'
import { To } from '../parts/money.tsx'
import { putVersion, VersionForm } from '../parts/plans.tsx'

/** A plan as `GET …/plans` shows it. */
export interface Plan {
  readonly plan: string
  readonly name: string
  readonly currency: string
  readonly period: string
  readonly terms: string
  readonly in_force: number | null
}

/** An assignment of a plan. */
export interface Assignment {
  readonly affiliate_id: string
  readonly plan: string
  readonly from: string
  readonly customers: string
}

const Plans = ({ visit, plans }: { visit: Visit; plans: readonly Plan[] }) => (
  <Table
    caption="Plans"
    rows={plans}
    columns={[
      {
        title: 'Plan',
        of: ({ plan }) => <To visit={visit} at={['plans', plan]} children={plan} />,
      },
      { title: 'Name', of: ({ name }) => name },
      { title: 'Currency', of: ({ currency }) => currency },
      { title: 'Period', of: ({ period }) => period },
      { title: 'Terms', of: ({ terms }) => terms },
      { title: 'In force', of: ({ in_force }) => (in_force ? `version ${in_force}` : 'none') },
    ]}
    empty={
      <EmptyState title="There are no plans yet.">
        <p>Copy a template below, change it, and store it. Then assign it to affiliates.</p>
      </EmptyState>
    }
  />
)

/** Renders assignments. */
export const Assignments = ({ visit, rows }: { visit: Visit; rows: readonly Assignment[] }) => (
  <Table
    caption="Assignments, by affiliate and first day"
    rows={rows}
    columns={[
      {
        title: 'Affiliate',
        of: ({ affiliate_id: id }) =>
          id === '*' ? (
            'all others (*)'
          ) : (
            <To visit={visit} at={['affiliates', id]} children={id} />
          ),
      },
      {
        title: 'Plan',
        of: ({ plan }) => <To visit={visit} at={['plans', plan]} children={plan} />,
      },
      { title: 'From', of: ({ from }) => from },
      { title: 'Customers', of: ({ customers }) => customers },
    ]}
    empty={<p class="note">No plan is assigned here by name.</p>}
  />
)

const Assign = ({ visit, plans }: { visit: Visit; plans: readonly Plan[] }) => (
  <ChangeForm visit={visit} change="assign" submit="Assign the plan">
    <Field
      {...{ visit, change: 'assign', name: 'affiliate_id', label: 'Affiliate' }}
      hint="* stands for every affiliate without an own assignment."
      required
    />
    <Field
      {...{ visit, change: 'assign', name: 'plan', label: 'Plan' }}
      pointer="/0/plan"
      options={plans.map(({ plan }) => [plan, plan])}
    />
    <Field
      {...{ visit, change: 'assign', name: 'from', label: 'From', type: 'date' }}
      pointer="/0/from"
      required
    />
    <Field
      {...{ visit, change: 'assign', name: 'customers', label: 'Customers' }}
      options={[
        ['new', 'New ones'],
        ['all', 'All, also those who are there'],
      ]}
    />
  </ChangeForm>
)

/** The plans of an account, and to whom they are assigned. */
export const plansPage: Page = {
  path: '/accounts/:account/plans',
  section: 'Plans',
  query: ['affiliate_id', 'cursor'],
  changes: {
    put: putVersion,
    assign: {
      done: 'The plan is assigned.',
      request: (values, { account }) => ({
        method: 'PUT',
        path: apiPath(account, 'assignments'),
        body: [
          Object.fromEntries(
            ['affiliate_id', 'plan', 'from', 'customers'].map((name) => [name, values(name)]),
          ),
        ],
      }),
    },
  },
  async render(visit) {
    const { api, account, query } = visit
    const [{ data: plans }, assignments] = await Promise.all([
      api.get<{ data: Plan[] }>(apiPath(account, 'plans')),
      api.get<List<Assignment>>(apiPath(account, 'assignments'), query),
    ])
    const body = (
      <>
        <Plans visit={visit} plans={plans} />
        <h2>Assignments</h2>
        <Filters visit={visit} fields={[{ name: 'affiliate_id', label: 'Affiliate' }]} />
        <Assignments visit={visit} rows={assignments.data} />
        <Pager visit={visit} meta={assignments.meta} />
        {plans.length > 0 && <Assign visit={visit} plans={plans} />}
        <h2>New plan</h2>
        <VersionForm visit={visit} terms="" />
      </>
    )
    return { title: 'Plans', body }
  },
}
