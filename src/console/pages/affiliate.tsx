import { nullIfNotFound } from '../api-errors.ts'
import { pick } from '../form.ts'
import { accountPath, apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { AddForm, addAffiliate, readAddChoices } from '../parts/affiliate-forms.tsx'
import { Data, EmptyState, isolated, type List, Pager, periodWords, Table } from '../parts/data.tsx'
import { AccountLink, column, fields } from '../parts/fields.tsx'
import { ConfirmForm, Filters, FoldedForm } from '../parts/forms.tsx'
import {
  type Statement,
  Statements,
  type StatementTotals,
  Totals,
} from '../parts/statement-lists.tsx'
import { Assignments, readAssignments, unassign } from './plans.tsx'

/** The statements that are listed; the others are on their own page. */
const LISTED = 12

interface Parents {
  readonly parents: readonly { readonly parent: string | null; readonly from: string | null }[]
}

interface Balances {
  readonly balances: readonly {
    readonly currency: string
    readonly balance: string
    readonly due: string
  }[]
}

interface Entry {
  readonly kind: string
  readonly plan: string | null
  readonly period: string | null
  readonly statement: string | null
  readonly currency: string
  readonly amount: string
  readonly reference: string | null
  readonly actor: string
  readonly at: string
}

interface AffiliateLink {
  readonly link_id: string
  readonly name: string | null
  readonly url: string
  readonly landing_page: string
  readonly disabled: boolean
}

const Ledger = ({ visit, rows }: { visit: Visit; rows: readonly Entry[] }) => (
  <Table
    caption="Ledger, the oldest entry first. The balance is the sum of all entries."
    rows={rows}
    columns={[
      ...fields<Entry>(visit, 'at', 'kind', 'reference', 'actor'),
      column('Statement', ({ statement, period, plan }: Entry) =>
        statement ? (
          <AccountLink visit={visit} at={['statements', statement]}>
            {periodWords(period ?? '')}, <Data text={plan ?? ''} />
          </AccountLink>
        ) : (
          '–'
        ),
      ),
      ...fields<Entry>(visit, 'amount', 'currency'),
    ]}
    empty={
      <EmptyState title="Nothing has been booked yet.">
        <p>Approving a statement books what it earned.</p>
      </EmptyState>
    }
  />
)

const Links = ({ visit, rows }: { visit: Visit; rows: readonly AffiliateLink[] }) => (
  <Table
    caption="Links"
    rows={rows}
    columns={fields<AffiliateLink>(visit, 'url', 'name', 'landing_page', 'disabled')}
    empty={<p class="note">The affiliate has no links.</p>}
  />
)

/** Renders the balance, whether the affiliate is configured, and its parents by day. */
function Head(props: { visit: Visit; parents: readonly Parents[]; balances: Balances | null }) {
  const { visit, parents, balances } = props
  const [own] = parents
  return (
    <>
      {!own && (
        <p class="notice bad">
          The affiliate is not configured, so it earns nothing.{' '}
          <AccountLink visit={visit} at={['affiliates']} query={{ add: visit.params.affiliate }}>
            Configure it
          </AccountLink>
        </p>
      )}
      <Table
        caption="Balance by currency"
        rows={balances?.balances ?? []}
        columns={fields<Balances['balances'][number]>(visit, 'currency', 'balance', 'due')}
        empty={<p class="note">The balance is 0.</p>}
      />
      {own?.parents.some(({ parent }) => parent !== null) && (
        <Table
          caption="Parents by day"
          rows={own.parents}
          columns={fields<Parents['parents'][number]>(visit, 'parent', 'from')}
        />
      )}
    </>
  )
}

async function readAffiliate({ api, account, params, query: { period, cursor } }: Visit) {
  const { affiliate: affiliate_id = '' } = params
  const at = (...parts: string[]) => apiPath(account, ...parts)
  const own = { affiliate_id }
  const [parents, balances, totals, statements, entries, assignments, links, choices] =
    await Promise.all([
      api.get<List<Parents>>(at('affiliates', 'parents'), own),
      api.get<Balances>(at('affiliates', 'balance'), own).catch(nullIfNotFound),
      api.get<StatementTotals>(at('statements', 'totals'), { ...own, period }),
      api.get<List<Statement>>(at('statements'), { ...own, period, per_page: LISTED }),
      api.get<List<Entry>>(at('affiliates', 'ledger'), { ...own, cursor }),
      readAssignments({ api, account }, own),
      api.get<List<AffiliateLink>>(at('links'), own),
      readAddChoices({ api, account }),
    ])
  return { parents, balances, totals, statements, entries, assignments, links, choices }
}

/** An affiliate: what it earned and was paid, its plans and its links. */
export const affiliatePage: Page = {
  path: '/accounts/:account/affiliates/:affiliate',
  section: 'Affiliates',
  query: ['period', 'cursor'],
  changes: {
    unassign,
    add: addAffiliate,
    parent: {
      done: 'The parent is stored.',
      request: (values, { account, params }) => ({
        method: 'PUT',
        path: apiPath(account, 'affiliates'),
        body: [
          {
            affiliate_id: params.affiliate,
            parent: values('parent').trim() || null,
            ...pick(values, 'from'),
          },
        ],
      }),
    },
    link: {
      done: 'The link was created. Give its address to the affiliate.',
      request: (values, { account, params }) => ({
        method: 'POST',
        path: apiPath(account, 'links'),
        body: { affiliate_id: params.affiliate, ...pick(values, 'landing_page', 'name') },
      }),
    },
    remove: {
      done: 'The affiliate is deleted.',
      confirm: ({ params }) => params.affiliate ?? '',
      next: (_, { account }) => accountPath(account, 'affiliates'),
      request: (_, { account, params }) => ({
        method: 'DELETE',
        path: apiPath(account, 'affiliates'),
        query: { affiliate_id: params.affiliate ?? '' },
      }),
    },
  },
  async render(visit) {
    const affiliate_id = visit.params.affiliate ?? ''
    const { period } = visit.query
    const found = await readAffiliate(visit)
    const { totals, statements } = found
    const isConfigured = found.parents.data.length > 0
    const body = (
      <>
        <Head visit={visit} parents={found.parents.data} balances={found.balances} />
        <Filters visit={visit} fields={[{ name: 'period' }]} />
        <p class="quick">
          <AccountLink visit={visit} at={['statements']} query={{ affiliate_id, period }}>
            All statements
          </AccountLink>
          <AccountLink visit={visit} at={['unearned']} query={{ affiliate_id, period }}>
            What earned nothing
          </AccountLink>
          <AccountLink visit={visit} at={['reports']} query={{ group_by: 'affiliate_id' }}>
            Report by affiliate
          </AccountLink>
        </p>
        <Totals visit={visit} totals={totals} />
        <Statements
          visit={visit}
          caption={`Statements: ${statements.data.length} of ${statements.meta.total}`}
          rows={statements.data}
          empty={
            <EmptyState title="The affiliate has no statement yet.">
              <p>
                <AccountLink visit={visit} at={['statements']} children="Compute a period" />, or
                look at <a href={withQuery(visit.path, {})}>all periods</a>.
              </p>
            </EmptyState>
          }
        />
        <h2>Ledger</h2>
        <Ledger visit={visit} rows={found.entries.data} />
        <Pager visit={visit} meta={found.entries.meta} />
        <h2>Plans and links</h2>
        <Assignments visit={visit} found={found.assignments.found} />
        <Links visit={visit} rows={found.links.data} />
        {isConfigured && (
          <>
            <FoldedForm
              visit={visit}
              change="link"
              title="Add a link"
              submit="Create the link"
              fields={[
                {
                  name: 'landing_page',
                  required: true,
                  value: found.choices.landingPage ?? undefined,
                  placeholder: 'https://example.com/start',
                },
                { name: 'name', label: 'Name of the link', hint: 'Such as “Spring newsletter”.' },
              ]}
            />
            <FoldedForm
              visit={visit}
              change="parent"
              title="Change the parent"
              submit="Save the parent"
              at="/0"
              fields={[
                {
                  name: 'parent',
                  value: found.parents.data[0]?.parents.at(-1)?.parent ?? '',
                  hint: 'Who referred this affiliate. If empty, nobody.',
                },
                { name: 'from', label: 'Parent since', type: 'date', hint: 'Today if empty.' },
              ]}
            />
            <AddForm
              visit={visit}
              title="Add an affiliate below"
              choices={found.choices}
              parent={affiliate_id}
            />
          </>
        )}
        {isConfigured && (
          <>
            <h2>Delete the affiliate</h2>
            <p class="note">
              Only an affiliate that nothing names can be deleted: no customer, link, assignment,
              statement, entry or affiliate below.
            </p>
            <ConfirmForm
              visit={visit}
              change="remove"
              submit="Delete the affiliate"
              name={affiliate_id}
            />
          </>
        )}
      </>
    )
    return { title: isolated(affiliate_id), body }
  },
}
