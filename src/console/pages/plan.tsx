import { apiPath, type Page, type Visit } from '../page.ts'
import { Data, isolated, type List, Pager, Table } from '../parts/data.tsx'
import { AccountLink, column, Facts, fields, Value } from '../parts/fields.tsx'
import { ConfirmForm } from '../parts/forms.tsx'
import { putVersion, VersionForm } from '../parts/plans.tsx'
import type { Plan } from './plans.tsx'

/** The number of versions that are shown side by side. */
const SHOWN = 3

interface Version {
  readonly version: number
  readonly effective_from: string
  readonly terms: object
  readonly created_at: string
  readonly withdrawn_at: string | null
}

interface Shown {
  readonly visit: Visit
  readonly plan: Plan
  readonly versions: readonly Version[]
}

/** Returns the texts of terms by their paths; rules are named by their ids. */
function flatten(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  const isTree = typeof value === 'object' && value !== null
  const isList = Array.isArray(value) && !value.some((one) => typeof one === 'object')
  if (!isTree || isList) return into.set(path, isList ? value.join(', ') : String(value ?? 'none'))
  for (const [key, one] of Object.entries(value)) {
    const name = Array.isArray(value) && typeof one?.id === 'string' ? one.id : key
    flatten(one, path === '' ? name : `${path} / ${name}`, into)
  }
  return into
}

/** Renders versions side by side. A term that differs from the version before it is marked. */
function Compared({ versions }: Shown) {
  const terms = versions.map((one) => flatten(one.terms))
  const paths = [...new Set(terms.flatMap((one) => [...one.keys()]))]
  return (
    <Table
      caption="Terms, the latest version first. What differs from the version before is marked."
      rows={paths}
      columns={[
        column('Term', (path: string) => <Data text={path} />),
        ...versions.map(({ version, effective_from }, i) =>
          column(`Version ${version}, from ${effective_from}`, (path: string) => {
            const text = terms[i]?.get(path)
            const before = terms[i + 1]
            const shown = text === undefined ? '–' : <Data text={text} />
            return before && before.get(path) !== text ? <mark>{shown}</mark> : shown
          }),
        ),
      ]}
    />
  )
}

const Versions = ({ visit, plan: { plan, in_force }, versions }: Shown) => (
  <Table
    caption="Versions"
    rows={versions}
    columns={[
      ...fields<Version>(visit, 'version', 'effective_from', 'created_at', 'withdrawn_at'),
      column('State', ({ version, withdrawn_at }: Version) => {
        const isFuture = in_force === null || version > in_force
        const others = withdrawn_at ? 'withdrawn' : isFuture ? 'begins later' : 'ended'
        const state = version === in_force ? 'in force' : others
        return <Value visit={visit} name="status" value={state} />
      }),
      column('Simulate', ({ version }: Version) => (
        <AccountLink
          visit={visit}
          at={['plans', plan, 'simulate']}
          query={{ version: `${version}` }}
        >
          Simulate version {version}
        </AccountLink>
      )),
    ]}
  />
)

const Withdraw = ({ visit, plan, versions }: Shown) => (
  <ConfirmForm
    visit={visit}
    change="withdraw"
    submit="Withdraw a version"
    name={plan.plan}
    fields={[
      { name: 'version', options: versions.map(({ version }) => [`${version}`, `${version}`]) },
    ]}
  >
    <p>Only a version that was never in force can be withdrawn.</p>
  </ConfirmForm>
)

/** Returns the path of the plan in the administration API. */
const ownPath = ({ account, params }: Visit, ...parts: string[]) =>
  apiPath(account, 'plans', params.plan ?? '', ...parts)

/** A plan: its versions side by side, and the form of the next one. */
export const planPage: Page = {
  path: '/accounts/:account/plans/:plan',
  section: 'Plans',
  query: ['cursor'],
  changes: {
    put: putVersion,
    withdraw: {
      done: 'The version is withdrawn.',
      confirm: ({ params }) => params.plan ?? '',
      request: (values, visit) => ({
        method: 'DELETE',
        path: ownPath(visit, 'versions', values('version')),
      }),
    },
  },
  async render(visit) {
    const [plan, { data: versions, meta }] = await Promise.all([
      visit.api.get<Plan>(ownPath(visit)),
      visit.api.get<List<Version>>(ownPath(visit, 'versions'), {
        per_page: SHOWN,
        ...visit.query,
      }),
    ])
    const shown = { visit, plan, versions }
    const body = (
      <>
        <Facts
          visit={visit}
          row={plan}
          names={['name', 'currency', 'period', 'terms', 'in_force']}
        />
        <p class="quick">
          <AccountLink
            visit={visit}
            at={['statements']}
            query={{ plan: plan.plan }}
            children="Statements"
          />
          <AccountLink visit={visit} at={['plans']} children="Assignments" />
        </p>
        <Versions {...shown} />
        <Pager visit={visit} meta={meta} />
        <Compared {...shown} />
        <h2>Next version</h2>
        <VersionForm visit={visit} terms={JSON.stringify(versions[0]?.terms, null, 2)} />
        <Withdraw {...shown} />
      </>
    )
    return { title: isolated(plan.plan), body }
  },
}
