import type { Amounts, Simulated, SimulatedRow } from '../../commission/simulate/present.ts'
import { parseField } from '../form.ts'
import { apiPath, type Page, type Visit, withQuery } from '../page.ts'
import { Plot } from '../parts/chart.tsx'
import { Computed } from '../parts/computed.tsx'
import { EmptyState, type List, Table } from '../parts/data.tsx'
import { column, Facts, fields, Members, To, Value } from '../parts/fields.tsx'
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

const Result = ({ visit, of }: { visit: Visit; of: Simulated }) => (
  <>
    <Facts
      visit={visit}
      of={of}
      names={['unchanged']}
      more={[['Periods', of.periods.join(', ')]]}
    />
    {of.skipped.map(({ affiliate_id, reason }) => (
      <p class="notice bad">
        {affiliate_id} is left out: {reason.replaceAll('_', ' ')}. Simulate it alone.
      </p>
    ))}
    {of.warnings.map((warning) => (
      <p class="note">
        <Members of={warning} />
      </p>
    ))}
    <Table
      caption="Sums of all affiliates of this page"
      rows={of.total}
      columns={fields<Amounts>(visit, 'currency', 'current', 'simulated', 'difference')}
    />
    {of.data.length === 0 ? (
      <EmptyState title="No affiliate changes.">
        <p>Change the terms, or choose other periods.</p>
      </EmptyState>
    ) : (
      <Plot kind="bars">
        <Table
          caption="Affiliates that change"
          rows={of.data}
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
      {of.meta.next_cursor && (
        <a href={withQuery(visit.path, { ...visit.query, cursor: of.meta.next_cursor })}>
          Next affiliates
        </a>
      )}
    </p>
  </>
)

async function simulate(visit: Visit) {
  const of = (await visit.api.send({ method: 'POST', ...requestOf(visit) })) as Simulated
  return <Result visit={visit} of={of} />
}

/** Reads the terms of the version that a query names, or of the latest one. */
async function storedTerms({ api, account, params, query: { version } }: Visit): Promise<string> {
  const at = (...parts: string[]) => apiPath(account, 'plans', params.plan ?? '', ...parts)
  const { terms } = version
    ? await api.get<{ terms: object }>(at('versions', version))
    : ((await api.get<List<{ terms: object }>>(at('versions'), { per_page: 1 })).data[0] ?? {})
  return JSON.stringify(terms, null, 2)
}

/** What other terms of a plan would pay. It stores nothing, and its address has all that it shows. */
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
          What <To visit={visit} at={['plans', plan]} children={plan} /> would pay under these
          terms, beside what is in force. Nothing is stored.
        </p>
        {terms && <Computed />}
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
    return { title: `Simulate ${plan}`, body, compute: terms ? () => simulate(visit) : undefined }
  },
}
