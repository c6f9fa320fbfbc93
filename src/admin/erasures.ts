import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { withinJurisdiction } from '../auth/placement.ts'
import { resolveDatabase } from '../db/database.ts'
import { findAccount, listAccounts } from '../db/directory/accounts.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import { DEFAULT_PRODUCT_FIELD, listDefinitions } from '../db/directory/event-definitions.ts'
import {
  customerExists,
  type ErasedCustomer,
  erasePersonalData,
  type KeptFields,
  listErasures,
  maskNextActivities,
  pendingErasures,
} from '../db/records/erasure.ts'
import { withD1Retry } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { checkPercentEncoding, invalidQuery, readQuery } from '../http/query.ts'
import { notFound } from '../http/read-fields.ts'
import { signText, verifyText } from '../http/sign-text.ts'
import { id as anyId } from '../validation/fields.ts'
import { quote } from '../validation/quote.ts'
import { findRouteAccount } from './accounts.ts'
import { dropOldCopy } from './drop-old-copy.ts'
import { queueErasedExport } from './exports.ts'
import { respondWithList } from './list-route.ts'
import { propagateSettings } from './propagate.ts'

/** The accounts and the steps of one run of the cron job for one database; the next run goes on. */
const ACCOUNTS_PER_RUN = 20
const STEPS_PER_RUN = 100

/** Masks activities of an erased customer in at most `steps` steps; returns whether all are done. */
async function maskActivities(
  env: Env,
  db: D1Database,
  customer: ErasedCustomer,
  steps: number,
): Promise<boolean> {
  const fields = await keptFieldsOf(env, customer.account)
  for (let step = 0; step < steps; step++) {
    if (await maskNextActivities(db, customer, fields)) return true
  }
  return false
}

/**
 * Goes on with the erasures of one database that are not complete. Each account gets the same number
 * of steps, so that a large one does not hold up the others. Returns whether all are complete.
 */
export async function continueErasures(env: Env, binding: string): Promise<boolean> {
  const db = resolveDatabase(env, binding)
  let steps = STEPS_PER_RUN
  let pending = await pendingErasures(db, ACCOUNTS_PER_RUN)
  const fields = new Map<string, KeptFields>()
  while (pending.length > 0 && steps > 0) {
    for (const customer of pending.slice(0, steps)) {
      const { account } = customer
      const known = fields.get(account) ?? (await keptFieldsOf(env, account))
      fields.set(account, known)
      await maskNextActivities(db, customer, known)
    }
    steps -= pending.length
    pending = await pendingErasures(db, ACCOUNTS_PER_RUN)
  }
  return pending.length === 0
}

/** Returns the members with the product line and the status of each defined event. */
async function keptFieldsOf(env: Env, account: string): Promise<KeptFields> {
  const definitions = await listDefinitions(env.DB, account)
  return definitions.flatMap(({ eventname, product, status_member }) =>
    [product?.field ?? DEFAULT_PRODUCT_FIELD, status_member].flatMap((field) =>
      field === null ? [] : [[eventname, field] as const],
    ),
  )
}

/** Returns whether the customers of an account have activities, which are those of a brand. */
export const isBrand = (vertical: string) => vertical === 'igaming'

/** The steps in which one request masks activities, at most 1000 each; a cron job does the rest. */
const STEPS_PER_REQUEST = 10

/** Routes for erasures. An erasure removes personal data, and masks it in all later deliveries. */
export const erasures = new Hono<AppEnv>()
  .delete('/customers/:customer_id/personal-data', (c) => {
    readQuery(c.req.url)
    checkPercentEncoding(new URL(c.req.url).pathname)
    return eraseCustomer(c, c.req.param('customer_id'))
  })

  // URL parsers drop the path segments `.` and `..`, so such an id can only be sent in the query.
  .delete('/customers/personal-data', (c) => {
    const { customer_id } = readQuery(c.req.url, 'customer_id')
    if (customer_id === undefined) throw invalidQuery('The parameter `customer_id` is missing.')
    return eraseCustomer(c, customer_id)
  })

  .get('/erasures', (c) =>
    respondWithList(c, 'erasures', ({ id }, page, db) => listErasures(db, id, page)),
  )

/**
 * Erases the personal data of one customer, or throws `not_found`. `complete` is false if stored
 * activities remain, which a cron job then masks.
 */
