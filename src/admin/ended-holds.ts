import { Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import {
  acknowledgeHold,
  type EndedHold,
  findEndedHold,
  listEndedHolds,
} from '../db/fraud/ended-holds.ts'
import { holdAcknowledgement } from '../fraud/decision-fields.ts'
import { parseSubjectKey } from '../fraud/findings.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'
import { notFound, readFields } from './body.ts'

const present = ({ moved, subject, opened_at, ended_at, is_case, ...rest }: EndedHold) => ({
  ...rest,
  subject: parseSubjectKey(subject),
  moved: moved === null ? null : JSON.parse(moved),
  opened_at: new Date(opened_at).toISOString(),
  ended_at: new Date(ended_at).toISOString(),
  is_case: is_case === 1,
})

/** Routes for the holds of payouts that ended without a decision, until a person has looked at each. */
export const endedHolds = new Hono<AppEnv>()
  .get('/', async (c) => {
    const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'ended holds'])
    const page = await readPage(c.env, context, query)
    const db = resolveDatabase(c.env, account.binding)
    const found = await listEndedHolds(db, account.id, page)
    return respondWithPage(c, context, page, { ...found, data: found.data.map(present) })
  })

  .post('/:case_id/acknowledge', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { reason } = await readFields(c, holdAcknowledgement)
    const case_id = c.req.param('case_id')
    const db = resolveDatabase(c.env, account.binding)
    const found = await findEndedHold(db, account.id, case_id)
    const by = { actor: c.var.actor, reason }
    if (!found || !(await acknowledgeHold(db, account.id, found, by))) {
      throw notFound('ended hold', case_id)
    }
    return c.json(present(found))
  })
