import * as v from 'valibot'
import { withObjectRetry } from '../../platform/auth/object-retry.ts'
import { withinJurisdiction } from '../../platform/auth/placement.ts'
import { propagateSettings } from '../../platform/auth/propagate.ts'
import { accountDatabase, resolveDatabase } from '../../platform/db/database.ts'
import type { Account } from '../../platform/db/schema.ts'
import { writeBatch } from '../../platform/db/statement.ts'
import { makeSteps, type Step, within } from '../../platform/db/steps.ts'
import { findAccount, listAccounts } from '../../platform/directory/accounts.ts'
import { withAudit } from '../../platform/directory/audit.ts'
import { bumpVersion } from '../../platform/directory/credentials.ts'
import { listDefinitions, productFieldOf } from '../../platform/directory/event-definitions.ts'
import { list, operation } from '../../platform/http/operation.ts'
import { invalidQuery } from '../../platform/http/query.ts'
import { notFound } from '../../platform/http/read-fields.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import { id as anyId, member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { quote } from '../../platform/validation/quote.ts'
import * as rows from './sql.ts'
import {
  customerExists,
  type ErasedCustomer,
  erasePersonalData,
  type KeptFields,
  maskNextActivities,
} from './sql.ts'

/** Returns the step of an erasure: it masks the next activities of the customer. */
function erasureStep(env: Env, binding: string, { account, customer_id }: ErasedCustomer): Step {
  const db = accountDatabase(env, { id: account, binding })
  let fields: KeptFields | null = null
  return async () => {
    fields ??= await keptFieldsOf(env, account)
    return maskNextActivities(db, { account, customer_id }, fields)
  }
}

/** Returns the erasures of a database that are not complete: one of each account, of at most 20. */
export async function pendingErasures(env: Env, binding: string): Promise<Step[]> {
  const found = await rows.pendingErasures(resolveDatabase(env, binding), 20)
  return found.map((customer) => erasureStep(env, binding, customer))
}

/** Returns the members with the product line and the status that definitions name. */
async function keptFieldsOf(env: Env, account: string): Promise<KeptFields> {
  const definitions = await listDefinitions(env.DB, account)
  return definitions.flatMap((definition) => {
    const { eventname, status_member } = definition
    const field = productFieldOf(definition)
    return [
      ...(field === null ? [] : [[eventname, field, true] as const]),
      ...(status_member === null ? [] : [[eventname, status_member, false] as const]),
    ]
  })
}

/** Returns whether the customers of an account have activities, which are those of a brand. */
export const isBrand = (vertical: string) => vertical === 'igaming'

/** The steps and the time in which one request masks activities, at most 1000 each; a cron does the rest. */
const STEPS_PER_REQUEST = 10
const ERASURE_MS = 20_000

/** The erasures that one request repeats. */
const ERASURES_PER_PAGE = 500

/** Returns an account that is begun, or the one behind it. */
async function accountAt(db: D1Database, id: string, isBegun: boolean): Promise<Account | null> {
  if (isBegun) return findAccount(db, id)
  const { data } = await listAccounts(db, { number: 1, size: 1, after: [id] })
  return data[0] ?? null
}

/** Repeats the next erasures of one account. Returns the last customer, null if there are no more. */
async function replayPage(env: Env, actor: string, account: Account, after: string | null) {
  const { id, vertical } = account
  const erasures = await withObjectRetry(() =>
    withinJurisdiction(env.ERASURE_JOURNAL, account).getByName(id).after(after, ERASURES_PER_PAGE),
  )
  if (erasures.length > 0) {
    const db = accountDatabase(env, account)
    const details = { customers: erasures.length }
    const entry = { actor, action: 'erasures.replay', account: id, details }
    const scope = { isBrand: isBrand(vertical), isRepeated: true }
    await withAudit(db, entry, erasePersonalData(db, id, erasures, scope))
  }
  const erased = erasures.length
  if (erased === ERASURES_PER_PAGE) return { erased, last: erasures.at(-1)?.customer_id ?? null }
  await writeBatch(env.DB, [bumpVersion(env.DB, id)])
  // The database at the earlier time may have reopened a credential that has ended since.
  await propagateSettings(env, id, 'all')
  return { erased, last: null }
}

