import type { Child } from 'hono/jsx'
import { changeAccount } from '../../accounts/accounts.ts'
import { ENTRY_WORDS } from '../../books/entry-words.ts'
import { listBalances, listLedger } from '../../books/operations/ledger.ts'
import { dayBefore, type Page, useVisit, type Visit, withQuery } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { pick } from '../../pages/form.ts'
import {
  Data,
  dayWords,
  EmptyState,
  type PageMeta,
  Pager,
  periodWords,
} from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { ChangeForm, Filters, FoldedForm, type Input } from '../../pages/parts/forms.tsx'
import { PlanName } from '../../pages/parts/names.tsx'
import { Table } from '../../pages/parts/table.tsx'
import {
  JOURNAL_ACCOUNTS,
  JOURNAL_NAMES,
  journalAccountsOf,
  missingAccounts,
} from '../../payouts/journal-accounts.ts'
import { listJournal } from '../../payouts/operations/journal.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { AnyOperation } from '../../platform/http/operation.ts'
import { dayText, nextPeriod, periodOf } from '../../platform/money/calendar.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { PayoutTabs } from './payout-tabs.tsx'

// What finance reads: what was owed on a day, the journal, and the ledger of all affiliates.

/** The field that narrows a list to one affiliate. */
export const AFFILIATE: Input = { name: 'affiliate_id', label: 'Affiliate' }

const BY: Input = {
  name: 'by',
  label: 'Count by',
  options: [
    ['value', 'Period and day of payment'],
    ['entry', 'Day of booking'],
  ],
}

/** Says what the choice means. */
const AboutBy = () => (
  <p class="note">
    By period and day of payment, what was earned counts on the last day of its period, and a
    payment on the day on which the money moved. By the day of booking, a day that is over never
    changes.
  </p>
)

/** Renders a list with its filters, and what leads to its CSV. */
export const FinanceList = (
  props: {
    here: 'Paid' | 'Balances' | 'Journal' | 'Ledger'
    fields: readonly Input[]
    meta: PageMeta
    children?: Child
  },
  visit = useVisit(),
) => (
  <>
    <PayoutTabs here={props.here} />
    <Filters fields={props.fields} />
    {props.children}
    {props.meta.total > 0 && (
      <>
        <Pager meta={props.meta} />
        <p class="quick">
          <a href={withQuery(visit.path, { ...visit.query, cursor: undefined, format: 'csv' })}>
            Download all as CSV
          </a>
        </p>
      </>
    )}
  </>
)

/** Returns what the API is asked for: the account and the query, of which `days` are chosen unless it has them. */
export const askedFor = (
  { account, query: { format: _, ...query } }: Visit,
  days: object = {},
) => ({
  account,
  ...days,
  ...query,
})

/** Returns what responds with the CSV of all that a page lists. */
export const csvOf =
  (
    of: AnyOperation,
    inputOf: (visit: Visit) => { readonly account: string },
  ): NonNullable<Page['file']> =>
  (visit) =>
    visit.query.format === 'csv'
      ? visit.api.file(of, { ...inputOf(visit), per_page: ROWS_AT_ONCE }, 'text/csv')
      : null

/** The rows that are read at once for a CSV. */
const ROWS_AT_ONCE = 500

const onDay = (visit: Visit) =>
  askedFor(visit, { on: dayBefore(visit.today, 0) }) as { account: string; on: string }

/** What was owed at the end of a day. */
export const balancesPage: Page = {
  path: '/accounts/:account/balances',
  shows: 'account',
  section: 'Payouts',
  query: ['on', 'by', 'cursor', 'format'],
  file: csvOf(listBalances, onDay),
  async render(visit) {
    const input = onDay(visit)
    const { data, sums, meta } = await visit.api.call(listBalances, input)
    const body = (
      <FinanceList
        here="Balances"
        meta={meta}
        fields={[{ name: 'on', label: 'Day', type: 'date', value: input.on }, BY]}
      >
        <AboutBy />
        {sums.length > 0 && (
          <Table
            isNarrow
            caption={`Owed to all affiliates at the end of ${dayWords(input.on)}`}
            rows={sums}
            columns={{ Currency: 'currency', Owed: 'balance' }}
          />
        )}
        <Table
          caption="Owed to each affiliate. A negative balance is carried to later periods."
          rows={data}
          columns={{ Affiliate: 'affiliate_id', Owed: 'balance' }}
          empty={
            <EmptyState title={`Nothing was booked until ${dayWords(input.on)}.`}>
              <p>Balances begin with the first statement that is approved. Choose a later day.</p>
            </EmptyState>
          }
        />
      </FinanceList>
    )
    return { title: 'Balances', body }
  },
}

