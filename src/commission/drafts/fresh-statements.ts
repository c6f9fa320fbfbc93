import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { findStatement, type StatementFilter } from '../../db/commission/statements.ts'
import type { Connection } from '../../db/database.ts'
import { invalidQuery } from '../../http/query.ts'
import { withReadSession } from '../../http/read-session.ts'
import type { PlanResult } from '../engine/account-input.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { findCauses } from './causes.ts'
import { computeAffiliates } from './compute.ts'
import { toDraft } from './draft.ts'
import { statementId } from './ids.ts'
import { FAR_AHEAD, FRESH_LIMITS, isFarAhead } from './limits.ts'
import { openPeriod, withinLimit } from './on-request.ts'
import { presentDraft, presentWhole } from './present.ts'

/**
 * Computes the statements of one affiliate and period, and responds with them; for a closed period,
 * responds with the approved statements. Stores nothing.
 */
export function respondWithFresh(c: Context<AppEnv>, filter: StatementFilter): Promise<Response> {
  const { affiliate_id, plan, status } = filter
  const period = parsePeriod(filter.period ?? '')
  if (affiliate_id === undefined || period === null) {
    throw invalidQuery('`fresh` requires `affiliate_id` and `period`.')
  }
  if (isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD)
  return withReadSession(c, async ({ grant, session }) => {
    const computedAt = new Date().toISOString()
    const { results, causesOf } = await withinLimit(
      grant.account,
      startRun(grant.account, period),
      async () => {
        const computation = await openPeriod(c.env, grant, session, period)
        const computed = await computeAffiliates(computation, [affiliate_id], FRESH_LIMITS.facts)
        const requested = computed.slice(-1)
        const found = await findCauses(computation, requested)
        return { results: requested[0]?.results ?? [], causesOf: found }
      },
    )
    const found = await Promise.all(
      results.map(async (result) => {
        if (plan !== undefined && result.plan.plan !== plan) return null
        if (result.closed) return readClosed(session, grant.account, result, period)
        const draft = await toDraft(result, period, causesOf)
        return draft && presentDraft(draft, computedAt)
      }),
    )
    const data = found.flatMap((one) =>
      one && (status === undefined || one.status === status) ? [one] : [],
    )
    const meta = { total: data.length, page: 1, per_page: 50, next_cursor: null }
    return c.json({ data, meta })
  })
}

/** Returns the approved statement of a closed period; null if it has none. */
async function readClosed(
  db: Connection,
  account: string,
  { affiliate, plan }: PlanResult,
  { id: period }: Period,
) {
  const id = await statementId(affiliate, plan.plan, period)
  const found = await findStatement(db, account, id, 1)
  return found && presentWhole(found, 1)
}

/** Returns what to request instead for an affiliate with too many facts. */
const startRun = (account: string, { id }: Period): string =>
  `Start a run of the period, which computes any number: POST /admin/v1/accounts/${encodeURIComponent(account)}/periods/${id}/run. Then read the statement without \`fresh\`.`