const erasure = component('Erasure', () => ({
  customer_id: v.string(),
  erased_at: time,
  complete: member(
    v.boolean(),
    'Whether all stored data is erased. False while activities of the customer remain, which the service erases within minutes.',
  ),
}))

export const eraseCustomer = operation({
  id: 'eraseCustomer',
  shows: 'account',
  topic: 'customers',
  method: 'DELETE',
  path: '/customers/{customer_id}/personal-data',
  role: 'manager',
  params: {
    customer_id: member(v.string(), said('The `customer_id`, as you sent it.', 'C-1001')),
  },
  words: described(() => ({
    description:
      'Erases the personal data of a customer permanently. If it is sent again, it is not stored, and the record has the warning `erased`. Customers of brands also lose the country, additional fields, and `tracking_data` that the service did not issue for the account. Activities of a brand keep ids, times, amounts, KPIs and product lines; if there are many, `complete` is false, and the service erases the others within minutes.',
    answer: erasure,
    command: {
      name: 'customers erase',
      confirm: {
        warning:
          'This erases the personal data of customer {customer_id} of account {account} permanently.',
        name: 'customer_id',
      },
    },
  })),
  async run({ env, actor, account: row, db }, { customer_id }) {
    const { id: account, vertical } = row
    if (!v.is(anyId, customer_id) || !(await customerExists(db, account, customer_id))) {
      throw notFound('customer', customer_id)
    }
    // The journal comes first: an erasure that it holds can be replayed, any other would be lost.
    const now = new Date().toISOString()
    const erased_at = await withObjectRetry(() =>
      withinJurisdiction(env.ERASURE_JOURNAL, row).getByName(account).add(customer_id, now),
    )
    const entry = { actor, action: 'customer.erase', account, details: { customer_id } }
    const scope = { isBrand: isBrand(vertical), isRepeated: false }
    await withAudit(db, entry, erasePersonalData(db, account, [{ customer_id, erased_at }], scope))
    const step = erasureStep(env, row.binding, { account, customer_id })
    const complete = await makeSteps([step], within(ERASURE_MS, STEPS_PER_REQUEST))
    return { customer_id, erased_at, complete }
  },
})

export const listErasures = list({
  id: 'listErasures',
  shows: 'account',
  topic: 'customers',
  path: '/erasures',
  words: described(() => ({
    description: 'Lists the customers whose personal data was erased, with the time.',
    answer: erasure,
    command: { name: 'erasures list' },
  })),
  list: ({ account, db }, _, page) => rows.listErasures(db, account.id, page),
})

export const replayErasures = operation({
  of: 'team',
  id: 'replayErasures',
  shows: 'firm',
  topic: 'customers',
  method: 'POST',
  path: '/erasures/replay',
  role: 'manager',
  params: {
    account: optional(v.string(), said('Repeats only the erasures of this account.', 'demo-forex')),
    cursor: optional(
      v.string(),
      said('The `next` of the previous response, with the same `account`.'),
    ),
  },
  words: described(() => ({
    description:
      'Repeats the erasures after a database was restored, from the journal outside the database. Also sends the restored settings to all live tokens. One request repeats a part of them: send `next` as `cursor` until it is null.',
    answer: v.object({
      erased: count,
      next: nullable(v.string(), 'The `cursor` of the next request. Null at the end.'),
    }),
    command: { name: 'erasures replay' },
  })),
  async run({ env, actor }, { account, cursor = '' }) {
    // The cursor is an account that is done, or one with the last of its customers that is.
    const [id = '', ...customer] = cursor.split('/')
    const after = customer.length > 0 ? customer.join('/') : null
    const found = await (account === undefined
      ? accountAt(env.DB, id, after !== null)
      : findAccount(env.DB, account))
    if (!found && account !== undefined) {
      throw invalidQuery(`There is no account ${quote(account)}.`)
    }
    if (!found) return { erased: 0, next: null }
    const { erased, last } = await replayPage(env, actor, found, after)
    if (last !== null) return { erased, next: `${found.id}/${last}` }
    return { erased, next: account === undefined ? found.id : null }
  },
})

/** The operations on erasures. An erasure removes personal data, and masks it in all later deliveries. */
export const ERASURE_OPERATIONS = [eraseCustomer, listErasures, replayErasures]
