import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { addManualEntry } from '../commission/books/manual-entry.ts'
import { newManualEntry } from '../commission/books/payment-fields.ts'
import { listManualEntries } from '../db/commission/books/manual-entries.ts'
import { resolveDatabase } from '../db/database.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'
import { readFields, validationFailed } from './body.ts'

/** Routes for amounts that the integrations team enters. An entry never changes. */
export const manualEntries = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    const sent = await readFields(c, newManualEntry)
    const added = await addManualEntry(resolveDatabase(c.env, binding), id, sent, c.var.actor)
    if (added.outcome === 'invalid') throw validationFailed(added.issues)
    return c.json(added.entry, added.outcome === 'created' ? 201 : 200)
  })

  .get('/', async (c) => {
    const { affiliate_id = null, ...query } = readQuery(
      c.req.url,
      ...PAGE_PARAMETERS,
      'affiliate_id',
    )
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'manual-entries', affiliate_id])
    const page = await readPage(c.env, context, query)
    const db = resolveDatabase(c.env, account.binding)
    return respondWithPage(
      c,
      context,
      page,
      await listManualEntries(db, account.id, affiliate_id, page),
    )
  })
