import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Caller } from '../auth/admission.ts'
import { databaseOf } from '../auth/database.ts'
import {
  findAccount,
  forgetRecords,
  insertAccount,
  listAccounts,
  updateAccount,
} from '../db/accounts.ts'
import { audited } from '../db/audit.ts'
import type { Account } from '../db/directory-tables.ts'
import { ApiError } from '../errors.ts'
import * as f from '../fields.ts'
import { readQuery } from '../ingest/query.ts'
import { answerPage, PAGING, readPage } from '../reading/page.ts'
import { readFields, refused } from './body.ts'
import { push } from './push.ts'

const SLUG = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/

const slug = v.pipe(f.text, v.regex(SLUG, 'pattern [a-z0-9-], 1 to 63 characters'))

const isZone = (name: string) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

const zone = v.pipe(f.text, v.check(isZone, 'pattern a name of the IANA time zone database'))

const settings = {
  name: v.optional(f.text),
  time_zone: v.optional(zone),
  unknown_customer: v.optional(f.oneOf('reject', 'hold')),
  unknown_affiliate: v.optional(f.oneOf('warn', 'reject')),
}

/** An account as the integrations team sees it. */
export function presentAccount(account: Account) {
  const { id, unknown_customer, unknown_affiliate, disabled, ...shown } = account
  const { version: _, pushed: __, ...rest } = shown
  return {
    account: id,
    ...rest,
    policies: { unknown_customer, unknown_affiliate },
    disabled: disabled === 1,
  }
}

/** The account that an address names. */
export async function accountOf(c: Context<Caller>): Promise<Account> {
  const account = await findAccount(c.env.DB, c.req.param('account') ?? '')
  if (!account) throw new ApiError('not_found')
  return account
}

/** Accounts: one partner firm or one brand each. */
export const accounts = new Hono<Caller>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const said = await readFields(c, {
      account: slug,
      vertical: f.oneOf('prop-trading', 'forex', 'igaming'),
      mode: v.optional(f.oneOf('live', 'test')),
      binding: v.optional(f.text),
      ...settings,
      name: f.text,
    })
    const { account: id, name, vertical, mode = 'live', binding = 'DB', time_zone = 'UTC' } = said
    if (!isBinding(c.env, binding)) {
      const expected = 'the D1 bindings of this service'
      throw refused([{ pointer: '/binding', code: 'enum', value: binding, expected }])
    }
    const account: Omit<Account, 'disabled' | 'version' | 'pushed'> = {
      ...{ id, name, vertical, mode, binding, time_zone },
      unknown_customer: said.unknown_customer ?? (vertical === 'igaming' ? 'hold' : 'reject'),
      unknown_affiliate: said.unknown_affiliate ?? 'warn',
      created_at: new Date().toISOString(),
    }
    if (await findAccount(c.env.DB, id)) {
      throw new ApiError('already_exists', { detail: `There is an account ${id}.` })
    }
    const act = { actor: c.var.actor, action: 'account.create', account: id, details: said }
    await audited(c.env.DB, act, [insertAccount(c.env.DB, account)])
    return c.json(presentAccount({ ...account, disabled: 0, version: 1, pushed: 1 }), 201)
  })

  .get('/', async (c) => {
    const page = await readPage(c.env, 'accounts', readQuery(c.req.url, ...PAGING))
    const found = await listAccounts(c.env.DB, page)
    return answerPage(c, 'accounts', page, { ...found, data: found.data.map(presentAccount) })
  })

  .get('/:account', async (c) => {
    readQuery(c.req.url)
    return c.json(presentAccount(await accountOf(c)))
  })

  .patch('/:account', async (c) => {
    readQuery(c.req.url)
    const { id } = await accountOf(c)
    const change = await readFields(c, { ...settings, disabled: v.optional(v.boolean()) })
    const act = { actor: c.var.actor, action: 'account.change', account: id, details: change }
    await audited(c.env.DB, act, [updateAccount(c.env.DB, id, change)])
    await push(c.env, id)
    return c.json(presentAccount(await accountOf(c)))
  })

  .post('/:account/reset', async (c) => {
    readQuery(c.req.url)
    const { id, mode, binding } = await accountOf(c)
    if (mode !== 'test') {
      throw new ApiError('conflict', { detail: 'Only the data of a test account can be reset.' })
    }
    const db = databaseOf(c.env, binding)
    const act = { actor: c.var.actor, action: 'account.reset', account: id, details: {} }
    await audited(db, act, forgetRecords(db, id))
    return c.body(null, 204)
  })

function isBinding(env: Env, name: string): boolean {
  const bound = (env as unknown as Record<string, unknown>)[name]
  return typeof bound === 'object' && bound !== null && 'prepare' in bound
}
