import { getPlan } from '../../commission/operations/plans.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import { parseField } from '../../pages/form.ts'
import type { Page } from '../../pages/page.ts'
import { isolated, periodWords } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters } from '../../pages/parts/forms.tsx'
import { PlanLink } from '../../pages/parts/names.tsx'
import { computeFigures, endedPeriods } from './plan-figures.tsx'

/** What a plan would pay in a period: its latest version, or other terms. It stores nothing. */
export const simulationPage: Page = {
  path: '/accounts/:account/plans/:plan/simulate',
  section: 'Plans',
  query: ['period', 'terms', 'cursor'],
  async render(visit) {
    const { api, account, query, today } = visit
    const { plan = '' } = visit.params
    const [{ period: kind, name, versions }, sums] = await Promise.all([
      api.call(getPlan, { account, plan }),
      api.call(listPeriods, { account }),
    ])
    const terms = query.terms
      ? parseField(query.terms)
      : versions.find(({ withdrawn_at }) => withdrawn_at === null)?.terms
    const periods = endedPeriods(sums, kind, today)
    const { period = periods[0] ?? '', cursor } = query
    const isPossible = period !== '' && terms !== undefined
    const body = (
      <>
        <p class="lead">
          What <PlanLink id={plan} /> would pay under{' '}
          {query.terms ? 'the terms that you wrote' : 'its latest version'}, compared with the
          versions in force. Nothing is stored.
        </p>
        <Filters
          fields={[
            { name: 'terms', type: 'hidden' },
            {
              name: 'period',
              options: periods.map((one) => [one, periodWords(one)] as const),
              value: period,
            },
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
      </>
    )
    const input = { plan, isStored: true, period, terms, cursor }
    return {
      title: `What ${isolated(name)} would have paid`,
      body,
      computeDeferred: isPossible ? () => computeFigures(visit, input) : undefined,
    }
  },
}
