import type { Context } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import type { StatementFilter } from '../../db/commission/statements.ts'
import { findAccount } from '../../db/directory/accounts.ts'
import { ApiError } from '../../errors.ts'
import { invalidQuery } from '../../http/query.ts'
import { withReadSession } from '../../http/session.ts'
import { type Period, parsePeriod } from '../engine/calendar.ts'
import { openSource } from '../facts/source.ts'
import { type ComputedPeriod, computeAffiliates, openComputation, TooManyFacts } from './compute.ts'
import { toDraft } from './draft.ts'
import { FAR_AHEAD, isFarAhead, MAX_FRESH_FACTS } from './limits.ts'
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
    const account = await findAccount(c.env.DB, grant.account)
    if (!account) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
    const computedAt = new Date().toISOString()
    const source = await openSource(c.env, account, session)
    const computed = await compute(source, affiliate_id, period)
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

async function compute(
  source: Awaited<ReturnType<typeof openSource>>,
  affiliate: string,
  period: Period,
): Promise<ComputedPeriod[]> {
  try {
    const computation = await openComputation(source, period)
    return await computeAffiliates(computation, [affiliate], MAX_FRESH_FACTS)
  } catch (error) {
    if (!(error instanceof TooManyFacts)) throw error
    const limit = MAX_FRESH_FACTS.toLocaleString('en')
    throw new ApiError('validation_failed', {
      detail: `The statement depends on more than ${limit} facts, the most that one request computes. Start a run of the period, which computes any number: POST /admin/v1/accounts/${encodeURIComponent(source.account.id)}/periods/${period.id}/run. Then read the statement without \`fresh\`.`,
    })
  }
}
