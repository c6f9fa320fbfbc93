import { withD1Retry } from '../../platform/db/retry.ts'
import { putClosedStates } from '../db/closed-states.ts'
import { draftBatches } from '../db/draft-batches.ts'
import { readDigests, type StatementDigest, type StoredDraft } from '../db/drafts.ts'
import type { RunStep } from '../db/runs.ts'
import { compareText } from '../engine/facts.ts'
import { planKey } from '../engine/plans-in-force.ts'
import { findCauses } from './causes.ts'
import {
  type Computation,
  type ComputedPeriod,
  computeAffiliates,
  explainedKey,
} from './compute.ts'
import { toStored } from './draft.ts'

/**
 * Computes what affiliates come to in all open periods up to that of the computation. The drafts of some of them are made
 * at a time, in the order of the parts.
 *
 * @param maxFacts The most facts to read.
 * @throws TooManyFacts
 */
async function openDrafts(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
) {
  const { source, range } = computation
  const computed = await computeAffiliates(computation, affiliates, maxFacts)
  const stored = await readDigests(source.db, source.account.id, range.period.id, affiliates)
  /** The digest of the last row of each affiliate and plan. */
  const previous = new Map(
    stored
      .filter(({ status }) => status !== 'draft')
      .sort((a, b) => compareText(a.period, b.period))
      .map(({ affiliate_id, plan, digest }) => [planKey(affiliate_id, plan), digest]),
  )
  const draftsOf = async (some: readonly string[]) => {
    const { periods: found, closed } = await computed.resultsOf(some)
    const periods = await explainCorrected(computation, found, maxFacts)
    const causesOf = await findCauses(computation, periods, computed)
    const drafts: StoredDraft[] = []
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
    return { periods, closed, drafts }
  }
  return { stored, parts: computed.parts, draftsOf }
}

/**
 * Computes the affiliates again whose corrected lines convert amounts or qualify: these lines are explained as those of
 * open periods are. To keep so much of all closed periods would fill the memory.
 */
async function explainCorrected(
  computation: Computation,
  periods: readonly ComputedPeriod[],
  maxFacts: number,
): Promise<readonly ComputedPeriod[]> {
  const corrected = periods.flatMap(({ results }) =>
    results.flatMap(({ affiliate, plan, corrections }) =>
      corrections.flatMap(({ period, now }) =>
        now?.once || now?.fx.some(({ currency }) => currency !== plan.first.currency)
          ? [{ affiliate, period }]
          : [],
      ),
    ),
  )
  const affiliates = new Set(corrected.map(({ affiliate }) => affiliate))
  if (affiliates.size === 0) return periods
  const explained = new Set(corrected.map((one) => explainedKey(one.affiliate, one.period)))
  const again = { ...computation, position: null, explained }
  const { resultsOf } = await computeAffiliates(again, [...affiliates], maxFacts)
  const found = (await resultsOf([...affiliates])).periods
  return periods.map(({ period, results }, i) => ({
    period,
    results: [
      ...results.filter(({ affiliate }) => !affiliates.has(affiliate)),
      ...(found[i]?.results ?? []),
    ],
  }))
}

/** Computes the drafts of affiliates as a run would store them. */
export const computeDrafts = async (...of: Parameters<typeof openDrafts>) =>
  (await openDrafts(...of)).draftsOf(of[1])

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
  const { stored, parts, draftsOf } = await openDrafts(computation, affiliates, Infinity)
  const digests = new Map(stored.map(({ id, digest }) => [id, digest]))
  const kept = new Set<string>()
  const change = async (put: readonly StoredDraft[], drop: readonly StatementDigest[] = []) => {
    const computedAt = new Date(readAt).toISOString()
    for (const batch of draftBatches(db, { put, drop, step, readAt, computedAt })) {
      await withD1Retry(() => db.batch(batch))
    }
  }
  for (const part of parts) {
    const { drafts, closed } = await draftsOf(part)
    for (const { id } of drafts) kept.add(id)
    // First: what differs from the books is known before it can be approved.
    await putClosedStates(db, account.id, closed, position)
    await change(drafts.filter(({ id, digest }) => digests.get(id) !== digest))
  }
  await change(
    [],
    stored.filter(({ id, status }) => status === 'draft' && !kept.has(id)),
  )
}