async function eraseCustomer(c: Context<AppEnv>, customer_id: string): Promise<Response> {
  const row = await findRouteAccount(c)
  const { id: account, binding, vertical } = row
  const db = resolveDatabase(c.env, binding)
  if (!v.is(anyId, customer_id) || !(await customerExists(db, account, customer_id))) {
    throw notFound('customer', customer_id)
  }
  // The journal comes first: an erasure that it holds can be replayed, any other would be lost.
  const now = new Date().toISOString()
  const erased_at = await withObjectRetry(() =>
    withinJurisdiction(c.env.ERASURE_JOURNAL, row).getByName(account).add(customer_id, now),
  )
  const entry = { actor: c.var.actor, action: 'customer.erase', account, details: { customer_id } }
  const scope = { isBrand: isBrand(vertical), isRepeated: false }
  await withAudit(db, entry, erasePersonalData(db, account, [{ customer_id, erased_at }], scope))
  await dropOldCopy(c.env, account)
  const complete = await maskActivities(c.env, db, { account, customer_id }, STEPS_PER_REQUEST)
  await queueErasedExport(c.env, row)
  return c.json({ customer_id, erased_at, complete })
}

/** The maximum number of journal pages that one request reads. Each account takes at least one page. */
const PAGES_PER_REQUEST = 10
const ERASURES_PER_PAGE = 500

/** How far a replay is: the last account that is done, and the one that is begun. */
interface Position {
  done: string | null
  begun: { account: string; lastCustomer: string } | null
}

const START: Position = { done: null, begun: null }

/**
 * `POST replay`, to be called after a database was restored to an earlier time: repeats the erasures of
 * the journal, and propagates the restored settings to all tokens. One request does a bounded part;
 * `next` is the `cursor` of the following one, or null at the end. `account` limits it to one account.
 */
export const erasureReplay = new Hono<AppEnv>().post('/replay', async (c) => {
  const { account, cursor } = readQuery(c.req.url, 'account', 'cursor')
  const only = account === undefined ? null : await findAccount(c.env.DB, account)
  if (account !== undefined && !only) throw invalidQuery(`There is no account ${quote(account)}.`)
  const context = JSON.stringify(['erasures/replay', account ?? null])
  const from = cursor === undefined ? START : await readCursor(c.env, context, cursor)
  const { erased, position } = await replay(c.env, c.var.actor, only, from)
  const next = position && (await signText(c.env, context, JSON.stringify(position)))
  return c.json({ erased, next })
})

/** @throws ApiError `invalid_query` */
async function readCursor(env: Env, context: string, cursor: string): Promise<Position> {
  const text = await verifyText(env, context, cursor)
  if (text !== null) return JSON.parse(text)
  throw invalidQuery('`cursor` was not issued by a replay with this query.')
}

/** Replays from a position on. Returns the position of the next request, null at the end. */
async function replay(env: Env, actor: string, only: Account | null, from: Position) {
  const accounts = await nextAccounts(env.DB, only, from)
  let position = from
  let erased = 0
  let pages = 0
  for (const account of accounts.data) {
    const { begun } = position
    let lastCustomer = begun?.account === account.id ? begun.lastCustomer : null
    do {
      if (pages === PAGES_PER_REQUEST) return { erased, position }
      pages += 1
      const page = await replayPage(env, actor, account, lastCustomer)
      erased += page.erased
      lastCustomer = page.last
      if (lastCustomer !== null)
        position = { ...position, begun: { account: account.id, lastCustomer } }
    } while (lastCustomer !== null)
    await withD1Retry(() => bumpVersion(env.DB, account.id).run())
    // The database at the earlier time may have reopened a credential that has ended since.
    await propagateSettings(env, account.id, 'all')
    position = { done: account.id, begun: null }
  }
  return { erased, position: accounts.last === null ? null : position }
}

/** Returns the next accounts after a position, or only one account. */
async function nextAccounts(db: D1Database, only: Account | null, { done }: Position) {
  if (only) return { data: [only], last: null }
  const after = done === null ? null : [done]
  return listAccounts(db, { number: 1, size: PAGES_PER_REQUEST, after })
}

/** Repeats the next erasures of one account. Returns the last customer, null if there are no more. */
async function replayPage(env: Env, actor: string, account: Account, after: string | null) {
  const { id, binding, vertical } = account
  const erasures = await withObjectRetry(() =>
    withinJurisdiction(env.ERASURE_JOURNAL, account).getByName(id).after(after, ERASURES_PER_PAGE),
  )
  if (erasures.length > 0) {
    const db = resolveDatabase(env, binding)
    const details = { customers: erasures.length }
    const entry = { actor, action: 'erasures.replay', account: id, details }
    const scope = { isBrand: isBrand(vertical), isRepeated: true }
    await withAudit(db, entry, erasePersonalData(db, id, erasures, scope))
    await dropOldCopy(env, id)
  }
  const isLast = erasures.length < ERASURES_PER_PAGE
  return { erased: erasures.length, last: isLast ? null : (erasures.at(-1)?.customer_id ?? null) }
}
