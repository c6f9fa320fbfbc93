import { pick } from '../form.ts'
import { apiPath, type Change, type Page, type Visit } from '../page.ts'
import { EmptyState, isolated, type List, Pager, Table, visible } from '../parts/data.tsx'
import { fields } from '../parts/fields.tsx'
import { ChangeForm, ConfirmForm, Filters } from '../parts/forms.tsx'
import { putVersion, VersionForm } from '../parts/plans.tsx'

/** A plan as `GET …/plans` shows it. */
export interface Plan {
  readonly plan: string
  readonly name: string
  readonly currency: string
  readonly period: string
  readonly terms: string
  /** The version in force. */
  readonly in_force: number | null
}

/** An assignment of a plan. */
export interface Assignment {
  readonly affiliate_id: string
  readonly plan: string
  readonly from: string
  readonly customers: string
}

/** Deletes an assignment, which the form names by its first day and its affiliate. */
export const unassign: Change = {
  done: 'The assignment is deleted.',
  confirm: ({ account }) => account,
  request(values, { account }) {
    // The day has no space, but the id may have some.
    const [from, affiliate_id] = values('assignment').split(/ (.*)/s)
    const query = { from, affiliate_id }
    return { method: 'DELETE', path: apiPath(account, 'assignments'), query }
  },
}

/** Assignments of a list: those of one affiliate if `forAll` is present. */
export interface FoundAssignments {
  readonly rows: readonly Assignment[]
  /** The assignments by `*`, which govern an affiliate without its own. */
  readonly forAll?: readonly Assignment[]
}

/** Reads assignments: of all affiliates, or of one and those by `*`. */
export async function readAssignments(
  { api, account }: Pick<Visit, 'api' | 'account'>,
  { affiliate_id, cursor }: { affiliate_id?: string | undefined; cursor?: string | undefined },
) {
  const read = (id: string | undefined, at?: string) =>
    api.get<List<Assignment>>(apiPath(account, 'assignments'), { affiliate_id: id, cursor: at })
  const isOne = affiliate_id !== undefined && affiliate_id !== '*'
  const [list, all] = await Promise.all([read(affiliate_id, cursor), isOne ? read('*') : null])
  return { list, found: { rows: list.data, ...(all && { forAll: all.data }) } }
}

/** Renders assignments, and the form that deletes one of them. */
export const Assignments = ({
  visit,
  found: { rows, forAll = [] },
}: {
  visit: Visit
  found: FoundAssignments
}) => (
  <>
    <Table
      caption="Assignments, by affiliate and first day. * = every affiliate without its own assignment."
      rows={[...rows, ...forAll]}
      columns={fields<Assignment>(visit, 'affiliate_id', 'plan', 'from', 'customers')}
      empty={<p class="note">No plan is assigned.</p>}
    />
    {rows.length === 0 && forAll.length > 0 && (
      <p class="note">The affiliate has no assignment of its own, so those by * apply.</p>
    )}
    {rows.length > 0 && (
      <ConfirmForm
        visit={visit}
        change="unassign"
        submit="Delete an assignment"
        name={visit.account}
        fields={[
          {
            name: 'assignment',
            options: rows.map(({ affiliate_id, plan, from }) => [
              `${from} ${affiliate_id}`,
              `${from}, ${isolated(plan)}: ${isolated(affiliate_id)}`,
            ]),
          },
        ]}
      />
    )}
  </>
)

const Assign = ({ visit, plans }: { visit: Visit; plans: readonly Plan[] }) => (
  <ChangeForm
    visit={visit}
    change="assign"
    submit="Assign the plan"
    at="/0"
    fields={[
      {
        name: 'affiliate_id',
        required: true,
        hint: '* = every affiliate without its own assignment',
      },
      { name: 'plan', options: plans.map(({ plan }) => [plan, visible(plan)]) },
      { name: 'from', type: 'date', required: true },
      {
        name: 'customers',
        options: [
          ['new', 'New customers'],
          ['all', 'All customers'],
        ],
      },
    ]}
  />
)

/** The plans of an account, and to whom they are assigned. */
export const plansPage: Page = {
  path: '/accounts/:account/plans',
  section: 'Plans',
  query: ['affiliate_id', 'cursor'],
  changes: {
    unassign,
    put: putVersion,
    assign: {
      done: 'The plan is assigned.',
      request: (values, { account }) => ({
        method: 'PUT',
        path: apiPath(account, 'assignments'),
        body: [pick(values, 'affiliate_id', 'plan', 'from', 'customers')],
      }),
    },
  },
  async render(visit) {
    const { api, account, query } = visit
    const [{ data: plans }, assignments] = await Promise.all([
      api.get<{ data: Plan[] }>(apiPath(account, 'plans')),
      readAssignments(visit, query),
    ])
    const body = (
      <>
        <Table
          caption="Plans"
          rows={plans}
          columns={fields<Plan>(visit, 'plan', 'name', 'currency', 'period', 'terms', 'in_force')}
          empty={
            <EmptyState title="There are no plans yet.">
              <p>Copy a template below, change it and store it. Then assign it to affiliates.</p>
            </EmptyState>
          }
        />
        <h2>Assignments</h2>
        <Filters visit={visit} fields={[{ name: 'affiliate_id' }]} />
        <Assignments visit={visit} found={assignments.found} />
        <Pager visit={visit} meta={assignments.list.meta} />
        {plans.length > 0 && <Assign visit={visit} plans={plans} />}
        <h2>New plan</h2>
        <VersionForm visit={visit} terms="" />
      </>
    )
    return { title: 'Plans', body }
  },
}
