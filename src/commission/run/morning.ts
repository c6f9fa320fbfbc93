import { compareText } from '../../platform/compare-text.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { draftBatches } from '../db/draft-batches.ts'
import { readDigests, type StatementDigest, type StoredDraft } from '../db/drafts.ts'
import type { RunStep } from '../db/runs.ts'
import { planKey } from '../engine/plans-in-force.ts'
import type { PlanResult } from '../engine/settlement.ts'
import type { OpenAccount } from './account.ts'
import { findCauses } from './causes.ts'
import {
  type Computing,
  correctedKey,
  partsOf,
  type SummedFacts,
  settle,
  sumFacts,
} from './compute.ts'
import { toStored } from './draft.ts'
import { keep, type Start, startsOf } from './starts.ts'

// A morning's run from top to bottom: where affiliates start, what their records come to, what that settles, and what of it
// is stored. Requests compute in the same way, and store nothing.

/** Computes the statements of affiliates, stores those that differ from the stored ones, and deletes those that are none now. */
export async function storeStatements(
  account: OpenAccount,
  affiliates: readonly string[],
  step: RunStep,
  { readAt, position }: { readonly readAt: number; readonly position: number },
): Promise<void> {
  const { db, row, range } = account
  const stored = await readDigests(db, row.id, range.period.id, affiliates)
  const digests = new Map(stored.map(({ id, digest }) => [id, digest]))
  const kept = new Set<string>()
  const change = async (put: readonly StoredDraft[], drop: readonly StatementDigest[] = []) => {
    const computedAt = new Date(readAt).toISOString()
    for (const batch of draftBatches(db, { put, drop, step, readAt, computedAt })) {
      await withD1Retry(() => db.batch(batch))
    }
  }
  const parts = draftsOf(account, affiliates, { position }, stored)
  for await (const { start, early, drafts, results } of parts) {
    for (const { id } of drafts) kept.add(id)
    // First: what differs from the books is known before it can be approved.
    await keep(start, results, early, position)
    await change(drafts.filter(({ id, digest }) => digests.get(id) !== digest))
  }
  await change(
    [],
    stored.filter(({ id, status }) => status === 'draft' && !kept.has(id)),
  )
}

/** What some affiliates come to in the periods of the account's kind, and from where they started. */
export interface Part extends SummedFacts {
  readonly start: Start
  readonly results: readonly PlanResult[]
}

/**
 * Yields what affiliates come to in the open periods up to the account's, and in those closed ones of which nothing is
 * kept. Holds in memory the facts of a few customers at a time, the sums of all of a start, and the lines of a part.
 *
 * @throws TooManyFacts
 */
export async function* resultsOf(
  account: OpenAccount,
  affiliates: readonly string[],
  computing: Computing = {},
): AsyncGenerator<Part> {
  let { maxFacts = Number.POSITIVE_INFINITY } = computing
  for (const start of await startsOf(account, affiliates, computing.isWhole)) {
    const summed = await sumFacts(start, { ...computing, maxFacts })
    maxFacts -= summed.facts
    for (const part of partsOf(start, summed)) {
      const results = settle(start, summed, part).filter(
        ({ period }) => period.kind === account.range.period.kind,
      )
      yield { start, ...summed, results }
    }
  }
}

/**
 * Yields the drafts of affiliates as a run would store them.
 *
 * @param rows Those that are stored of the affiliates; absent: they are read.
 */
export async function* draftsOf(
  account: OpenAccount,
  affiliates: readonly string[],
  computing: Computing = {},
  rows?: readonly StatementDigest[],
): AsyncGenerator<Part & { readonly drafts: readonly StoredDraft[] }> {
  const { db, row, range } = account
  const stored = rows ?? (await readDigests(db, row.id, range.period.id, affiliates))
  /** The digest of the last row of each affiliate and plan. */
  const previous = new Map(
    stored
      .filter(({ status }) => status !== 'draft')
      .sort((a, b) => compareText(a.period, b.period))
      .map(({ affiliate_id, plan, digest }) => [planKey(affiliate_id, plan), digest]),
  )
  for await (const part of resultsOf(account, affiliates, computing)) {
    const results = await explainCorrected(account, part.results, computing)
    const causesOf = await findCauses(part.start, results)
    const drafts: StoredDraft[] = []
    for (const result of results) {
      if (result.closed) continue
      const key = planKey(result.affiliate, result.plan.plan)
      const draft = await toStored(result, previous.get(key) ?? '', causesOf)
      if (draft === null) continue
      previous.set(key, draft.digest)
      drafts.push(draft)
    }
    yield { ...part, results, drafts }
  }
}

/** Collects the drafts of affiliates, and what closed periods leave. */
export async function computeDrafts(...of: Parameters<typeof draftsOf>) {
  const all = { drafts: [] as StoredDraft[], results: [] as PlanResult[] }
  for await (const { drafts, results } of draftsOf(...of)) {
    all.drafts.push(...drafts)
    all.results.push(...results)
  }
  return all
}

/**
 * Computes the affiliates again whose corrected lines convert amounts or qualify: these lines are explained as those of
 * open periods are. To keep so much of all closed periods would fill the memory.
 */
async function explainCorrected(
  account: OpenAccount,
  results: readonly PlanResult[],
  computing: Computing,
): Promise<readonly PlanResult[]> {
  const corrected = results.flatMap(({ affiliate, plan, corrections }) =>
    corrections.flatMap(({ period, now }) =>
      now?.once || now?.fx.some(({ currency }) => currency !== plan.first.currency)
        ? [{ affiliate, period }]
        : [],
    ),
  )
  if (corrected.length === 0) return results
  const affiliates = [...new Set(corrected.map(({ affiliate }) => affiliate))]
  const keys = new Set(corrected.map((one) => correctedKey(one.affiliate, one.period)))
  const { position: _, ...others } = computing
  const again = new Map<string, PlanResult>()
  for await (const part of resultsOf(account, affiliates, { ...others, corrected: keys })) {
    for (const one of part.results) again.set(resultKey(one), one)
  }
  return results.map((one) => again.get(resultKey(one)) ?? one)
}

const resultKey = ({ affiliate, plan, period }: PlanResult): string =>
  JSON.stringify([affiliate, plan.plan, period.id])
