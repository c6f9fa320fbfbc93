import { deleteAssignment, listAssignments, listPlans } from '../../commission/operations/plans.ts'
import { ruleWords } from '../../commission/plans/plan-words.ts'
import { vocabularyOf } from '../../commission/plans/vocabulary.ts'
import { resourcesOf } from '../../ingest/verticals.ts'
import {
  accountPath,
  type Change,
  type Page,
  type PlanNames,
  type Visit,
  withQuery,
} from '../../pages/base/page.ts'
import { dayWords, EmptyState, isolated, Pager } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters, FoldedForm } from '../../pages/parts/forms.tsx'
import { AffiliateLink, PlanLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { mayBeShown } from '../../platform/auth/roles.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import {
  ASSIGNEES,
  assignedFor,
  assignedText,
  assignFields,
  assignPlan,
  versionWords,
} from '../affiliates/affiliate-forms.tsx'
import { redrawVersion } from './form/draft.ts'
import { emptyTerms, templatesFor } from './form/templates.ts'
import { PlanEditor, putVersion, readEditorData } from './plan-editor.tsx'
import { Sentences, sentencesOf } from './plan-words.tsx'

/** Deletes an assignment, which the form names by its first day and its affiliate. */
export const unassign: Change = {
  done: 'The assignment is deleted.',
  perform(values, { api, account }) {
    // The day has no space, but the id may have some.
    const [from = '', affiliate_id = ''] = values('assignment').split(/ (.*)/s)
    return api.call(deleteAssignment, { account, from, affiliate_id })
  },
}

/** Reads assignments: of all affiliates, or of one and those by `*`, which govern an affiliate without its own. */
export async function readAssignments(
  { api, account }: Pick<Visit, 'api' | 'account'>,
  { affiliate_id, cursor }: { affiliate_id?: string | undefined; cursor?: string | undefined },
) {
  const isOne = affiliate_id !== undefined && affiliate_id !== '*'
  const [{ data: rows, meta }, all] = await Promise.all([
    api.call(listAssignments, { account, affiliate_id, cursor }),
    isOne ? api.call(listAssignments, { account, affiliate_id: '*' }) : null,
  ])
  return { rows, forAll: all?.data ?? [], meta }
}

/** What the assignment to `*` is called: it is for the affiliates without one of their own. */
const ALL_OTHERS = 'All others'

/** Renders assignments, and the form that deletes one of them. */
export const Assignments = ({
  rows,
  forAll,
  planNames,
}: Awaited<ReturnType<typeof readAssignments>> & { readonly planNames: PlanNames }) => (
  <>
    <Table
      caption="Assignments, by affiliate and first day. All others: affiliates without an assignment of their own."
      rows={[...rows, ...forAll]}
      columns={{
        Affiliate: ({ affiliate_id }) =>
          affiliate_id === '*' ? ALL_OTHERS : <AffiliateLink id={affiliate_id} />,
        Plan: 'plan',
        From: 'from',
        For: ({ customers }) => assignedFor(customers),
      }}
      empty={<p class="note">No plan is assigned.</p>}
    />
    {rows.length === 0 && forAll.length > 0 && (
      <p class="note">The affiliate has no assignment of its own, so those of all others apply.</p>
    )}
    {rows.length > 0 && (
      <FoldedForm
        change="unassign"
        submit="Delete an assignment"
        isDanger
        fields={[
          {
            name: 'assignment',
            options: rows.map(({ affiliate_id, plan, from }) => [
              `${from} ${affiliate_id}`,
              `${isolated(planNames.get(plan) ?? plan)} from ${dayWords(from)}: ${affiliate_id === '*' ? ALL_OTHERS : isolated(affiliate_id)}`,
            ]),
          },
        ]}
      />
    )}
  </>
)

