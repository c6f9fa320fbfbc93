import * as v from 'valibot'
import { findAccountsWith, SEARCHED, SEARCHED_ACCOUNTS } from '../ingest/db/accounts-with.ts'
import { resolveDatabase } from '../platform/db/database.ts'
import { listAccounts } from '../platform/directory/accounts.ts'
import { teamOperation } from '../platform/http/operation.ts'
import { described, listOf } from '../platform/validation/described.ts'
import { member, said } from '../platform/validation/fields.ts'

export const searchAccounts = teamOperation({
  id: 'searchAccounts',
  topic: 'monitoring',
  method: 'GET',
  path: '/search',
  role: 'viewer',
  params: {
    id: member(
      v.string(),
      said('The id, or the name or e-mail address of an affiliate.', 'C-1001'),
    ),
  },
  words: described(() => ({
    description: `Returns the accounts that have a customer, a transaction, an event, an affiliate or a statement with this id, or an affiliate with this name or e-mail address. The first ${SEARCHED_ACCOUNTS} accounts are searched, in the order of their ids.`,
    answer: listOf(
      v.object({
        account: member(v.string(), 'The id of the account.'),
        name: member(v.string(), 'Its name.'),
        found: member(
          v.array(v.picklist(SEARCHED)),
          'What has the id: `customer`, `transaction`, `event`, `affiliate` or `statement`.',
        ),
      }),
    ),
    command: { name: 'search', argument: 'id' },
  })),
  async run({ env }, { id }) {
    const { data } = await listAccounts(env.DB, { number: 1, size: SEARCHED_ACCOUNTS, after: null })
    const byBinding = Map.groupBy(data, ({ binding }) => binding)
    const found = await Promise.all(
      [...byBinding].map(([binding, accounts]) =>
        findAccountsWith(
          resolveDatabase(env, binding),
          accounts.map((one) => one.id),
          id,
        ),
      ),
    )
    const names = new Map(data.map((one) => [one.id, one.name]))
    return {
      data: found
        .flat()
        .toSorted((a, b) => (a.account < b.account ? -1 : 1))
        .map((one) => ({
          account: one.account,
          name: names.get(one.account) ?? one.account,
          found: [...one.found],
        })),
    }
  },
})
