import { getPlan, getPlanVersion, listPlanVersions } from '../../commission/operations/plans.ts'
import { validateShape } from '../../commission/plans/issues.ts'
import { planTerms } from '../../commission/plans/plan.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import { parseField } from '../../pages/form.ts'
import type { Page, Visit } from '../../pages/page.ts'
import { dayWords, isolated, periodWords } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import { PlanLink } from '../../pages/parts/names.tsx'
import { lastDayOf } from '../../pages/parts/periods.ts'
import type { Version } from './plan-editor.tsx'
import { computeFigures, endedPeriods } from './plan-figures.tsx'
import { InWords } from './plan-words.tsx'

/** What the page knows of the plan before it computes anything. */
interface Known {
  readonly versions: readonly Version[]
  /** The periods that can be chosen, the latest first. */
  readonly periods: readonly string[]
  readonly terms: unknown
}

const planOf = ({ params }: Visit): string => params.plan ?? ''

/** Reads the plan, its latest versions, and the periods that have ended. */
async function readKnown(visit: Visit): Promise<Known> {
  const { api, account, query, today } = visit
  const own = { account, plan: planOf(visit) }
  const { version } = query
  const [plan, { data: versions }, sums, chosen] = await Promise.all([
    api.call(getPlan, own),
    api.call(listPlanVersions, { ...own, per_page: 50 }),
    api.call(listPeriods, { account }),
    version && !query.terms ? api.call(getPlanVersion, { ...own, version }) : null,
  ])
  const periods = endedPeriods(sums, plan.period, today)
  return {
    versions,
    periods: [...new Set([...(query.period ? [query.period] : []), ...periods])].sort(
      (a, b) => lastDayOf(b) - lastDayOf(a),
    ),
    terms: query.terms
      ? parseField(query.terms)
      : (chosen ?? versions.find(({ withdrawn_at }) => withdrawn_at === null))?.terms,
  }
}

/** Returns what a query asks to simulate. The latest period is usual. */
function inputOf(visit: Visit, { periods, terms }: Pick<Known, 'periods' | 'terms'>) {
  const { period = periods[0] ?? '', affiliate_id, cursor } = visit.query
  return { plan: planOf(visit), isStored: true, period, terms, affiliate_id, cursor }
}

/** What other terms of a plan would pay. It stores nothing, and its address has all that it needs. */
export const simulationPage: Page = {
  path: '/accounts/:account/plans/:plan/simulate',
  section: 'Plans',
  query: ['version', 'period', 'affiliate_id', 'terms', 'cursor'],
  async render(visit) {
    const plan = planOf(visit)
    const [known, planNames] = await Promise.all([readKnown(visit), visit.names.plans()])
    const input = inputOf(visit, known)
    const isPossible = known.periods.length > 0 && known.terms !== undefined
    const periods = known.periods.map((one): Option => [one, periodWords(one)])
    const versions = known.versions.map(
      ({ version, effective_from }): Option => [
        `${version}`,
        `Version ${version}, from ${dayWords(effective_from)}`,
      ],
    )
    const { output } = validateShape(planTerms, known.terms)
    const body = (
      <>
        <p class="lead">
          What <PlanLink id={plan} /> would pay under{' '}
          {visit.query.terms ? 'the terms that you wrote' : 'one of its versions'}, compared with
          the versions in force. Nothing is stored.
        </p>
        <Filters
          fields={[
            visit.query.terms
              ? { name: 'terms', type: 'hidden' }
              : { name: 'version', label: 'Terms', options: versions },
            {
              name: 'period',
              label: 'Period',
              options: periods,
              value: visit.query.period ?? known.periods[0],
            },
            { name: 'affiliate_id' },
          ]}
        />
        {isPossible ? (
          <DeferredPart />
        ) : (
          <p class="note">
            No period has ended with statements yet, so there is nothing to compare.
          </p>
        )}
        <p class="quick">
          <AccountLink
            at={['plans', plan]}
            query={{ edit: 'next' }}
            children="Write the next version"
          />
        </p>
        {output ? (
          <details>
            <summary>These terms in words</summary>
            <InWords terms={output} before={undefined} />
          </details>
        ) : null}
      </>
    )
    return {
      title: `What ${isolated(planNames.get(plan) ?? plan)} would have paid`,
      body,
      computeDeferred: isPossible ? () => computeFigures(visit, input) : undefined,
    }
  },
}
