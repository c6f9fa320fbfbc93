import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import type { StatementFilter } from '../../db/commission/statements.ts'
import { invalidQuery } from '../../http/query.ts'
import { withReadSession } from '../../http/session.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { computeAffiliates } from './compute.ts'
import { toDraft } from './draft.ts'
import { FAR_AHEAD, isFarAhead, MAX_FRESH_FACTS } from './limits.ts'
import { openPeriod, withinLimit } from './on-request.ts'
import { presentDraft } from './present.ts'

/** Responds with the statements of one affiliate as they are now. Nothing is stored. */
export function respondWithFresh(c: Context<AppEnv>, filter: StatementFilter): Promise<Response> {
  const { affiliate_id, plan, status = 'draft' } = filter
  const period = parsePeriod(filter.period ?? '')
  if (affiliate_id === undefined || period === null) {
    throw invalidQuery('`fresh` requires `affiliate_id` and `period`.')
  }
  if (isFarAhead(period, Date.now())) throw invalidQuery(FAR_AHEAD)
  return withReadSession(c, async ({ grant, session }) => {
    const computedAt = new Date().toISOString()
    const computed = await withinLimit(grant.account, startRun(grant.account, period), async () => {
      const computation = await openPeriod(c.env, grant.account, session, period)
      return computeAffiliates(computation, [affiliate_id], MAX_FRESH_FACTS)
    })
    const results = status === 'draft' ? (computed.at(-1)?.results ?? []) : []
    const drafts = await Promise.all(results.map((result) => toDraft(result, period)))
    const data = drafts.flatMap((draft) =>
      draft && (plan === undefined || draft.head.plan === plan)
        ? [presentDraft(draft, computedAt)]
        : [],
    )
    const meta = { total: data.length, page: 1, per_page: 50, next_cursor: null }
    return c.json({ data, meta })
  })
}

/** What to request for an affiliate with too many facts. */
const startRun = (account: string, { id }: Period): string =>
  `Start a run of the period, which computes any number: POST /admin/v1/accounts/${encodeURIComponent(account)}/periods/${id}/run. Then read the statement without \`fresh\`.`
