import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { ChangeForm, Field } from '../parts/forms.tsx'
import { To } from '../parts/money.tsx'

/** The affiliates of one page. */
const PER_PAGE = 500

interface Affiliate {
  readonly affiliate_id: string
  readonly parent: string | null
}

interface Unconfigured {
  readonly data: readonly { readonly affiliate_id: string; readonly customers: number }[]
  readonly more_customers?: true
}

/** Returns affiliates below their parents. One whose parent is on another page stands at the top. */
function treeOf(rows: readonly Affiliate[]): (Affiliate & { level: number; below: number })[] {
  const known = new Set(rows.map(({ affiliate_id }) => affiliate_id))
  const children = Map.groupBy(rows, ({ parent }) => (parent && known.has(parent) ? parent : null))
  const walk = (parent: string | null, level: number): ReturnType<typeof treeOf> =>
    (children.get(parent) ?? []).flatMap((one) => {
      const below = walk(one.affiliate_id, level + 1)
      return [{ ...one, level, below: below.length }, ...below]
    })
  return walk(null, 0)
}

const Tree = ({ visit, rows }: { visit: Visit; rows: readonly Affiliate[] }) => (
  <Table
    caption="Configured affiliates, each below the affiliate who referred them"
    rows={treeOf(rows)}
    columns={[
      {
        title: 'Affiliate',
        of: ({ affiliate_id: id, level }) => (
          <>
            {'\u2003'.repeat(level)}
            {level > 0 && '↳ '}
            <To visit={visit} at={['affiliates', id]} children={id} />
          </>
        ),
      },
      {
        title: 'Parent',
        of: ({ parent }) =>
          parent ? <To visit={visit} at={['affiliates', parent]} children={parent} /> : '–',
      },
      { title: 'Below', isNumeric: true, of: ({ below }) => below },
      {
        title: 'Statements',
        of: ({ affiliate_id }) => (
          <To visit={visit} at={['statements']} query={{ affiliate_id }}>
            Statements of {affiliate_id}
          </To>
        ),
      },
    ]}
    empty={
      <EmptyState title="No affiliate is configured yet.">
        <p>Customers of affiliates who are not configured earn nothing. Add the first one below.</p>
      </EmptyState>
    }
  />
)

const Unconfigured = ({ visit, found }: { visit: Visit; found: Unconfigured }) => (
  <Table
    caption={
      found.more_customers
        ? 'Not configured: affiliates that the latest customers name'
        : 'Not configured: affiliates that customers name'
    }
    rows={found.data}
    columns={[
      { title: 'Affiliate', of: ({ affiliate_id }) => affiliate_id },
      {
        title: 'Customers',
        isNumeric: true,
        of: ({ customers }) => customers.toLocaleString('en'),
      },
      {
        title: 'What to do',
        of: ({ affiliate_id }) => (
          <a href={`${withQuery(visit.path, { add: affiliate_id })}#change-put`}>
            Configure {affiliate_id}
          </a>
        ),
      },
    ]}
    empty={<p class="note">All affiliates that customers name are configured.</p>}
  />
)

/** The affiliates of an account. */
export const affiliatesPage: Page = {
  path: '/accounts/:account/affiliates',
  section: 'Affiliates',
  query: ['add', 'cursor'],
  changes: {
    put: {
      done: 'The affiliate is stored.',
      request: (values, { account }) => ({
        method: 'PUT',
        path: apiPath(account, 'affiliates'),
        body: [
          {
            affiliate_id: values('affiliate_id'),
            ...(values('parent') && { parent: values('parent') }),
            ...(values('from') && { from: values('from') }),
          },
        ],
      }),
    },
  },
  async render(visit) {
    const { api, account } = visit
    const { add, cursor } = visit.query
    const [list, unconfigured] = await Promise.all([
      api.get<List<Affiliate>>(apiPath(account, 'affiliates'), { per_page: PER_PAGE, cursor }),
      api.get<Unconfigured>(apiPath(account, 'affiliates', 'unconfigured')),
    ])
    const field = { visit, change: 'put' }
    const body = (
      <>
        <Unconfigured visit={visit} found={unconfigured} />
        <Tree visit={visit} rows={list.data} />
        <Pager visit={visit} meta={list.meta} />
        <h2>Add an affiliate, or set its parent</h2>
        <ChangeForm visit={visit} change="put" submit="Store the affiliate">
          <Field
            {...{ ...field, name: 'affiliate_id', label: 'Affiliate', value: add }}
            pointer="/0/affiliate_id"
            required
          />
          <Field
            {...{ ...field, name: 'parent', label: 'Parent' }}
            pointer="/0/parent"
            hint="The affiliate who referred them. Stays as it is if empty."
          />
          <Field
            {...{ ...field, name: 'from', label: 'Parent from', type: 'date' }}
            pointer="/0/from"
            hint="Today if empty."
          />
        </ChangeForm>
      </>
    )
    return { title: 'Affiliates', body }
  },
}
