import { Hono } from 'hono'
import { ADMIN_KEY_ACTOR } from '../auth/admin-keys.ts'
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
import { notFound, readFields } from '../http/read-fields.ts'
import { findRouteAccount } from './accounts.ts'

/** Who acknowledged the end of a hold. `at` is a time as on the wire. */
interface Acknowledgement {
  readonly actor: string
  readonly reason: string
  readonly at: string
}

/** Returns who acknowledged a hold first, while another person must do so as well; else null. */
function acknowledgementOf(found: EndedHold): Acknowledgement | null {
  const { acknowledged_by: actor, acknowledged_reason: reason, acknowledged_at: at } = found
  return actor === null || reason === null || at === null ? null : { actor, reason, at }
}

const present = (found: EndedHold) => {
  const { case_id, affiliate_id, rule, name, sentence, because, moved } = found
  return {
    ...{ case_id, affiliate_id, rule, name, subject: parseSubjectKey(found.subject), sentence },
    ...{ because, moved: moved === null ? null : JSON.parse(moved) },
    opened_at: new Date(found.opened_at).toISOString(),
    ended_at: new Date(found.ended_at).toISOString(),
    is_case: found.is_case === 1,
    goes_on: found.holds === 1,
    acknowledged: acknowledgementOf(found),
  }
}

/** Routes for the holds of payouts that ended without a decision, until a person has looked at each. */
export const endedHolds = new Hono<AppEnv>()
  .get('/', async (c) => {
    const { affiliate_id = null, ...query } = readQuery(
      c.req.url,
      ...PAGE_PARAMETERS,
      'affiliate_id',
    )
    const account = await findRouteAccount(c)
    const context = JSON.stringify([account.id, 'ended holds', affiliate_id])
    const page = await readPage(c.env, context, query)
    const db = resolveDatabase(c.env, account.binding)
    const found = await listEndedHolds(db, account.id, affiliate_id, page)
    return respondWithPage(c, context, page, { ...found, data: found.data.map(present) })
  })

  .post('/:case_id/acknowledge', async (c) => {
    readQuery(c.req.url)
    const account = await findRouteAccount(c)
    const { reason } = await readFields(c, holdAcknowledgement)
    const case_id = c.req.param('case_id')
    const db = resolveDatabase(c.env, account.binding)
    const found = await findEndedHold(db, account.id, case_id)
    if (!found) throw notFound('ended hold', case_id)
    const first = acknowledgementOf(found)
    const by: Acknowledgement = { actor: c.var.actor, reason, at: new Date().toISOString() }
    const waiting = { ...present(found), approvals_required: PERSONS }
    if (first?.actor === by.actor) {
      return c.json({ ...waiting, message: acknowledgedAgain(first) }, 202)
    }
    const isFinal = found.holds === 0 || first !== null
    if (!(await acknowledgeHold(db, account.id, found, { ...by, isFinal }))) {
      throw notFound('ended hold', case_id)
    }
    if (isFinal) return c.json(present(found))
    return c.json({ ...waiting, acknowledged: by, message: ANOTHER }, 202)
  })

/** The persons who must acknowledge the end of a hold that goes on until then. */
const PERSONS = 2

const ANOTHER = 'Another person must acknowledge it too. Until then the payouts stay held.'

/** Says what is still needed if a person acknowledges the end of a hold again. */
const acknowledgedAgain = ({ actor, at }: Acknowledgement): string =>
  `${actor === ADMIN_KEY_ACTOR ? 'It was acknowledged with the admin key, by which all count as one person,' : `You (${actor}) acknowledged it`} at ${at}. ${ANOTHER}`
