import { Hono } from 'hono'
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
import { invalidQuery, readQuery } from '../http/query.ts'
import { id as anyId } from '../validation/fields.ts'
import { findRouteAccount } from './accounts.ts'
import { notFound } from './body.ts'
import { respondWithList } from './list-route.ts'
import { propagateSettings } from './propagate.ts'

const STEP = 500

const journalOf = (env: Env, account: string) => env.ERASURE_JOURNAL.getByName(account)

/** Erases customers of an account: nothing of theirs that is personal is kept, now or later. */
export const erasures = new Hono<AppEnv>()
  .delete('/customers/:customer_id/personal-data', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await findRouteAccount(c)
    const customer_id = c.req.param('customer_id')
    const db = resolveDatabase(c.env, binding)
    if (!v.is(anyId, customer_id) || !(await customerExists(db, account, customer_id))) {
      throw notFound('customer', customer_id)
    }
    // The journal comes first: what it knows can be done again, what it does not know is lost.
    const now = new Date().toISOString()
    const erased_at = await withObjectRetry(() => journalOf(c.env, account).add(customer_id, now))
    const act = { actor: c.var.actor, action: 'customer.erase', account, details: { customer_id } }
    await withAudit(db, act, erasePersonalData(db, account, [{ customer_id, erased_at }]))
    return c.json({ customer_id, erased_at })
  })

  .get('/erasures', (c) =>
    respondWithList(c, 'erasures', ({ id }, page, db) => listErasures(db, id, page)),
  )

/**
 * One command after a database was restored to an earlier time: erases again all that was ever
 * erased, and tells all live tokens what the database says now. `account` narrows it to one.
 */
export const erasureReplay = new Hono<AppEnv>().post('/replay', async (c) => {
  const { account } = readQuery(c.req.url, 'account')
  const { actor } = c.var
  let erased = 0
  const again = async (one: Account) => {
    erased += await replayOne(c.env, actor, one)
    await withD1Retry(() => bumpVersion(c.env.DB, one.id).run())
    // Before what was kept was put back, a Brand Token that ended long ago may have been opened again.
    await propagateSettings(c.env, one.id, 0)
  }
  if (account !== undefined) {
    const found = await findAccount(c.env.DB, account)
    if (!found) throw invalidQuery('account names none that there is.')
    await again(found)
  } else {
    for await (const page of accountPages(c.env.DB, STEP)) for (const one of page) await again(one)
  }
  return c.json({ erased })
})

async function replayOne(env: Env, actor: string, { id, binding }: Account): Promise<number> {
  const db = resolveDatabase(env, binding)
  let erased = 0
  let last: string | null = null
  for (;;) {
    const found = await readJournal(env, id, last)
    if (found.length > 0) {
      const details = { customers: found.length }
      const act = { actor, action: 'erasures.replay', account: id, details }
      await withAudit(db, act, erasePersonalData(db, id, found))
    }
    erased += found.length
    if (found.length < STEP) return erased
    last = found.at(-1)!.customer_id
  }
}

const readJournal = (env: Env, account: string, after: string | null): Promise<Erasure[]> =>
  withObjectRetry(() => journalOf(env, account).after(after, STEP))
