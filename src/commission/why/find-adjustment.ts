import { findItem } from '../../db/commission/books/stored-items.ts'
import { findCauses } from '../drafts/causes.ts'
import { computeAffiliates } from '../drafts/compute.ts'
import { type Adjustment, toDraft } from '../drafts/draft.ts'
import { statementOfLine } from '../drafts/ids.ts'
import { FRESH_LIMITS } from '../drafts/limits.ts'
import { openPeriod } from '../drafts/on-request.ts'
import { parsePeriod } from '../engine/calendar.ts'
import { type AccountReader, goneSince, type LineHint, matchHint, notStored } from './find-line.ts'

/** An adjustment, and the statement that has it. */
export interface FoundAdjustment {
  readonly adjustment: Adjustment
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly status: 'draft' | 'approved' | 'paid'
}

/** Whether an id is that of an adjustment. */
export const isAdjustmentId = (id: string): boolean => id.startsWith('adj_')

/**
 * Finds an adjustment in a stored statement, or computes the statement of an affiliate and period.
 *
 * @throws ApiError `not_found`
 */
export async function findAdjustment(
  env: Env,
  { grant, session }: AccountReader,
  id: string,
  hint: LineHint,
): Promise<FoundAdjustment> {
  const statement = statementOfLine(id)
  if (statement === null) throw notStored('adjustment')
  const stored = await findItem(session, grant.account, statement, id)
  if (stored?.item) {
    const { item, affiliate_id, plan, period, currency, status } = stored
    return { adjustment: JSON.parse(item), affiliate_id, plan, period, currency, status }
  }
  const place = stored ?? (await matchHint(session, grant.account, statement, hint))
  const period = parsePeriod(place?.period ?? '')
  if (!place || !period) throw notStored('adjustment')
  const computation = await openPeriod(env, grant, session, period)
  const computed = await computeAffiliates(computation, [place.affiliate_id], FRESH_LIMITS.facts)
  const requested = computed.slice(-1)
  const causesOf = await findCauses(computation, requested)
  const result = requested[0]?.results.find((one) => one.plan.plan === place.plan)
  const draft = result && !result.closed ? await toDraft(result, period, causesOf) : null
  const adjustment = draft?.adjustments.find((one) => one.id === id)
  if (!draft || !adjustment) {
    const row = stored && { statement, computed_at: stored.computed_at, hasItem: false }
    throw goneSince('adjustment', row)
  }
  const { affiliate_id, plan, currency } = draft.head
  return { adjustment, affiliate_id, plan, currency, period: period.id, status: 'draft' }
}
