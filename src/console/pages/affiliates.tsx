import { pick } from '../form.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Data, EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { AccountLink, column, fields, Value } from '../parts/fields.tsx'
import { ChangeForm } from '../parts/forms.tsx'

/** The affiliates of one page. */
const PER_PAGE = 500

interface Affiliate {
  readonly affiliate_id: string
  readonly parent: string | null
}

/** The customers whose affiliates are looked up: a page reads no more, whatever is stored. */
const LATEST = 5000

interface Unconfigured {
  readonly data: readonly { readonly affiliate_id: string; readonly customers: number }[]
}

/** An affiliate in the tree, and how many are below. */
interface Placed extends Affiliate {
  readonly level: number
  readonly below: number
}

/** Returns affiliates below their parents. One whose parent is on another page comes at the top. */
function treeOf(rows: readonly Affiliate[]): Placed[] {
  const known = new Set(rows.map(({ affiliate_id }) => affiliate_id))
  const children = Map.groupBy(rows, ({ parent }) => (parent && known.has(parent) ? parent : null))
  const walk = (parent: string | null, level: number): Placed[] =>
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
      column('Affiliate', ({ affiliate_id, level }: Placed) => (
        <>
          {'\u2003'.repeat(level)}
          {level > 0 && '↳ '}
          <Value visit={visit} name="affiliate_id" value={affiliate_id} />
        </>
      )),
      ...fields<Placed>(visit, 'parent'),
      column('Affiliates below', ({ below }: Placed) => below, true),
      column('Statements', ({ affiliate_id }: Placed) => (
        <AccountLink visit={visit} at={['statements']} query={{ affiliate_id }}>
          Statements of <Data text={affiliate_id} />
        </AccountLink>
      )),
    ]}
    empty={
      <EmptyState title="No affiliate is configured yet.">
        <p>Customers of affiliates who are not configured earn nothing. Add the first one below.</p>
      </EmptyState>
    }
  />
)

type UnknownAffiliate = Unconfigured['data'][number]

const Unconfigured = ({ visit, found }: { visit: Visit; found: Unconfigured }) => (
  <Table
    caption="Not configured: affiliates that the latest customers name"
    rows={found.data}
    columns={[
      column('Affiliate', ({ affiliate_id }: UnknownAffiliate) => <Data text={affiliate_id} />),
      ...fields<UnknownAffiliate>(visit, 'customers'),
      column('What to do', ({ affiliate_id: add }: UnknownAffiliate) => (
        <a href={`${withQuery(visit.path, { add })}#change-put`}>
          Configure <Data text={add} />
        </a>
      )),
    ]}
    empty={<p class="note">All affiliates that the latest customers name are configured.</p>}
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
        body: [pick(values, 'affiliate_id', 'parent', 'from')],
      }),
    },
  },
  async render(visit) {
    const { api, account } = visit
    const { add, cursor } = visit.query
    const [list, unconfigured] = await Promise.all([
      api.get<List<Affiliate>>(apiPath(account, 'affiliates'), { per_page: PER_PAGE, cursor }),
      api.get<Unconfigured>(apiPath(account, 'affiliates', 'unconfigured'), { customers: LATEST }),
    ])
    const body = (
      <>
        <Unconfigured visit={visit} found={unconfigured} />
        <Tree visit={visit} rows={list.data} />
        <Pager visit={visit} meta={list.meta} />
        <h2>Add an affiliate, or set its parent</h2>
        <ChangeForm
          visit={visit}
          change="put"
          submit="Save the affiliate"
          at="/0"
          fields={[
            { name: 'affiliate_id', value: add, required: true },
            { name: 'parent', hint: 'Who referred this affiliate. If empty, the parent stays.' },
            { name: 'from', label: 'Parent since', type: 'date', hint: 'Today if empty.' },
          ]}
        />
      </>
    )
    return { title: 'Affiliates', body }
  },
}