/** Renders the editor of a new plan, which begins with a template. */
async function renderEditor(visit: Visit) {
  const [data, plans] = await Promise.all([
    readEditorData(visit),
    visit.api.call(listPlans, { account: visit.account }),
  ])
  const currency = plans.data[0]?.currency ?? null
  const templates = templatesFor(data.vertical, data.vocabulary, visit.today, currency)
  const chosen = templates.find(({ template }) => template === visit.query.new)
  return {
    title: 'New plan',
    body: (
      <>
        <p class="lead">
          Nothing is saved before you choose so. <AccountLink at={['plans']} children="All plans" />
        </p>
        <PlanEditor
          data={data}
          versions={null}
          initial={chosen?.terms ?? emptyTerms(visit.today, currency)}
          template={chosen?.terms.name ?? undefined}
        />
      </>
    ),
  }
}

/** The plans of an account, and to whom they are assigned. */
export const plansPage: Page = {
  path: '/accounts/:account/plans',
  shows: 'affiliate',
  section: 'Plans',
  query: ['affiliate_id', 'cursor', 'new', 'plan'],
  redraw: redrawVersion,
  changes: {
    unassign,
    put: putVersion,
    assign: { done: assignedText, perform: assignPlan },
  },
  async render(visit) {
    const { api, account, query } = visit
    const mayWrite = mayBeShown(visit.member, 'account')
    if (mayWrite && (query.new || visit.typed || visit.refused?.change === 'put'))
      return renderEditor(visit)
    const [{ data: plans }, assignments, own] = await Promise.all([
      api.call(listPlans, { account }),
      readAssignments(visit, query),
      api.account(account),
    ])
    if (!own) throw notFound('account', account)
    const { vertical } = own
    const currency = plans[0]?.currency ?? null
    const body = (
      <>
        <Table
          caption="Plans"
          rows={plans}
          columns={{
            Plan: ({ plan, name }) => <PlanLink id={plan} name={name} />,
            Currency: 'currency',
            Statements: ({ period }) => (period === 'week' ? 'each week' : 'each month'),
            'A new version is for': ({ terms }) =>
              terms === 'signup' ? 'new customers' : 'all customers',
            'In force': (plan) => versionWords(plan),
          }}
          empty={
            <EmptyState title="There are no plans yet.">
              {mayWrite && <p>Choose a template below, name its affiliates, and save it.</p>}
            </EmptyState>
          }
        />
        {mayWrite && (
          <>
            <h2 id="new-plan">New plan</h2>
            <ul class="templates">
              {templatesFor(
                vertical,
                vocabularyOf(resourcesOf(vertical), []),
                visit.today,
                currency,
              ).map((one) => (
                <li class="template">
                  <h3>{one.terms.name}</h3>
                  {one.terms.rules.map((rule) => (
                    <Sentences now={sentencesOf(ruleWords(rule, one.terms))} before={null} />
                  ))}
                  <a
                    class="button"
                    href={withQuery(accountPath(visit.account, 'plans'), { new: one.template })}
                    aria-label={`Use the template ${one.terms.name}`}
                  >
                    Use the template
                  </a>
                </li>
              ))}
              <li class="template">
                <h3>Without a template</h3>
                <p>Begin with an empty plan, and add its rules.</p>
                <a
                  class="button"
                  href={withQuery(accountPath(visit.account, 'plans'), { new: 'empty' })}
                >
                  Write a plan
                </a>
              </li>
            </ul>
          </>
        )}
        <h2>Assignments</h2>
        <Filters fields={[{ name: 'affiliate_id' }]} />
        <Assignments {...assignments} planNames={await visit.names.plans()} />
        <Pager meta={assignments.meta} />
        {plans.length > 0 && (
          <>
            <h3 id="assign">Assign a plan</h3>
            <ChangeForm
              change="assign"
              submit="Assign the plan"
              at="/0"
              fields={[{ ...ASSIGNEES, required: true }, ...assignFields(plans, visit.query.plan)]}
            />
          </>
        )}
      </>
    )
    return { title: 'Plans', body }
  },
}
