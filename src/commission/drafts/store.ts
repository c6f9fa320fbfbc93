import { draftBatches } from '../../db/commission/draft-batches.ts'
import { readDigests } from '../../db/commission/drafts.ts'
import type { RunStep } from '../../db/commission/run-steps.ts'
import { withD1Retry } from '../../db/retry.ts'
import { planKey } from '../engine/plans-in-force.ts'
import { findCauses } from './causes.ts'
import type { Computation } from './computation.ts'
import { computeAffiliates } from './compute.ts'
import { toStored } from './draft.ts'
import { statementId } from './ids.ts'

/**
 * Computes the statements of affiliates, stores those that differ from the stored ones, and adds their
 * number to the step of the run. Stores nothing if the run has ended or was deleted meanwhile.
 *
 * @param readAt When the computation began to read, in milliseconds. Drafts of a computation that began
 * later are not replaced.
 */
export async function refreshDrafts(
  computation: Computation,
  affiliates: readonly string[],
  step: RunStep,
  readAt: number,
): Promise<void> {
  const { db, account } = computation.source
  const computed = await computeAffiliates(computation, affiliates, Number.POSITIVE_INFINITY)
  const periods = computed.map(({ period }) => period.id)
  const stored = await readDigests(db, account.id, periods, affiliates)
  const known = new Map(stored.map((one) => [one.id, one]))
  const causesOf = await findCauses(computation, computed)
  const put = []
  const kept = new Set<string>()
  /** The digest of the last row of each affiliate and plan. */
  const previous = new Map<string, string>()
  for (const { period, results } of computed) {
    for (const result of results) {
      const key = planKey(result.affiliate, result.plan.plan)
      if (result.closed) {
        const id = await statementId(result.affiliate, result.plan.plan, period.id)
        const found = known.get(id)
        if (found && found.status !== 'draft') previous.set(key, found.digest)
        continue
      }
      const draft = await toStored(result, period, previous.get(key) ?? '', causesOf)
      if (draft === null) continue
      previous.set(key, draft.digest)
      kept.add(draft.id)
      if (known.get(draft.id)?.digest !== draft.digest) put.push(draft)
    }
  }
  const drop = stored.filter(({ id, status }) => status === 'draft' && !kept.has(id))
  const computedAt = new Date(readAt).toISOString()
  for (const batch of draftBatches(db, { put, drop, step, readAt, computedAt })) {
    await withD1Retry(() => db.batch(batch))
  }
}
