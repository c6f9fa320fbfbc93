import type { PlanTerms } from '../../commission/engine/plan.ts'
import { type RuleWords, ruleWords, termsWords } from '../../commission/engine/plan-words.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { Data, dayWords, isolated, type List, Pager, Table } from '../parts/data.tsx'
import { AccountLink, column, fields, Value } from '../parts/fields.tsx'
import { ConfirmForm } from '../parts/forms.tsx'
import { putVersion, VersionForm } from '../parts/plans.tsx'
import type { Plan } from './plans.tsx'

/** The number of versions that are shown side by side. */
const SHOWN = 3

interface Version {
  readonly version: number
  readonly effective_from: string
  readonly terms: PlanTerms
  readonly created_at: string
  readonly withdrawn_at: string | null
}

interface Shown {
  readonly visit: Visit
  readonly plan: Plan
  readonly versions: readonly Version[]
}

/** Returns the sentences of a rule, what it pays for first. */
const sentencesOf = ({ pays, limits }: RuleWords): string[] => [pays, ...limits]

/** Renders sentences. Those that the version before lacks are marked, and those that it had are struck out. */
const Sentences = ({
  now,
  before,
}: {
  now: readonly string[]
  before: readonly string[] | null
}) => (
  <ul class="rule-words">
    {now.map((sentence) => (
      <li>
        {before === null || before.includes(sentence) ? (
          <Data text={sentence} />
        ) : (
          <ins>
            <Data text={sentence} />
          </ins>
        )}
      </li>
    ))}
    {before
      ?.filter((sentence) => !now.includes(sentence))
      .map((sentence) => (
        <li>
          <del>
            <Data text={sentence} />
          </del>
        </li>
      ))}
  </ul>
)

/** Renders a version in words, and what it changes of the one before. */
function InWords({ version, before }: { version: Version; before: Version | undefined }) {
  const { terms } = version
  const old = before?.terms
  const rulesOf = (one: PlanTerms) => one.rules.map((rule) => ruleWords(rule, one))
  const rules = rulesOf(terms)
  const oldRules = new Map(old ? rulesOf(old).map((one) => [one.id, sentencesOf(one)]) : [])
  const gone = [...oldRules.keys()].filter((id) => rules.every((one) => one.id !== id))
  return (
    <>
      {rules.map((one) => (
        <section class="rule">
          <h3>
            <Data text={one.id} />
          </h3>
          <Sentences now={sentencesOf(one)} before={old ? (oldRules.get(one.id) ?? []) : null} />
        </section>
      ))}
      {gone.map((id) => (
        <section class="rule">
          <h3>
            <del>
              <Data text={id} />
            </del>
          </h3>
          <Sentences now={[]} before={oldRules.get(id) ?? []} />
        </section>
      ))}
      <section class="rule">
        <h3>Statements</h3>
        <Sentences now={termsWords(terms)} before={old ? termsWords(old) : null} />
      </section>
    </>
  )
}

/** Renders each version in words, the latest first and open. */
const InWordsByVersion = ({ versions }: Shown) => (
  <>
    {versions.map((version, i) => (
      <details open={i === 0}>
        <summary>
          Version {version.version}, from {dayWords(version.effective_from)}
          {versions[i + 1] ? '. What differs from the version before is marked' : ''}
        </summary>
        <InWords version={version} before={versions[i + 1]} />
      </details>
    ))}
  </>
)

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
        <p class="lead">
          <Data text={plan.name} />
          {plan.in_force === null ? '. Not in force yet' : `. Version ${plan.in_force} is in force`}
        </p>
        <p class="quick">
          <AccountLink
            visit={visit}
            at={['statements']}
            query={{ plan: plan.plan }}
            children="Statements"
          />
          <AccountLink visit={visit} at={['plans']} children="Assignments" />
        </p>
        <h2>What it pays</h2>
        <InWordsByVersion {...shown} />
        <h2>Versions</h2>
        <Versions {...shown} />
        <Pager visit={visit} meta={meta} />
        <h2>Next version</h2>
        <VersionForm visit={visit} terms={JSON.stringify(versions[0]?.terms, null, 2)} />
        <Withdraw {...shown} />
      </>
    )
    return { title: isolated(plan.plan), body }
  },
}
