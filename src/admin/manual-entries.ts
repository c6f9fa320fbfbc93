import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { newManualEntry } from '../commission/books/book-fields.ts'
import { addManualEntry } from '../commission/books/manual-entry.ts'
import { listManualEntries } from '../db/commission/books/manual-entries.ts'
import { resolveDatabase } from '../db/database.ts'
import { readQuery } from '../http/query.ts'
import { readFields, validationFailed } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'
import { respondWithAffiliateList } from './list-route.ts'
import { sendCaused } from './send-caused.ts'

/** Routes for amounts that the integrations team enters. An entry never changes. */
export const manualEntries = new Hono<AppEnv>()
  .post('/', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const sent = await readFields(c, newManualEntry)
    const added = await addManualEntry(
      resolveDatabase(c.env, account.binding),
      account.id,
      sent,
      c.var.actor,
    )
    if (added.outcome === 'invalid') throw validationFailed(added.issues)
    sendCaused(c, account)
    return c.json(added.entry, added.outcome === 'created' ? 201 : 200)
  })

  .get('/', (c) =>
    respondWithAffiliateList(c, 'manual-entries', ({ id }, page, db, affiliate) =>
      listManualEntries(db, id, affiliate, page),
    ),
  )
