import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  deleteRecords,
  findAccount,
  insertAccount,
  listAccounts,
  updateAccount,
} from '../db/directory/accounts.ts'
import { withAudit } from '../db/directory/audit.ts'
import { isUniqueViolation } from '../db/retry.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import * as f from '../validation/fields.ts'
import { notFound, readFields } from './body.ts'
import { accountChange, newAccount } from './fields.ts'
import { propagateSettings } from './propagate.ts'

/** An account as the integrations team sees it. */
export const presentAccount = (account: Account) => ({
  account: account.id,
  name: account.name,
  vertical: account.vertical,
  mode: account.mode,
  time_zone: account.time_zone,
  binding: account.binding,
  policies: {
    unknown_customer: account.unknown_customer,
    unknown_affiliate: account.unknown_affiliate,
  },
  disabled: account.disabled === 1,
  created_at: account.created_at,
})

/** The account that an address names. */
export async function findRouteAccount(c: Context<AppEnv>): Promise<Account> {
  const id = c.req.param('account') ?? ''
  const account = await findAccount(c.env.DB, id)
  if (!account) throw notFound('account', id)
  return account
}

/** Accounts: one partner firm or one brand each. */
export const accounts = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const said = await readFields(c, {
      ...newAccount,
      binding: v.optional(bindingField(c.env)),
    })
    const { account: id, name, vertical, mode = 'live', binding = 'DB', time_zone = 'UTC' } = said
    const account: Omit<Account, 'disabled' | 'version' | 'pushed'> = {
      ...{ id, name, vertical, mode, binding, time_zone },
      unknown_customer: said.unknown_customer ?? (vertical === 'igaming' ? 'hold' : 'reject'),
      unknown_affiliate: said.unknown_affiliate ?? 'warn',
      created_at: new Date().toISOString(),
    }
    const act = { actor: c.var.actor, action: 'account.create', account: id, details: said }
    const made = presentAccount({ ...account, disabled: 0, version: 1, pushed: 1 })
    try {
      await withAudit(c.env.DB, act, [insertAccount(c.env.DB, account)])
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      // A try of ours may have taken effect, and its answer been lost.
      const there = await findAccount(c.env.DB, id)
      if (there && JSON.stringify(presentAccount(there)) === JSON.stringify(made))
        return c.json(made, 201)
      throw new ApiError('already_exists', { detail: `There is an account ${id}.`, cause: error })
    }
    return c.json(made, 201)
  })

  .get('/', async (c) => {
    const page = await readPage(c.env, 'accounts', readQuery(c.req.url, ...PAGE_PARAMETERS))
    const found = await listAccounts(c.env.DB, page)
    return respondWithPage(c, 'accounts', page, { ...found, data: found.data.map(presentAccount) })
  })

  .get('/:account', async (c) => {
    readQuery(c.req.url)
    return c.json(presentAccount(await findRouteAccount(c)))
  })

  .patch('/:account', async (c) => {
    readQuery(c.req.url)
    const { id } = await findRouteAccount(c)
    const change = await readFields(c, accountChange)
    const act = { actor: c.var.actor, action: 'account.change', account: id, details: change }
    // What changes nothing leaves no line behind; the tokens are told in any case.
    if (Object.keys(change).length > 0) {
      await withAudit(c.env.DB, act, [updateAccount(c.env.DB, id, change)])
    }
    const takes_effect = await propagateSettings(c.env, id)
    return c.json({ ...presentAccount(await findRouteAccount(c)), takes_effect })
  })

  .post('/:account/reset', async (c) => {
    readQuery(c.req.url)
    const { id, mode, binding } = await findRouteAccount(c)
    await readFields(c, {})
    if (mode !== 'test') {
      throw new ApiError('conflict', { detail: 'Only the data of a test account can be reset.' })
    }
    const db = resolveDatabase(c.env, binding)
    const act = { actor: c.var.actor, action: 'account.reset', account: id, details: {} }
    await withAudit(db, act, deleteRecords(db, id))
    return c.body(null, 204)
  })

const bindingField = (env: Env) =>
  v.pipe(
    f.text,
    v.check((name) => isBinding(env, name), 'enum the D1 bindings of this service'),
  )

function isBinding(env: Env, name: string): boolean {
  const bound = (env as unknown as Record<string, unknown>)[name]
  // A service has whatever it is asked for, as a method that it may know: but a database no `fetch`.
  return typeof bound === 'object' && bound !== null && 'prepare' in bound && !('fetch' in bound)
}
