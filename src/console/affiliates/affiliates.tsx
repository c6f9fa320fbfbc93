import { listAffiliateFigures } from '../../affiliates/operations/affiliate-figures.ts'
import {
  listUnconfiguredAffiliates,
  putAffiliates,
} from '../../affiliates/operations/affiliates.ts'
import { csvHeaders, writeCsv } from '../../commission/csv.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { refused } from '../../pages/csv-columns.ts'
import { pick } from '../../pages/form.ts'
import {
  accountPath,
  type Page,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../../pages/page.ts'
import {
  Badge,
  count,
  Data,
  EmptyState,
  type List,
  Pager,
  visible,
} from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Field, Filters, type Input, type Option } from '../../pages/parts/forms.tsx'
import { AffiliateName, NameAndId } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { tickName } from '../../pages/payment-rows.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { canManage, PostForm } from '../books/payout-forms.tsx'
import { type AffiliateFigures, BalanceCell, EarnedCell, PlanCell } from './affiliate-figures.tsx'
import {
  type AddChoices,
  AddForm,
  addAffiliate,
  assignedText,
  assignFields,
  assignPlan,
  readAddChoices,
} from './affiliate-forms.tsx'

/** The affiliates of one page of the list, each with a tick box, and of a file. */
const [LISTED, OF_FILE] = [100, 500]

/** Returns the ids of the affiliates that a form has ticked. */
const tickValues = (values: Values): string[] =>
  Array.from({ length: LISTED }, (_, i) => values(tickName(i))).filter(Boolean)

/** Returns what the operation takes to list the affiliates that the filters match. */
const listOf = ({ account, query: { search, only, cursor } }: Visit, per_page: number) => ({
  ...{ account, search, without_plan: only === 'without_plan', cursor, per_page },
})

const HEADER = [
  ...['affiliate_id', 'name', 'parent', 'plan', 'plan_from', 'plan_for_all'],
  ...['balance', 'payable', 'earned'],
]

const textOf = (amount: string, { currency }: { readonly currency: string }) =>
  `${amount} ${currency}`

/** Responds with a file of the affiliates that the filters match, as many as one request reads. */
async function fileOf(visit: Visit): Promise<Response> {
  const { data } = await visit.api.call(listAffiliateFigures, listOf(visit, OF_FILE))
  const rows = data.map(({ affiliate_id, display_name, parent, plan, ...sums }) => [
    ...[affiliate_id, display_name, parent],
    // A plan of all others must not become one of their own when the file is uploaded again.
    ...(plan?.for_all ? ['', '', plan.plan] : [plan?.plan, plan?.from, '']),
    sums.balances.map((one) => textOf(one.balance, one)).join('; '),
    sums.balances.map((one) => textOf(one.due, one)).join('; '),
    sums.earned.map((one) => `${one.period}: ${textOf(one.total, one)}`).join('; '),
  ])
  const csv = writeCsv([HEADER, ...rows.map((row) => row.map((cell) => cell ?? ''))])
  return new Response(csv, { headers: csvHeaders('affiliates', visit.account) })
}

/** The affiliates without a configuration that are shown above the list. */
const FIRST = 20

type Unconfigured = AnswerOf<typeof listUnconfiguredAffiliates>

/** Renders the affiliates that customers name and that are not configured, each with a button that stores it. */
const Unconfigured = ({ found: { data } }: { found: Unconfigured }, visit = useVisit()) =>
  data.length === 0 ? null : (
    <form method="post" id="change-configure">
      <input type="hidden" name="csrf" value={visit.csrf} />
      <input type="hidden" name="change" value="configure" />
      <Table
        caption="Not configured: affiliates that the latest customers name. They earn nothing."
        rows={data.slice(0, FIRST)}
        columns={{
          Affiliate: ({ affiliate_id }) => <Data text={affiliate_id} />,
          Customers: 'customers',
          'What to do':
            canManage(visit) &&
            (({ affiliate_id }) => (
              <button
                type="submit"
                name="affiliate_id"
                value={affiliate_id}
                aria-label={`Configure ${visible(affiliate_id)}`}
              >
                Configure
              </button>
            )),
        }}
      />
      {data.length > FIRST && (
        <p>{counted(data.length - FIRST, 'other affiliate')} not configured</p>
      )}
    </form>
  )