/** Returns the days of the month before, unless the query has others. */
function inMonth(visit: Visit) {
  const { first, last } = nextPeriod(periodOf(visit.today / DAY_MS, 'month'), -1)
  const days = { from: dayText(first), to: dayText(last) }
  return askedFor(visit, days) as { account: string; from: string; to: string }
}

/** The journal of some days, and the accounts between which it books. */
export const journalPage: Page = {
  path: '/accounts/:account/journal',
  shows: 'account',
  section: 'Payouts',
  query: ['from', 'to', 'by', 'cursor', 'format'],
  changes: {
    accounts: calling(changeAccount, 'The accounts are saved.', (values) => ({
      journal_accounts: pick(values, ...JOURNAL_NAMES),
    })),
  },
  file: csvOf(listJournal, inMonth),
  async render(visit) {
    const { api, account } = visit
    const stored = await api.account(account)
    const set = stored ? journalAccountsOf(stored) : {}
    const form = {
      change: 'accounts',
      at: '/journal_accounts',
      submit: 'Save the accounts',
      fields: JOURNAL_NAMES.map((name) => {
        const [label, hint] = JOURNAL_ACCOUNTS[name]
        return { name, label, hint, value: set[name], required: true }
      }),
    }
    if (missingAccounts(set).length > 0) {
      const missing = missingAccounts(set).map((name) => JOURNAL_ACCOUNTS[name][0])
      const body = (
        <>
          <PayoutTabs here="Journal" />
          <EmptyState title="The journal needs the accounts of your bookkeeping.">
            <p>
              Missing: {missing.join(', ')}. Write the numbers or names that your accountant uses.
            </p>
          </EmptyState>
          <ChangeForm {...form} />
        </>
      )
      return { title: 'Journal', body }
    }
    const input = inMonth(visit)
    const { data, meta } = await api.call(listJournal, input)
    const body = (
      <FinanceList
        here="Journal"
        meta={meta}
        fields={[
          { name: 'from', type: 'date', value: input.from },
          { name: 'to', type: 'date', value: input.to },
          BY,
        ]}
      >
        <AboutBy />
        <Table
          caption={`Booked from ${dayWords(input.from)} to ${dayWords(input.to)}. The debits and credits of each entry are equal.`}
          rows={data}
          columns={{
            Day: 'day',
            Account: ({ account: number }) => <Data text={number} />,
            Debit: 'debit',
            Credit: 'credit',
            Affiliate: 'affiliate_id',
            What: {
              prose: ({ text, reference }) => (
                <>
                  <Data text={text} />, <Data text={reference} />
                </>
              ),
            },
          }}
          empty={<EmptyState title="Nothing was booked on these days." />}
        />
        <FoldedForm {...form} title="Accounts of the journal" />
      </FinanceList>
    )
    return { title: 'Journal', body }
  },
}

/** Every entry of the ledger of all affiliates. */
export const ledgerPage: Page = {
  path: '/accounts/:account/ledger',
  shows: 'affiliate',
  section: 'Payouts',
  query: ['affiliate_id', 'from', 'to', 'cursor', 'format'],
  file: csvOf(listLedger, askedFor),
  async render(visit) {
    const { data, meta } = await visit.api.call(listLedger, { order: 'latest', ...askedFor(visit) })
    const body = (
      <FinanceList
        here="Ledger"
        meta={meta}
        fields={[
          AFFILIATE,
          { name: 'from', label: 'Booked from', type: 'date' },
          { name: 'to', label: 'Booked until', type: 'date' },
        ]}
      >
        <Table
          caption="What was booked, the latest entry first, each with what its affiliate was owed after it."
          rows={data}
          columns={{
            Booked: 'entered_on',
            'Belongs to': 'value_on',
            Affiliate: 'affiliate_id',
            What: {
              prose: ({ kind, statement, period, plan, reference }) => (
                <>
                  {ENTRY_WORDS[kind]}{' '}
                  <AccountLink at={['statements', statement]}>{periodWords(period)}</AccountLink> by
                  the plan <PlanName id={plan} />
                  {reference !== null && (
                    <>
                      , <Data text={reference} />
                    </>
                  )}
                </>
              ),
            },
            Amount: 'amount',
            Balance: 'balance',
            By: ({ actor }) => <Actor actor={actor} />,
          }}
          empty={
            <EmptyState title="Nothing was booked.">
              <p>Approving a statement books what it earned.</p>
            </EmptyState>
          }
        />
      </FinanceList>
    )
    return { title: 'Ledger', body }
  },
}
