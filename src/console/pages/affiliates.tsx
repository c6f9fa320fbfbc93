import { isAtLeast } from '../../auth/roles.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { AddForm, addAffiliate, readAddChoices } from '../parts/affiliate-forms.tsx'
import { Data, EmptyState, type List, Pager, Table, visible } from '../parts/data.tsx'
import { AccountLink, column, fields, Value } from '../parts/fields.tsx'
import { Refusal } from '../parts/forms.tsx'

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
        <p>Customers of affiliates who are not configured earn nothing. Add the first one above.</p>
      </EmptyState>
    }
  />
)

type UnknownAffiliate = Unconfigured['data'][number]

/** Renders the affiliates that customers name and that are not configured, each with a button that stores it. */
const Unconfigured = ({ visit, found }: { visit: Visit; found: Unconfigured }) => {
  const canChange = isAtLeast(visit.member.role, 'manager')
  if (found.data.length === 0) return null
  const table = (
    <Table
      caption="Not configured: affiliates that the latest customers name. They earn nothing."
      rows={found.data}
      columns={[
        column('Affiliate', ({ affiliate_id }: UnknownAffiliate) => <Data text={affiliate_id} />),
        ...fields<UnknownAffiliate>(visit, 'customers'),
        ...(canChange ? [column('What to do', configureButton)] : []),
      ]}
    />
  )
  if (!canChange) return table
  return (
    <form method="post" id="change-configure">
      <input type="hidden" name="csrf" value={visit.csrf} />
      <input type="hidden" name="change" value="configure" />
      {visit.refused?.change === 'configure' && <Refusal {...visit.refused} at="/0" />}
      {table}
    </form>
  )
}

const configureButton = ({ affiliate_id }: UnknownAffiliate) => (
  <button
    type="submit"
    name="affiliate_id"
    value={affiliate_id}
    aria-label={`Configure ${visible(affiliate_id)}`}
  >
    Configure
  </button>
)

/** The affiliates of an account. */
export const affiliatesPage: Page = {
  path: '/accounts/:account/affiliates',
  section: 'Affiliates',
  query: ['add', 'cursor'],
  changes: {
    add: addAffiliate,
    configure: {
      done: 'The affiliate is stored. It earns by the plan for all, unless you assign one to it.',
      request: (values, { account }) => ({
        method: 'PUT',
        path: apiPath(account, 'affiliates'),
        body: [{ affiliate_id: values('affiliate_id') }],
      }),
    },
  },
  async render(visit) {
    const { api, account } = visit
    const { add, cursor } = visit.query
    const [list, unconfigured, choices] = await Promise.all([
      api.get<List<Affiliate>>(apiPath(account, 'affiliates'), { per_page: PER_PAGE, cursor }),
      api.get<Unconfigured>(apiPath(account, 'affiliates', 'unconfigured'), { customers: LATEST }),
      readAddChoices(visit),
    ])
    const body = (
      <>
        <AddForm visit={visit} title="Add an affiliate" choices={choices} id={add} />
        <Unconfigured visit={visit} found={unconfigured} />
        <Tree visit={visit} rows={list.data} />
        <Pager visit={visit} meta={list.meta} />
      </>
    )
    return { title: 'Affiliates', body }
  },
}
