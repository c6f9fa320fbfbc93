import { FRESH_LIMITS } from '../../commission/statements/limits.ts'
import type {
  Amounts,
  Simulated,
  SimulatedRow,
} from '../../commission/statements/present-simulation.ts'
import { parseField } from '../form.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Plot } from '../parts/chart.tsx'
import { Data, EmptyState, isolated, type List, Table } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { AccountLink, column, Facts, fields, Members, Value } from '../parts/fields.tsx'
import { Filters } from '../parts/forms.tsx'

/** Returns the request that simulates the terms of a query. */
function requestOf({ account, params, query }: Visit) {
  const { terms = '', period, from, to, affiliate_id, cursor } = query
  return {
    path: apiPath(account, 'plans', params.plan ?? '', 'simulate'),
    query: { affiliate_id, cursor },
    body: {
      ...(period ? { period } : { ...(from && { from }), ...(to && { to }) }),
      version: parseField('terms', terms),
    },
  }
}

/** Renders why no row is shown: nobody has the plan, or nothing changes for those who have it. */
const NoChanges = ({ visit, result }: { visit: Visit; result: Simulated }) =>
  result.unchanged + result.skipped.length === 0 ? (
    <EmptyState title="Nobody here has this plan, so nothing was compared.">
      <p>
        <AccountLink visit={visit} at={['plans']} children="Assign it" /> to a configured affiliate.
      </p>
    </EmptyState>
  ) : (
    <EmptyState title="No commission changes.">
      <p>Change the terms, or choose other periods.</p>
    </EmptyState>
  )

const Result = ({ visit, result }: { visit: Visit; result: Simulated }) => (
  <>
    <Facts
      visit={visit}
      row={result}
      names={['unchanged']}
      more={[['Periods', result.periods.join(', ')]]}
    />
    {result.skipped.map(({ affiliate_id }) => (
      <p class="notice bad">
        <Data text={affiliate_id} /> is left out: it depends on more than{' '}
        {FRESH_LIMITS.facts.toLocaleString('en')} records. Choose fewer periods.
      </p>
    ))}
    {result.warnings.map((warning) => (
      <p class="note">
        <Members object={warning} />
      </p>
    ))}
    <Table
      caption="Sums of all affiliates of this page"
      rows={result.total}
      columns={fields<Amounts>(visit, 'currency', 'current', 'simulated', 'difference')}
    />
    {result.data.length === 0 ? (
      <NoChanges visit={visit} result={result} />
    ) : (
      <Plot kind="bars">
        <Table
          caption="Affiliates whose commission changes"
          rows={result.data}
          columns={[
            column('Affiliate', ({ affiliate_id, currency }: SimulatedRow) => (
              <>
                <Value visit={visit} name="affiliate_id" value={affiliate_id} /> {currency}
              </>
            )),
            ...fields<SimulatedRow>(visit, 'current', 'simulated', 'difference'),
          ]}
        />
      </Plot>
    )}
    <p class="quick">
      <a href={withQuery(visit.path, { ...visit.query, format: 'csv' })}>CSV of this page</a>
      {result.meta.next_cursor && (
        <a href={withQuery(visit.path, { ...visit.query, cursor: result.meta.next_cursor })}>
          Next affiliates
        </a>
      )}
    </p>
  </>
)

async function simulate(visit: Visit) {
  const result = (await visit.api.send({ method: 'POST', ...requestOf(visit) })) as Simulated
  return <Result visit={visit} result={result} />
}

/** Reads the terms of the version that a query names, or of the latest one. */
async function storedTerms({ api, account, params, query: { version } }: Visit): Promise<string> {
  const at = (...parts: string[]) => apiPath(account, 'plans', params.plan ?? '', ...parts)
  const { terms } = version
    ? await api.get<{ terms: object }>(at('versions', version))
    : ((await api.get<List<{ terms: object }>>(at('versions'), { per_page: 1 })).data[0] ?? {})
  return JSON.stringify(terms, null, 2)
}

/** What other terms of a plan would pay. It stores nothing, and its address has all that it needs. */
export const simulationPage: Page = {
  path: '/accounts/:account/plans/:plan/simulate',
  section: 'Plans',
  query: ['version', 'period', 'from', 'to', 'affiliate_id', 'terms', 'cursor', 'format'],
  file: (visit) =>
    visit.query.format === 'csv' ? { ...requestOf(visit), type: 'text/csv' } : null,
  async render(visit) {
    const { plan = '' } = visit.params
    const { terms } = visit.query
    const value = terms ?? (await storedTerms(visit))
    const body = (
      <>
        <p class="lead">
          What <AccountLink visit={visit} at={['plans', plan]} children={<Data text={plan} />} />{' '}
          would pay under these terms, compared with those in force. Nothing is stored.
        </p>
        {terms && <DeferredPart />}
        <Filters
          visit={visit}
          fields={[
            { name: 'period' },
            { name: 'from', label: 'Or from period' },
            { name: 'to', label: 'To period' },
            { name: 'affiliate_id' },
            { name: 'terms', label: 'Terms as JSON', type: 'area', value, required: true },
          ]}
        />
      </>
    )
    return {
      title: `Simulate ${isolated(plan)}`,
      body,
      computeDeferred: terms ? () => simulate(visit) : undefined,
    }
  },
}
