import { draftBatches } from '../../db/commission/draft-batches.ts'
import { readDigests, type StatementDigest, type StoredDraft } from '../../db/commission/drafts.ts'
import type { RunStep } from '../../db/commission/runs.ts'
import { withD1Retry } from '../../db/retry.ts'
import { planKey } from '../engine/plans-in-force.ts'
import { findCauses } from './causes.ts'
import { type Computation, computeAffiliates } from './compute.ts'
import { toStored } from './draft.ts'
import { statementId } from './ids.ts'

/** What a run would store of some affiliates, and what is stored of them. */
interface ComputedDrafts {
  readonly drafts: readonly StoredDraft[]
  readonly stored: readonly StatementDigest[]
}

/**
 * Computes the drafts of affiliates in all open periods up to that of the computation.
 *
 * @param maxFacts The most facts to read.
 * @throws TooManyFacts
 */
export async function computeDrafts(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<ComputedDrafts> {
  const { source, range } = computation
  const { db, account } = source
  const computed = await computeAffiliates(computation, affiliates, maxFacts)
  const stored = await readDigests(db, account.id, range.period.id, affiliates)
  const known = new Map(stored.map((one) => [one.id, one]))
  const causesOf = await findCauses(computation, computed)
  const drafts: StoredDraft[] = []
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
      drafts.push(draft)
    }
  }
  return { drafts, stored }
}

/**
 * Computes the statements of affiliates, stores those that differ from the stored ones, deletes the
 * drafts that are no longer computed, and adds their number to the step of the run. Stores nothing if
 * the run has ended or was deleted meanwhile.
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
  const { db } = computation.source
  const { drafts, stored } = await computeDrafts(computation, affiliates, Number.POSITIVE_INFINITY)
  const digests = new Map(stored.map(({ id, digest }) => [id, digest]))
  const kept = new Set(drafts.map(({ id }) => id))
  const put = drafts.filter(({ id, digest }) => digests.get(id) !== digest)
  const drop = stored.filter(({ id, status }) => status === 'draft' && !kept.has(id))
  const computedAt = new Date(readAt).toISOString()
  for (const batch of draftBatches(db, { put, drop, step, readAt, computedAt })) {
    await withD1Retry(() => db.batch(batch))
  }
}
