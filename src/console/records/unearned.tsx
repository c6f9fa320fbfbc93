import { listPeriods } from '../../commission/operations/statements.ts'
import { REASONS } from '../../commission/shapes/reasons.ts'
import { getUnearned, listUnearnedRecords } from '../../commission/why/operations.ts'
import { type Page, type Visit, VisitContext } from '../../pages/base/page.ts'
import { Data, EmptyState, Pager } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Option } from '../../pages/parts/forms.tsx'
import { choosablePeriods, periodFilter } from '../../pages/parts/periods.ts'
import { Amounts, countedRecords } from '../../pages/parts/record-fields.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { planName, Reason, readTerms, reasonText } from './reasons.tsx'

const NOTHING = <EmptyState title="No unearned records in this selection." />

/** Returns the affiliate and the customer that the page is narrowed to: next steps lead to their pages. */
const whoseOf = ({ query: { affiliate_id, customer_id } }: Visit) => ({
  ...(affiliate_id && { affiliate_id }),
  ...(customer_id && { customer_id }),
})

/** Computes and renders what earned nothing: the groups, or their records. */
async function renderUnearned(visit: Visit) {
  const { list, cursor, period = '', ...query } = visit.query
  const wanted = { ...query, period }
  if (list !== 'records') {
    const { data } = await visit.api.call(getUnearned, { account: visit.account, ...wanted })
    const termsOf = await readTerms(visit, data)
    return (
      <Table
        caption="What earned nothing, by reason. Select a number to list the records."
        rows={data}
        columns={{
          Why: (group) => <Reason unearned={{ ...group, ...whoseOf(visit) }} termsOf={termsOf} />,
          Plan:
            new Set(data.map(({ plan }) => plan)).size > 1 &&
            ((group) => (
              <Data text={group.plan === null ? '–' : planName(termsOf(group), group.plan)} />
            )),
          Records: (group) => {
            const query = { ...visit.query, reason: group.reason, list: 'records' }
            return (
              <AccountLink at={['unearned']} query={query}>
                {countedRecords(group.count, group)}
              </AccountLink>
            )
          },
          Sum: { number: ({ sums, currency }) => <Amounts amounts={sums} currency={currency} /> },
        }}
        empty={NOTHING}
      />
    )
  }
  const { data, meta } = await visit.api.call(listUnearnedRecords, {
    account: visit.account,
    ...wanted,
    cursor,
  })
  const termsOf = await readTerms(visit, data)
  return (
    <>
      <Table
        caption="Records that earned nothing"
        rows={data}
        columns={{
          Record: (one) => <RecordLink account={visit.account} record={one} />,
          Why: { prose: (one) => <Reason unearned={one} termsOf={termsOf} /> },
          Amount: {
            number: ({ amounts, currency }) => <Amounts amounts={amounts} currency={currency} />,
          },
          Day: 'day',
          Customer: 'customer_id',
          Affiliate: 'affiliate_id',
        }}
        empty={NOTHING}
      />
      <Pager meta={meta} />
    </>
  )
}

const REASON_OPTIONS: readonly Option[] = [
  ['', 'Any'],
  ...REASONS.map((reason): Option => [reason, reasonText(reason)]),
  ['no_rate', 'No exchange rate, or not yet'],
]

/** The records of a period that earned nothing, and why. */
export const unearnedPage: Page = {
  path: '/accounts/:account/unearned',
  shows: 'account',
  section: 'Statements',
  query: ['period', 'affiliate_id', 'customer_id', 'reason', 'list', 'cursor'],
  async render(visit) {
    const { api, account, query } = visit
    const sums = await api.call(listPeriods, { account })
    // The period that the filter shows, which is the current one if none is chosen.
    const period = query.period ?? choosablePeriods(sums, visit.today)[0]
    const here: Visit = { ...visit, query: { ...query, period } }
    const body = (
      <VisitContext.Provider value={here}>
        <Filters
          fields={[
            periodFilter(here, sums),
            { name: 'affiliate_id' },
            { name: 'customer_id' },
            { name: 'reason', options: REASON_OPTIONS },
            {
              name: 'list',
              label: 'Show',
              options: [
                ['', 'Reasons'],
                ['records', 'Records'],
              ],
            },
          ]}
        />
        <Deferred part={() => renderUnearned(here)} />
      </VisitContext.Provider>
    )
    return { title: 'What earned nothing', body }
  },
}
