import { createAccount, listAccounts } from '../../accounts/accounts.ts'
import { newAccount } from '../../accounts/fields.ts'
import { listPeriods } from '../../commission/operations/statements.ts'
import { counted } from '../../commission/words/english.ts'
import {
  accountPath,
  type Page,
  startOfToday,
  type Visit,
  withQuery,
} from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import {
  Amounts,
  Badge,
  Data,
  EmptyState,
  NOTHING,
  Pager,
  periodWords,
} from '../../pages/parts/data.tsx'
import { choiceWords } from '../../pages/parts/field-words.ts'
import { draftsByPeriod, openPeriods } from '../../pages/parts/owed.ts'
import { SchemaForm } from '../../pages/parts/schema-fields.tsx'
import type { PeriodSums } from '../../pages/parts/statement-lists.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { moneyOf, sumByCurrency } from '../../platform/money/sums.ts'

type Account = AnswerOf<typeof listAccounts>['data'][number]

/** An account with what it owes. */
interface AccountState extends Account {
  readonly sums: PeriodSums
}

/** The number of accounts of a page: each is read by itself. */
const LISTED_ACCOUNTS = 20

const readState = async ({ api }: Visit, account: Account): Promise<AccountState> => ({
  ...account,
  sums: await api.call(listPeriods, { account: account.account }),
})

/** Returns what is to be approved of an account, and where; null if nothing is. */
function draftsOf({ now }: Visit, { account, sums, ...dated }: AccountState) {
  // Drafts that pay nothing are approved with those that do.
  const ended = draftsByPeriod(sums, startOfToday(dated, now)).filter(({ paying }) => paying > 0)
  const drafts = ended.reduce((sum, one) => sum + one.drafts, 0)
  const query = { period: ended.at(-1)?.period.id, status: 'draft' }
  const to = withQuery(accountPath(account, 'statements'), query)
  return drafts > 0 && <a href={to}>{counted(drafts, 'statement')} to approve</a>
}

// The others are set afterwards, on the page of the settings.
const { account, name, vertical, mode, time_zone, book_zone, jurisdiction } = newAccount
const created = { account, name, vertical, mode, time_zone, book_zone, jurisdiction }

/** The list of accounts: the home page. */
export const accountsPage: Page = {
  path: '',
  shows: 'public',
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
            {states.map((state) => (
              <li>
                <div class="name">
                  <a href={accountPath(state.account)}>
                    <Data text={state.name} />
                  </a>{' '}
                  <small>
                    <Data text={state.account} /> · {choiceWords(state.vertical)}
                  </small>
                </div>
                {openPeriods(state.sums, startOfToday(state, visit.now)).map(({ period, owed }) => (
                  <div>
                    <small>Owed for {periodWords(period.id)}</small>
                    {owed.size === 0 ? NOTHING : <Amounts amounts={moneyOf(owed)} />}
                  </div>
                ))}
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
                  {draftsOf(visit, state) || <span class="quiet">Nothing to approve</span>}
                  {state.disabled && <Badge tone="bad">Disabled</Badge>}
                </div>
              </li>
            ))}
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
