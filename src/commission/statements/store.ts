import { withD1Retry } from '../../platform/db/retry.ts'
import { type ClosedState, putClosedStates } from '../db/closed-states.ts'
import { draftBatches } from '../db/draft-batches.ts'
import { readDigests, type StatementDigest, type StoredDraft } from '../db/drafts.ts'
import type { RunStep } from '../db/runs.ts'
import { compareText } from '../engine/facts.ts'
import { planKey } from '../engine/plans-in-force.ts'
import { findCauses } from './causes.ts'
import { type Computation, type ComputedPeriod, computeAffiliates } from './compute.ts'
import { toStored } from './draft.ts'

/** What a run would store of some affiliates, and what is stored of them. */
interface ComputedDrafts {
  readonly periods: readonly ComputedPeriod[]
  readonly drafts: readonly StoredDraft[]
  readonly stored: readonly StatementDigest[]
  readonly closed: readonly ClosedState[]
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
  const { periods, closed, settledOf } = await computeAffiliates(computation, affiliates, maxFacts)
  const stored = await readDigests(db, account.id, range.period.id, affiliates)
  const causesOf = await findCauses(computation, periods, settledOf)
  const drafts: StoredDraft[] = []
  /** The digest of the last row of each affiliate and plan. */
  const previous = new Map(
    stored
      .filter(({ status }) => status !== 'draft')
      .sort((a, b) => compareText(a.period, b.period))
      .map(({ affiliate_id, plan, digest }) => [planKey(affiliate_id, plan), digest]),
  )
  for (const { period, results } of periods) {
    for (const result of results) {
      if (result.closed) continue
      const key = planKey(result.affiliate, result.plan.plan)
      const draft = await toStored(result, period, previous.get(key) ?? '', causesOf)
      if (draft === null) continue
      previous.set(key, draft.digest)
      drafts.push(draft)
    }
  }
  return { periods, drafts, stored, closed }
}

/**
 * Computes the statements of affiliates, stores those that differ from the stored ones, and deletes the
 * drafts that are no longer computed. Stores nothing if the run has ended or was deleted meanwhile.
 *
 * @param readAt When the computation began to read, in milliseconds. Drafts of a computation that began
 * later are not replaced.
 * @param position From where it reads marks of changed days.
 */
export async function refreshDrafts(
  computation: Computation,
  affiliates: readonly string[],
  step: RunStep,
  readAt: number,
  position: number,
): Promise<void> {
  const { db, account } = computation.source
  const { drafts, stored, closed } = await computeDrafts(
    computation,
    affiliates,
    Number.POSITIVE_INFINITY,
  )
  const digests = new Map(stored.map(({ id, digest }) => [id, digest]))
  const kept = new Set(drafts.map(({ id }) => id))
  const put = drafts.filter(({ id, digest }) => digests.get(id) !== digest)
  const drop = stored.filter(({ id, status }) => status === 'draft' && !kept.has(id))
  const computedAt = new Date(readAt).toISOString()
  for (const batch of draftBatches(db, { put, drop, step, readAt, computedAt })) {
    await withD1Retry(() => db.batch(batch))
  }
  await putClosedStates(db, account.id, closed, position)
}
