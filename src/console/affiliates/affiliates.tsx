import type { Child } from 'hono/jsx'
import { listAffiliateFigures } from '../../affiliates/operations/affiliate-figures.ts'
import { listUnconfiguredAffiliates } from '../../affiliates/operations/affiliates.ts'
import { listPlans } from '../../commission/operations/plans.ts'
import type { Page } from '../../pages/base/page.ts'
import {
  Amount,
  Amounts,
  Badge,
  Data,
  dayWords,
  EmptyState,
  NOTHING,
  Pager,
} from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { Filters, type Input, type Option } from '../../pages/parts/forms.tsx'
import { AffiliateName, NameAndId, PlanLink } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { DAY_MS } from '../../platform/durations.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { periodOf } from '../../platform/money/calendar.ts'
import { decimal, isZero } from '../../platform/money/decimal.ts'
import { moneyOf, sumByCurrency } from '../../platform/money/sums.ts'
import { canManage } from '../books/sums.ts'
import { AddForm, addAffiliate } from './affiliate-forms.tsx'
import { UploadForm, uploadAffiliates } from './affiliate-upload.tsx'

/** The affiliates of one page of the list. */
const LISTED = 100

/** An affiliate as `GET …/affiliates/figures` shows it. */
type AffiliateFigures = AnswerOf<typeof listAffiliateFigures>['data'][number]

/** Renders the earnings of the current month and week. */
export const EarnedCell = ({
  earned,
  now,
}: Pick<AffiliateFigures, 'earned'> & { now: number }): Child => {
  const current = (['month', 'week'] as const).map(
    (kind) => periodOf(Math.floor(now / DAY_MS), kind).id,
  )
  const shown = moneyOf(
    sumByCurrency(
      earned.flatMap(({ period, total, currency }) =>
        current.includes(period) ? [{ amount: total, currency }] : [],
      ),
    ),
  )
  return shown.length === 0 ? NOTHING : <Amounts amounts={shown} />
}

/** Renders balances, each with what is payable of it. */
export const BalanceCell = ({ balances }: Pick<AffiliateFigures, 'balances'>): Child => {
  if (balances.length === 0) return NOTHING
  return balances.map(({ currency, balance, due }) => (
    <div>
      <Amount value={balance} currency={currency} />
      {!isZero(decimal(due)) && <small> payable {due !== balance && <Amount value={due} />}</small>}
    </div>
  ))
}

/** Renders the plan in force, and the one that begins later. */
export const PlanCell = ({
  row: { plan, next_plan },
}: {
  row: Pick<AffiliateFigures, 'plan' | 'next_plan'>
}) => (
  <>
    {plan ? <PlanLink id={plan.plan} /> : <Badge tone="warn">No plan</Badge>}{' '}
    {plan?.for_all && <small>for all</small>}
    {next_plan && (
      <small>
        from {dayWords(next_plan.from)}: <PlanLink id={next_plan.plan} />
        {next_plan.for_all && ', for all'}
      </small>
    )}
  </>
)

/** Renders the affiliates that customers name and that are not configured, each with a link to the form that adds it. */
const Unconfigured = ({
  found: { data },
}: {
  found: AnswerOf<typeof listUnconfiguredAffiliates>
}) =>
  data.length === 0 ? null : (
    <Table
      caption="Not configured: affiliates that the latest customers name. They earn nothing."
      rows={data}
      columns={{
        Affiliate: ({ affiliate_id }) => (
          <AccountLink at={['affiliates']} query={{ add: affiliate_id }}>
            <Data text={affiliate_id} />
          </AccountLink>
        ),
        Customers: 'customers',
      }}
    />
  )

const ONLY: readonly Option[] = [
  ['', 'All'],
  ['without_plan', 'Without a plan'],
]

const FILTERS: readonly Input[] = [
  { name: 'search', label: 'Id, name or address contains' },
  { name: 'only', label: 'Show', options: ONLY },
]

/** The affiliates of an account. */
export const affiliatesPage: Page = {
  path: '/accounts/:account/affiliates',
  shows: 'affiliate',
  section: 'Affiliates',
  query: ['add', 'cursor', 'search', 'only'],
  changes: { add: addAffiliate, upload: uploadAffiliates },
  async render(visit) {
    const { api, account, query } = visit
    const { search, only, cursor } = query
    const without_plan = only === 'without_plan'
    const [list, unconfigured, plans] = await Promise.all([
      api.call(listAffiliateFigures, { account, search, without_plan, cursor, per_page: LISTED }),
      api.may(listUnconfiguredAffiliates)
        ? api.call(listUnconfiguredAffiliates, { account })
        : { data: [] },
      api.call(listPlans, { account }),
    ])
    const body = (
      <>
        <AddForm plans={plans.data} id={query.add} />
        {canManage(visit) && <UploadForm />}
        <Unconfigured found={unconfigured} />
        <Filters fields={FILTERS} />
        <Table
          caption="Affiliates"
          rows={list.data}
          columns={{
            Affiliate: ({ affiliate_id, parent, status, ...profile }) => (
              <>
                <AccountLink at={['affiliates', affiliate_id]}>
                  <NameAndId name={profile.display_name} id={affiliate_id} />
                </AccountLink>
                {status === 'suspended' && <Badge tone="bad">suspended</Badge>}
                {profile.contact_email !== null && (
                  <small>
                    <Data text={profile.contact_email} />
                  </small>
                )}
                {parent !== null && (
                  <small>
                    below <AffiliateName id={parent} />
                  </small>
                )}
              </>
            ),
            Plan: (row) => <PlanCell row={row} />,
            Balance: { number: (row) => <BalanceCell {...row} /> },
            'Earned this period': { number: (row) => <EarnedCell {...row} now={visit.today} /> },
          }}
          empty={
            <EmptyState title="No affiliate matches.">
              <p>Customers of affiliates who are not configured earn nothing. Add the first one.</p>
            </EmptyState>
          }
        />
        <Pager meta={list.meta} />
      </>
    )
    return { title: 'Affiliates', body }
  },
}
