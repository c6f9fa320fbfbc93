import { apiPath, type Page, type Visit } from '../page.ts'
import { Badge, type List, Pager, Table, Time } from '../parts/data.tsx'
import { ConfirmForm, Field } from '../parts/forms.tsx'
import { Facts, To } from '../parts/money.tsx'
import { putVersion, VersionForm } from '../parts/plans.tsx'
import type { Plan } from './plans.tsx'

/** The versions side by side. */
const SHOWN = 3

interface Version {
  readonly version: number
  readonly effective_from: string
  readonly terms: object
  readonly created_at: string
  readonly withdrawn_at: string | null
}

/** Returns the texts of terms by their paths; rules are named by their ids. */
function flatten(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  const isTree = typeof value === 'object' && value !== null
  const isList = Array.isArray(value) && !value.some((one) => typeof one === 'object')
  if (!isTree || isList) return into.set(path, isList ? value.join(', ') : String(value))
  for (const [key, one] of Object.entries(value)) {
    const name = Array.isArray(value) && typeof one?.id === 'string' ? one.id : key
    flatten(one, path === '' ? name : `${path} / ${name}`, into)
  }
  return into
}

/** Renders versions side by side. A term that differs from the version before it is marked. */
function Compared({ versions }: { versions: readonly Version[] }) {
  const terms = versions.map((one) => flatten(one.terms))
  const paths = [...new Set(terms.flatMap((one) => [...one.keys()]))]
  return (
    <Table
      caption="Terms, the latest version first. What differs from the version before is marked."
      rows={paths}
      columns={[
        { title: 'Term', of: (path) => path },
        ...versions.map(({ version, effective_from }, i) => ({
          title: `Version ${version}, from ${effective_from}`,
          of: (path: string) => {
            const text = terms[i]?.get(path)
            const before = terms[i + 1]
            const shown = text ?? '–'
            return before && before.get(path) !== text ? <mark>{shown}</mark> : shown
          },
        })),
      ]}
    />
  )
}

const Versions = ({ visit, plan, versions }: Shown) => (
  <Table
    caption="Versions"
    rows={versions}
    columns={[
      { title: 'Version', of: ({ version }) => version },
      { title: 'From', of: ({ effective_from }) => effective_from },
      { title: 'Stored', of: ({ created_at }) => <Time at={created_at} /> },
      {
        title: 'State',
        of: ({ version, withdrawn_at }) =>
          plan.in_force === version ? (
            <Badge tone="good">in force</Badge>
          ) : (
            withdrawn_at && <Badge tone="quiet">withdrawn</Badge>
          ),
      },
      {
        title: 'Simulate',
        of: ({ version }) => (
          <To visit={visit} at={['plans', plan.plan, 'simulate']} query={{ version: `${version}` }}>
            Simulate version {version}
          </To>
        ),
      },
    ]}
  />
)

interface Shown {
  readonly visit: Visit
  readonly plan: Plan
  readonly versions: readonly Version[]
}

const Withdraw = ({ visit, plan, versions }: Shown) => (
  <ConfirmForm visit={visit} change="withdraw" submit="Withdraw a version" name={plan.plan}>
    <p>Only a version that was never in force can be withdrawn.</p>
    <Field
      {...{ visit, change: 'withdraw', name: 'version', label: 'Version' }}
      options={versions.map(({ version }) => [`${version}`, `${version}`])}
    />
  </ConfirmForm>
)

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
      request: (values, { account, params }) => ({
        method: 'DELETE',
        path: apiPath(account, 'plans', params.plan ?? '', 'versions', values('version')),
      }),
    },
  },
  async render(visit) {
    const at = (...parts: string[]) =>
      apiPath(visit.account, 'plans', visit.params.plan ?? '', ...parts)
    const [plan, { data: versions, meta }] = await Promise.all([
      visit.api.get<Plan>(at()),
      visit.api.get<List<Version>>(at('versions'), { per_page: SHOWN, ...visit.query }),
    ])
    const shown = { visit, plan, versions }
    const body = (
      <>
        <Facts
          rows={[
            ['Name', plan.name],
            ['Currency', plan.currency],
            ['Period', plan.period],
            ['Terms', plan.terms],
            ['In force', plan.in_force ? `version ${plan.in_force}` : 'none'],
          ]}
        />
        <p class="quick">
          <To visit={visit} at={['statements']} query={{ plan: plan.plan }} children="Statements" />
          <To visit={visit} at={['plans']} children="Assignments" />
        </p>
        <Versions {...shown} />
        <Pager visit={visit} meta={meta} />
        <Compared versions={versions} />
        <h2>Next version</h2>
        <VersionForm visit={visit} terms={JSON.stringify(versions[0]?.terms, null, 2)} />
        <Withdraw {...shown} />
      </>
    )
    return { title: plan.plan, body }
  },
}