/** Renders the list, and the forms for the affiliates that are ticked in it. */
const ListForm = (
  { list, plans }: { list: List<AffiliateFigures>; plans: AddChoices['plans'] },
  visit = useVisit(),
) => {
  const ticked = visit.refused ? tickValues(visit.refused.values) : []
  const figures = (
    <Table
      caption="Affiliates"
      rows={list.data}
      tick={({ affiliate_id }, position) => (
        <input
          type="checkbox"
          name={tickName(position)}
          value={affiliate_id}
          checked={ticked.includes(affiliate_id)}
          aria-label={`Tick ${visible(affiliate_id)}`}
        />
      )}
      columns={{
        Affiliate: ({ affiliate_id, parent, status, ...profile }) => (
          <>
            <a href={accountPath(visit.account, 'affiliates', affiliate_id)}>
              <NameAndId name={profile.display_name} id={affiliate_id} />
            </a>
            {status === 'suspended' && <Badge tone="bad">suspended</Badge>}
            {profile.contact_email !== null && (
              <small>
                <Data text={profile.contact_email} />
              </small>
            )}
            {parent !== null && (
              <small>
                below <AffiliateName id={parent} />
              </small>
            )}
          </>
        ),
        Plan: (row) => <PlanCell row={row} />,
        Balance: { number: ({ balances }) => <BalanceCell balances={balances} /> },
        'Earned this period': {
          number: ({ earned }) => <EarnedCell earned={earned} now={visit.today} />,
        },
      }}
      empty={
        Object.keys(visit.query).length === 0 ? (
          <EmptyState title="No affiliate is configured yet.">
            <p>Customers of affiliates who are not configured earn nothing. Add the first one.</p>
          </EmptyState>
        ) : (
          <EmptyState title="No affiliate matches.">
            <p>
              <a href={withQuery(visit.path, { plan: visit.query.plan })}>Show all affiliates</a>
            </p>
          </EmptyState>
        )
      }
    />
  )
  if (list.data.length === 0) return figures
  const canAssign = plans.length > 0 && canManage(visit)
  const chosen = plans.find(({ plan }) => plan === visit.query.plan)
  return (
    <PostForm id="change-assign">
      {canAssign && chosen && (
        <p class="notice">
          Tick who gets the plan <bdi>{visible(chosen.name)}</bdi>. Then{' '}
          <a href="#for-ticked">assign it below the list</a>.
        </p>
      )}
      {figures}
      <p class="go-on">
        <a class="button" href="#for-ticked">
          Go on with the ticked
        </a>
      </p>
      <fieldset class="for-ticked" id="for-ticked">
        <legend>
          For the ticked affiliates (<span data-sum>{ticked.length}</span>)
        </legend>
        {canAssign && (
          <div class="in-line">
            {assignFields(plans, visit.query.plan).map((field) => (
              <Field change="assign" pointer={`/0/${field.name}`} {...field} />
            ))}
            <button type="submit" name="change" value="assign">
              Assign the plan
            </button>
          </div>
        )}
      </fieldset>
      <p>
        <a href={withQuery(visit.path, { ...visit.query, format: 'csv' })} download>
          Download as CSV{list.meta.total > OF_FILE && `, ${count(OF_FILE)} from here on`}
        </a>
      </p>
    </PostForm>
  )
}

const ONLY: readonly Option[] = [
  ['', 'All'],
  ['without_plan', 'Without a plan'],
]

const FILTERS: readonly Input[] = [
  { name: 'plan', type: 'hidden' },
  { name: 'search', label: 'Id, name or address contains' },
  { name: 'only', label: 'Show', options: ONLY },
]

/** The affiliates of an account. */
export const affiliatesPage: Page = {
  path: '/accounts/:account/affiliates',
  section: 'Affiliates',
  query: ['add', 'cursor', 'search', 'only', 'plan', 'format'],
  changes: {
    add: addAffiliate,
    assign: {
      done: assignedText,
      perform(values, visit) {
        const ticked = tickValues(values)
        if (ticked.length === 0) throw refused('Tick at least one affiliate.')
        return assignPlan(values, visit, ticked)
      },
      // The choice is made: the list no longer asks for affiliates.
      next: (_, { path, query }) => withQuery(path, { ...query, plan: undefined }),
    },
    configure: {
      done: 'The affiliate is stored. It earns by the plan for all, unless you assign one to it.',
      perform: (values, { api, account }) =>
        api.call(putAffiliates, { account, affiliates: [pick(values, 'affiliate_id')] }),
    },
  },
  file: (visit) => (visit.query.format === 'csv' ? fileOf(visit) : null),
  async render(visit) {
    const { api, account, query } = visit
    const [list, unconfigured, choices] = await Promise.all([
      api.call(listAffiliateFigures, listOf(visit, LISTED)),
      api.call(listUnconfiguredAffiliates, { account }),
      readAddChoices(visit),
    ])
    const body = (
      <>
        <AddForm title="Add an affiliate" choices={choices} id={query.add} />
        {canManage(visit) && (
          <p class="quick">
            <AccountLink at={['affiliate-upload']} children="Upload a file" />
          </p>
        )}
        <Unconfigured found={unconfigured} />
        <Filters fields={FILTERS} />
        <ListForm list={list} plans={choices.plans} />
        <Pager meta={list.meta} />
      </>
    )
    return { title: 'Affiliates', body }
  },
}
