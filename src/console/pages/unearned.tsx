import { REASONS } from '../../commission/engine/reasons.ts'
import type { UnearnedGroup, UnearnedRecord } from '../../commission/engine/unearned.ts'
import { apiPath, type Page, type Visit } from '../page.ts'
import { EmptyState, type List, Pager, Table } from '../parts/data.tsx'
import { Filters, type Option } from '../parts/forms.tsx'
import { Sums, To } from '../parts/money.tsx'

const ANY: Option = ['', 'Any']

const REASON_OPTIONS = [ANY, ...REASONS.map((one): Option => [one, one.replaceAll('_', ' ')])]

/** Names the rule and the condition of a cause, with a link to the plan. */
const Cause = ({ visit, of }: { visit: Visit; of: UnearnedGroup | UnearnedRecord }) => (
  <>
    {of.plan && (
      <To visit={visit} at={['plans', of.plan]}>
        {of.plan}, version {of.version}
      </To>
    )}{' '}
    {of.rule && <code>{of.rule}</code>} {of.condition && <code>{of.condition}</code>}
  </>
)

/** Returns the query of the records of a group. */
const recordsOf = ({ query }: Visit, reason: string) => ({ ...query, reason, list: 'records' })

const NOTHING = (
  <EmptyState title="Every record of the period was paid for, or none matches.">
    <p>Look at another period, or at another affiliate.</p>
  </EmptyState>
)

const Groups = ({ visit, groups }: { visit: Visit; groups: readonly UnearnedGroup[] }) => (
  <Table
    caption="What earned nothing, by reason. A number leads to its records."
    rows={groups}
    columns={[
      { title: 'Reason', of: ({ reason }) => reason.replaceAll('_', ' ') },
      { title: 'Kind', of: ({ resource }) => resource },
      { title: 'Plan, rule, condition', of: (group) => <Cause visit={visit} of={group} /> },
      {
        title: 'Records',
        isNumeric: true,
        of: ({ reason, count }) => (
          <To visit={visit} at={['unearned']} query={recordsOf(visit, reason)} children={count} />
        ),
      },
      { title: 'Sums', of: ({ sums, currency }) => <Sums of={sums} currency={currency} /> },
    ]}
    empty={NOTHING}
  />
)

const Records = ({ visit, records }: { visit: Visit; records: List<UnearnedRecord> }) => (
  <>
    <Table
      caption="Records that earned nothing"
      rows={records.data}
      columns={[
        { title: 'Record', of: ({ id }) => id },
        { title: 'Kind', of: ({ resource }) => resource },
        { title: 'Day', of: ({ day }) => day },
        {
          title: 'Customer',
          of: ({ customer_id: id }) => <To visit={visit} at={['customers', id]} children={id} />,
        },
        {
          title: 'Affiliate',
          of: ({ affiliate_id: id }) =>
            id && <To visit={visit} at={['affiliates', id]} children={id} />,
        },
        { title: 'Reason', of: ({ reason }) => reason.replaceAll('_', ' ') },
        { title: 'Plan, rule, condition', of: (one) => <Cause visit={visit} of={one} /> },
        {
          title: 'As sent',
          of: ({ amounts, currency }) => <Sums of={amounts} currency={currency} />,
        },
      ]}
      empty={NOTHING}
    />
    <Pager visit={visit} meta={records.meta} />
  </>
)

/** The records of a period that earned nothing, and why. */
export const unearnedPage: Page = {
  path: '/accounts/:account/unearned',
  section: 'Statements',
  query: ['period', 'affiliate_id', 'customer_id', 'reason', 'list', 'cursor'],
  async render(visit) {
    const { list, cursor, ...query } = visit.query
    const at = (...parts: string[]) => apiPath(visit.account, 'unearned', ...parts)
    const isList = list === 'records'
    const read = () =>
      isList
        ? visit.api.get<List<UnearnedRecord>>(at('facts'), { ...query, cursor })
        : visit.api.get<{ readonly unearned: readonly UnearnedGroup[] }>(at(), query)
    const found = query.period ? await read() : null
    const body = (
      <>
        <Filters
          visit={visit}
          fields={[
            { name: 'period', label: 'Period', required: true },
            { name: 'affiliate_id', label: 'Affiliate' },
            { name: 'customer_id', label: 'Customer' },
            { name: 'reason', label: 'Reason', options: REASON_OPTIONS },
            {
              name: 'list',
              label: 'Show',
              options: [
                ['', 'Groups'],
                ['records', 'Records'],
              ],
            },
          ]}
        />
        {found === null && (
          <EmptyState title="Choose a period.">
            <p>A month such as 2026-10, or a week such as 2026-W41.</p>
          </EmptyState>
        )}
        {found &&
          ('data' in found ? (
            <Records visit={visit} records={found} />
          ) : (
            <Groups visit={visit} groups={found.unearned} />
          ))}
      </>
    )
    return { title: 'What earned nothing', body }
  },
}
