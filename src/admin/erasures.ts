import { Hono } from 'hono'
import * as v from 'valibot'
import type { Caller } from '../auth/authorize.ts'
import { asked } from '../auth/object-retry.ts'
import { databaseOf } from '../db/database.ts'
import { allAccounts, findAccount } from '../db/directory/accounts.ts'
import { audited } from '../db/directory/audit.ts'
import { outdate } from '../db/directory/credentials.ts'
import { type Erasure, erase, isCustomer, listErasures } from '../db/records/erasure.ts'
import { tried } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { invalidQuery, readQuery } from '../http/query.ts'
import { id as anyId } from '../validation/fields.ts'
import { accountOf } from './accounts.ts'
import { missing } from './body.ts'
import { listed } from './list-route.ts'
import { pushed } from './propagate.ts'

const STEP = 500

const journalOf = (env: Env, account: string) => env.ERASURE_JOURNAL.getByName(account)

/** Erases customers of an account: nothing of theirs that is personal is kept, now or later. */
export const erasures = new Hono<Caller>()
  .delete('/customers/:customer_id/personal-data', async (c) => {
    readQuery(c.req.url)
    const { id: account, binding } = await accountOf(c)
    const customer_id = c.req.param('customer_id')
    const db = databaseOf(c.env, binding)
    if (!v.is(anyId, customer_id) || !(await isCustomer(db, account, customer_id))) {
      throw missing('customer', customer_id)
    }
    // The journal comes first: what it knows can be done again, what it does not know is lost.
    const now = new Date().toISOString()
    const erased_at = await asked(() => journalOf(c.env, account).add(customer_id, now))
    const act = { actor: c.var.actor, action: 'customer.erase', account, details: { customer_id } }
    await audited(db, act, erase(db, account, [{ customer_id, erased_at }]))
    return c.json({ customer_id, erased_at })
  })

  .get('/erasures', (c) => listed(c, 'erasures', ({ id }, page, db) => listErasures(db, id, page)))

/**
 * One command after a database was restored to an earlier time: erases again all that was ever
 * erased, and tells all live tokens what the database says now. `account` narrows it to one.
 */
export const replay = new Hono<Caller>().post('/replay', async (c) => {
  const { account } = readQuery(c.req.url, 'account')
  const { actor } = c.var
  let erased = 0
  const again = async (one: Account) => {
    erased += await replayOne(c.env, actor, one)
    await tried(() => outdate(c.env.DB, one.id).run())
    // Before what was kept was put back, a Brand Token that ended long ago may have been opened again.
    await pushed(c.env, one.id, 0)
  }
  if (account !== undefined) {
    const found = await findAccount(c.env.DB, account)
    if (!found) throw invalidQuery('account names none that there is.')
    await again(found)
  } else {
    for await (const page of allAccounts(c.env.DB, STEP)) for (const one of page) await again(one)
  }
  return c.json({ erased })
})

async function replayOne(env: Env, actor: string, { id, binding }: Account): Promise<number> {
  const db = databaseOf(env, binding)
  let erased = 0
  let last: string | null = null
  for (;;) {
    const found = await journaled(env, id, last)
    if (found.length > 0) {
      const details = { customers: found.length }
      const act = { actor, action: 'erasures.replay', account: id, details }
      await audited(db, act, erase(db, id, found))
    }
    erased += found.length
    if (found.length < STEP) return erased
    last = found.at(-1)!.customer_id
  }
}

const journaled = (env: Env, account: string, after: string | null): Promise<Erasure[]> =>
  asked(() => journalOf(env, account).after(after, STEP))
