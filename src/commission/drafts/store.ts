import { draftBatches, readDigests } from '../../db/commission/drafts.ts'
import { withD1Retry } from '../../db/retry.ts'
import { type Computation, computeAffiliates } from './compute.ts'
import { toStored } from './draft.ts'

/**
 * Computes the statements of affiliates and stores those that differ from what is stored. Returns the
 * number of statements that it wrote or deleted: 0 if nothing has changed.
 *
 * @param readAt When the computation began to read, in milliseconds. A later one's drafts stay.
 */
export async function refreshDrafts(
  computation: Computation,
  affiliates: readonly string[],
  readAt: number,
): Promise<number> {
  const { db, account } = computation.source
  const computed = await computeAffiliates(computation, affiliates, Number.POSITIVE_INFINITY)
  const periods = computed.map(({ period }) => period.id)
  const stored = await readDigests(db, account.id, periods, affiliates)
  const known = new Map(stored.map((one) => [one.id, one]))
  const put = []
  const kept = new Set<string>()
  for (const { period, results } of computed) {
    for (const result of results) {
      const draft = await toStored(result, period)
      if (draft === null) continue
      kept.add(draft.id)
      if (known.get(draft.id)?.digest !== draft.digest) put.push(draft)
    }
  }
  const drop = stored.filter(({ id, status }) => status === 'draft' && !kept.has(id))
  const computedAt = new Date(readAt).toISOString()
  for (const batch of draftBatches(db, account.id, { put, drop, readAt, computedAt })) {
    await withD1Retry(() => db.batch(batch))
  }
  return put.length + drop.length
}
