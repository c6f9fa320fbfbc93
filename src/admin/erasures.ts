import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { withObjectRetry } from '../auth/object-retry.ts'
import { resolveDatabase } from '../db/database.ts'
import { accountPages, findAccount } from '../db/directory/accounts.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import {
  customerExists,
  type Erasure,
  erasePersonalData,
  listErasures,
} from '../db/records/erasure.ts'
import { withD1Retry } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { checkPercentEncoding, invalidQuery, readQuery } from '../http/query.ts'
import { id as anyId } from '../validation/fields.ts'
import { findRouteAccount } from './accounts.ts'
import { notFound } from './body.ts'
import { respondWithList } from './list-route.ts'
import { propagateSettings } from './propagate.ts'

/** Journal entries and accounts per step of a replay. */
const STEP = 500

const journalOf = (env: Env, account: string) => env.ERASURE_JOURNAL.getByName(account)

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
 * `POST replay`, to be called after a database was restored to an earlier time: repeats every erasure of
 * the journal, and propagates the restored settings to all tokens. `account` limits it to one account.
 */
export const erasureReplay = new Hono<AppEnv>().post('/replay', async (c) => {
  const { account } = readQuery(c.req.url, 'account')
  const { actor } = c.var
  let erased = 0
  const replay = async (account: Account) => {
    erased += await replayErasures(c.env, actor, account)
    await withD1Retry(() => bumpVersion(c.env.DB, account.id).run())
    // The database at the earlier time may have reopened a credential that has ended since.
    await propagateSettings(c.env, account.id, 'all')
  }
  if (account !== undefined) {
    const row = await findAccount(c.env.DB, account)
    if (!row) throw invalidQuery(`account: there is no account ${JSON.stringify(account)}.`)
    await replay(row)
  } else {
    for await (const page of accountPages(c.env.DB, STEP)) for (const row of page) await replay(row)
  }
  return c.json({ erased })
})

/** Erases the personal data of one customer, or throws `not_found`. */
async function eraseCustomer(c: Context<AppEnv>, customer_id: string): Promise<Response> {
  const { id: account, binding } = await findRouteAccount(c)
  const db = resolveDatabase(c.env, binding)
  if (!v.is(anyId, customer_id) || !(await customerExists(db, account, customer_id))) {
    throw notFound('customer', customer_id)
  }
  // The journal comes first: an erasure that it holds can be replayed, any other would be lost.
  const now = new Date().toISOString()
  const erased_at = await withObjectRetry(() => journalOf(c.env, account).add(customer_id, now))
  const entry = { actor: c.var.actor, action: 'customer.erase', account, details: { customer_id } }
  await withAudit(db, entry, erasePersonalData(db, account, [{ customer_id, erased_at }]))
  return c.json({ customer_id, erased_at })
}

/** Repeats the erasures of one account; returns their number. */
async function replayErasures(env: Env, actor: string, { id, binding }: Account): Promise<number> {
  const db = resolveDatabase(env, binding)
  let erased = 0
  let last: string | null = null
  for (;;) {
    const erasures = await readJournal(env, id, last)
    if (erasures.length > 0) {
      const details = { customers: erasures.length }
      const entry = { actor, action: 'erasures.replay', account: id, details }
      await withAudit(db, entry, erasePersonalData(db, id, erasures))
    }
    erased += erasures.length
    if (erasures.length < STEP) return erased
    last = erasures.at(-1)?.customer_id ?? null
  }
}

const readJournal = (env: Env, account: string, after: string | null): Promise<Erasure[]> =>
  withObjectRetry(() => journalOf(env, account).after(after, STEP))
