import { createAccount, listAccounts } from '../../accounts/accounts.ts'
import { newAccount } from '../../accounts/fields.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import { getFeed } from '../../ingest/operations/feeds.ts'
import { calling } from '../../pages/calling.ts'
import { accountPath, type Page, startOfToday, type Visit, withQuery } from '../../pages/page.ts'
import {
  Amounts,
  Data,
  EmptyState,
  Name,
  NOTHING,
  Pager,
  periodWords,
} from '../../pages/parts/data.tsx'
import { refusedPath } from '../../pages/parts/deliveries.tsx'
import { draftsByPeriod, moneyOf, openPeriods, sumByCurrency } from '../../pages/parts/owed.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import type { PeriodSums } from '../../pages/parts/statement-lists.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { agoOf, type Feed } from '../records/feeds.tsx'

type Account = AnswerOf<typeof listAccounts>['data'][number]

/** An account with what it owes and how its data arrives. */
interface AccountState extends Account {
  readonly feeds: readonly Feed[]
  readonly sums: PeriodSums
}

/** The number of accounts of a page: each is read by itself. */
const LISTED_ACCOUNTS = 20

async function readState({ api }: Visit, account: Account): Promise<AccountState> {
  const [{ data: feeds }, sums] = await Promise.all([
    api.call(getFeed, { account: account.account }),
    api.call(listPeriods, { account: account.account }),
  ])
  return { ...account, feeds, sums }
}

/** Returns how many seconds ago the last delivery arrived; null if there was none. */
function lagOf(feeds: readonly Feed[]): number | null {
  const lags = feeds.flatMap(({ lag_seconds: lag }) => (lag === null ? [] : [lag]))
  return lags.length === 0 ? null : Math.min(...lags)
}

/** Returns what needs attention of an account, and where it is resolved. */
function needsOf(visit: Visit, state: AccountState) {
  const { account, disabled, feeds, sums } = state
  // Drafts that pay nothing are approved with those that do.
  const ended = draftsByPeriod(sums, startOfToday(state, visit.now)).filter(
    ({ paying }) => paying > 0,
  )
  const drafts = ended.reduce((sum, one) => sum + one.drafts, 0)
  const refused = feeds.reduce((sum, feed) => sum + feed.refused_last_day, 0)
  const isLate = feeds.some(({ yesterday }) => yesterday === 'missing')
  const draftsOf = { period: ended.at(-1)?.period.id, status: 'draft' }
  return [
    drafts > 0 && {
      text: `${counted(drafts, 'statement')} to approve`,
      to: withQuery(accountPath(account, 'statements'), draftsOf),
    },
    refused > 0 && {
      text: `${counted(refused, 'record')} refused`,
      to: refusedPath({ account, now: visit.now }, [1, 0]),
    },
    isLate && { text: 'Activity of yesterday is missing', to: `${accountPath(account)}#feeds` },
    disabled && { text: 'Disabled', to: accountPath(account, 'account') },
  ].filter((one) => one !== false)
}

// The others are set afterwards, on the page of the settings.
const { account, name, vertical, mode, time_zone, book_zone, jurisdiction } = newAccount
const created = { account, name, vertical, mode, time_zone, book_zone, jurisdiction }

/** The list of accounts: the home page. */
export const accountsPage: Page = {
  path: '',
  query: ['cursor'],
  changes: {
    create: {
      ...calling(createAccount, 'The account was created. Next, issue its credentials.'),
      next: (answer) => accountPath((answer as Account).account, 'credentials'),
    },
  },
  async render(visit) {
    const page = { cursor: visit.query.cursor, per_page: LISTED_ACCOUNTS }
    const { data, meta } = await visit.api.call(listAccounts, page)
    const states = await Promise.all(data.map((account) => readState(visit, account)))
    const body = (
      <>
        {states.length === 0 ? (
          <EmptyState title="There are no accounts yet.">
            <p>Create the first one below.</p>
          </EmptyState>
        ) : (
          <ul class="account-list">
            {states.map((state) => {
              const lag = lagOf(state.feeds)
              const needs = needsOf(visit, state)
              return (
                <li>
                  <div class="name">
                    <a href={accountPath(state.account)}>
                      <Name text={state.name} />
                    </a>{' '}
                    <small>
                      <Data text={state.account} /> · {state.vertical}
                    </small>
                  </div>
                  {openPeriods(state.sums, startOfToday(state, visit.now)).map(
                    ({ period, owed }) => (
                      <div>
                        <small>Owed for {periodWords(period.id)}</small>
                        {owed.size === 0 ? NOTHING : <Amounts amounts={moneyOf(owed)} />}
                      </div>
                    ),
                  )}
                  <div>
                    <small>Payable now</small>
                    {state.sums.due.length === 0 ? (
                      NOTHING
                    ) : (
                      <Amounts amounts={moneyOf(sumByCurrency(state.sums.due))} />
                    )}
                  </div>
                  <div>
                    <small>Needs attention</small>
                    {needs.length === 0 ? (
                      <span class="quiet">Nothing</span>
                    ) : (
                      needs.map(({ text, to }) => (
                        <span class="line">
                          <a href={to}>{text}</a>
                        </span>
                      ))
                    )}
                  </div>
                  <div>
                    <small>Last delivery</small>
                    {lag === null ? <span class="quiet">never</span> : agoOf(lag)}
                  </div>
                </li>
              )
            })}
          </ul>
        )}
        <Pager meta={meta} />
        <h2>Create an account</h2>
        <SchemaForm change="create" submit="Create the account" schemas={created} />
      </>
    )
    return { title: 'Accounts', body }
  },
}
